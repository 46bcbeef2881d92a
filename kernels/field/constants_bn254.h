/*
 * Constants of bn254, written by constants.py: do not edit.
 * Field elements are in Montgomery form. Included by fields.h, after its structs.
 */
/* clang-format off */
#ifndef PAWL_KERNELS_FIELD_CONSTANTS_BN254_H
#define PAWL_KERNELS_FIELD_CONSTANTS_BN254_H

#define FR_NEGATIVE_INVERSE 0xc2e1f593efffffffULL /* -p^-1 mod 2^64 */
static const uint64_t fr_modulus[4] =
    {0x43e1f593f0000001ULL, 0x2833e84879b97091ULL, 0xb85045b68181585dULL,
     0x30644e72e131a029ULL};
/* p - 2 */
static const uint64_t fr_inverse_exponent[4] =
    {0x43e1f593efffffffULL, 0x2833e84879b97091ULL, 0xb85045b68181585dULL,
     0x30644e72e131a029ULL};
/* R mod p */
static const struct fr fr_one =
    {{0xac96341c4ffffffbULL, 0x36fc76959f60cd29ULL, 0x666ea36f7879462eULL,
     0x0e0a77c19a07df2fULL}};
/* R^2 mod p */
static const struct fr fr_r_squared =
    {{0x1bb8e645ae216da7ULL, 0x53fe3ab1e35c59e3ULL, 0x8c49833d53bb8085ULL,
     0x0216d0b17f4e44a5ULL}};
/* 1/2 */
static const struct fr fr_two_inverse =
    {{0x783c14d81ffffffeULL, 0xaf982f6f0c8d1eddULL, 0x8f5f7492fcfd4f45ULL,
     0x1f37631a3d9cbfacULL}};
static const uint64_t fr_modulus_52[5] =
    {0x1f593f0000001ULL, 0x4879b9709143eULL, 0x181585d2833e8ULL, 0xa029b85045b68ULL,
     0x030644e72e131ULL};
/* R' - p */
static const uint64_t fr_complement_52[5] =
    {0xe0a6c0fffffffULL, 0xb786468f6ebc1ULL, 0xe7ea7a2d7cc17ULL, 0x5fd647afba497ULL,
     0xfcf9bb18d1eceULL};
static const uint64_t fr_modulus_times_4_52[5] =
    {0x7d64fc0000004ULL, 0x21e6e5c2450f8ULL, 0x6056174a0cfa1ULL, 0x80a6e14116da0ULL,
     0x0c19139cb84c6ULL};
/* what a loaded value is below */
static const uint64_t fr_modulus_times_loaded_52[5] =
    {0xf593f00000010ULL, 0x879b9709143e1ULL, 0x81585d2833e84ULL, 0x029b85045b681ULL,
     0x30644e72e131aULL};
/* R' mod p */
static const uint64_t fr_vector_one_52[5] =
    {0xb6b753fffffacULL, 0x380f271055b9dULL, 0x18f016ecef7c8ULL, 0x724f85a9201d8ULL,
     0x01f16424e1bb7ULL};
/* R'^2 mod p */
static const uint64_t fr_vector_r_squared_52[5] =
    {0x0b852d16da6f5ULL, 0xc621620cddce3ULL, 0xaf1b95343ffb6ULL, 0xc3c15e103e7c2ULL,
     0x00281528fa122ULL};
/* R mod p, plain */
static const uint64_t fr_vector_to_word_52[5] =
    {0x6341c4ffffffbULL, 0x959f60cd29ac9ULL, 0x879462e36fc76ULL, 0xdf2f666ea36f7ULL,
     0x00e0a77c19a07ULL};
/* 2^97 / (p / 2^208), rounded down */
static const uint64_t fr_quotient_52 =
    0xa948e8c4c472bULL;

#define FR_TWO_ADICITY 28
/* 5^((r - 1) / 2^FR_TWO_ADICITY), of order 2^FR_TWO_ADICITY */
static const struct fr fr_root =
    {{0x636e735580d13d9cULL, 0xa22bf3742445ffd6ULL, 0x56452ac01eb203d8ULL,
     0x1860ef942963f9e7ULL}};

#define FQ_NEGATIVE_INVERSE 0x87d20782e4866389ULL /* -p^-1 mod 2^64 */
static const uint64_t fq_modulus[4] =
    {0x3c208c16d87cfd47ULL, 0x97816a916871ca8dULL, 0xb85045b68181585dULL,
     0x30644e72e131a029ULL};
/* p - 2 */
static const uint64_t fq_inverse_exponent[4] =
    {0x3c208c16d87cfd45ULL, 0x97816a916871ca8dULL, 0xb85045b68181585dULL,
     0x30644e72e131a029ULL};
/* R mod p */
static const struct fq fq_one =
    {{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}};
/* R^2 mod p */
static const struct fq fq_r_squared =
    {{0xf32cfc5b538afa89ULL, 0xb5e71911d44501fbULL, 0x47ab1eff0a417ff6ULL,
     0x06d89f71cab8351fULL}};
/* 1/2 */
static const struct fq fq_two_inverse =
    {{0x87bee7d24f060572ULL, 0xd0fd2add2f1c6ae5ULL, 0x8f5f7492fcfd4f44ULL,
     0x1f37631a3d9cbfacULL}};
static const uint64_t fq_modulus_52[5] =
    {0x08c16d87cfd47ULL, 0x916871ca8d3c2ULL, 0x181585d97816aULL, 0xa029b85045b68ULL,
     0x030644e72e131ULL};
/* R' - p */
static const uint64_t fq_complement_52[5] =
    {0xf73e9278302b9ULL, 0x6e978e3572c3dULL, 0xe7ea7a2687e95ULL, 0x5fd647afba497ULL,
     0xfcf9bb18d1eceULL};
static const uint64_t fq_modulus_times_4_52[5] =
    {0x2305b61f3f51cULL, 0x45a1c72a34f08ULL, 0x60561765e05aaULL, 0x80a6e14116da0ULL,
     0x0c19139cb84c6ULL};
/* what a loaded value is below */
static const uint64_t fq_modulus_times_loaded_52[5] =
    {0x8c16d87cfd470ULL, 0x16871ca8d3c20ULL, 0x81585d97816a9ULL, 0x029b85045b681ULL,
     0x30644e72e131aULL};
/* R' mod p */
static const uint64_t fq_vector_one_52[5] =
    {0x20880f6fce4b4ULL, 0x49baa989a8455ULL, 0x18f014a498908ULL, 0x724f85a9201d8ULL,
     0x01f16424e1bb7ULL};
/* R'^2 mod p */
static const uint64_t fq_vector_r_squared_52[5] =
    {0x8a81d1966eb04ULL, 0x6195018016b86ULL, 0xb4f898c98e615ULL, 0x9969bfd531600ULL,
     0x00a8469a30d3aULL};
/* R mod p, plain */
static const uint64_t fq_vector_to_word_52[5] =
    {0xd438dc58f0d9dULL, 0x28f5c70b3dd35ULL, 0x879462c0a78ebULL, 0xdf2f666ea36f7ULL,
     0x00e0a77c19a07ULL};
/* 2^97 / (p / 2^208), rounded down */
static const uint64_t fq_quotient_52 =
    0xa948e8c4c472bULL;

/* y^2 = x^3 + b */
static const struct fq g1_coefficient_b =
    {{0x7a17caa950ad28d7ULL, 0x1f6ac17ae15521b9ULL, 0x334bea4e696bd284ULL,
     0x2a1f6744ce179d8eULL}};
/* of the sextic twist */
static const struct fq2 g2_coefficient_b =
    {{{0x3bf938e377b802a8ULL, 0x020b1b273633535dULL, 0x26b7edf049755260ULL,
     0x2514c6324384a86dULL}},
     {{0x38e7ecccd1dcff67ULL, 0x65f0b37d93ce0d3eULL, 0xd749d0dd22ac00aaULL,
     0x0141b9ce4a688d4dULL}}};
#define G1_GENERATOR_WORDS \
    {0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL, \
     0x0e0a77c19a07df2fULL, 0xa6ba871b8b1e1b3aULL, 0x14f1d651eb8e167bULL, 0xccdd46def0f28c58ULL, \
     0x1c14ef83340fbe5eULL}
#define G2_GENERATOR_WORDS \
    {0x8e83b5d102bc2026ULL, 0xdceb1935497b0172ULL, 0xfbb8264797811adfULL, \
     0x19573841af96503bULL, 0xafb4737da84c6140ULL, 0x6043dd5a5802d8c4ULL, 0x09e950fc52a02f86ULL, \
     0x14fef0833aea7b6bULL, 0x619dfa9d886be9f6ULL, 0xfe7fd297f59e9b78ULL, 0xff9e1a62231b7dfeULL, \
     0x28fd7eebae9e4206ULL, 0x64095b56c71856eeULL, 0xdc57f922327d3cbbULL, 0x55f935be33351076ULL, \
     0x0da4a0e693fd6482ULL}
#define G1_COFACTOR_IS_ONE 1
static const struct fq g1_generator_x =
    {{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}};
static const struct fq g1_generator_y =
    {{0xa6ba871b8b1e1b3aULL, 0x14f1d651eb8e167bULL, 0xccdd46def0f28c58ULL,
     0x1c14ef83340fbe5eULL}};
static const struct fq2 g2_generator_x =
    {{{0x8e83b5d102bc2026ULL, 0xdceb1935497b0172ULL, 0xfbb8264797811adfULL,
     0x19573841af96503bULL}},
     {{0xafb4737da84c6140ULL, 0x6043dd5a5802d8c4ULL, 0x09e950fc52a02f86ULL,
     0x14fef0833aea7b6bULL}}};
static const struct fq2 g2_generator_y =
    {{{0x619dfa9d886be9f6ULL, 0xfe7fd297f59e9b78ULL, 0xff9e1a62231b7dfeULL,
     0x28fd7eebae9e4206ULL}},
     {{0x64095b56c71856eeULL, 0xdc57f922327d3cbbULL, 0x55f935be33351076ULL,
     0x0da4a0e693fd6482ULL}}};

static const struct fq2 fq2_one =
    {{{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}};
#define FQ2_XI_REAL 9 /* xi = FQ2_XI_REAL + u, w^6 = v^3 = xi */
/* [n - 1][k] = xi^(k (q^n - 1) / 6): w^k to the q^n is this times w^k */
static const struct fq2 frobenius_factor[3][6] =
    {{{{{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0xaf9ba69633144907ULL, 0xca6b1d7387afb78aULL, 0x11bded5ef08a2087ULL,
     0x02f34d751a1f3a7cULL}},
     {{0xa222ae234c492d72ULL, 0xd00f02a4565de15bULL, 0xdc2ff3a253dfc926ULL,
     0x10a75716b3899551ULL}}},
     {{{0xb5773b104563ab30ULL, 0x347f91c8a9aa6454ULL, 0x7a007127242e0991ULL,
     0x1956bcd8118214ecULL}},
     {{0x6e849f1ea0aa4757ULL, 0xaa1c7b6d89f89141ULL, 0xb6e713cdfae0ca3aULL,
     0x26694fbb4e82ebc3ULL}}},
     {{{0xe4bbdd0c2936b629ULL, 0xbb30f162e133bacbULL, 0x31a9d1b6f9645366ULL,
     0x253570bea500f8ddULL}},
     {{0xa1d77ce45ffe77c7ULL, 0x07affd117826d1dbULL, 0x6d16bd27bb7edc6bULL,
     0x2c87200285defeccULL}}},
     {{{0x7361d77f843abe92ULL, 0xa5bb2bd3273411fbULL, 0x9c941f314b3e2399ULL,
     0x15df9cddbb9fd3ecULL}},
     {{0x5dddfd154bd8c949ULL, 0x62cb29a5a4445b60ULL, 0x37bc870a0c7dd2b9ULL,
     0x24830a9d3171f0fdULL}}},
     {{{0xc970692f41690fe7ULL, 0xe240342127694b0bULL, 0x32bee66b83c459e8ULL,
     0x12aabced0ab08841ULL}},
     {{0x0d485d2340aebfa9ULL, 0x05193418ab2fcc57ULL, 0xd3b0a40b8a4910f5ULL,
     0x2f21ebb535d2925aULL}}}},
    {{{{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0xca8d800500fa1bf2ULL, 0xf0c5d61468b39769ULL, 0x0e201271ad0d4418ULL,
     0x04290f65bad856e6ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0x3350c88e13e80b9cULL, 0x7dce557cdb5e56b9ULL, 0x6001b4b8b615564aULL,
     0x2682e617020217e0ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0x68c3488912edefaaULL, 0x8d087f6872aabf4fULL, 0x51e1a24709081231ULL,
     0x2259d6b14729c0faULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0x71930c11d782e155ULL, 0xa6bb947cffbe3323ULL, 0xaa303344d4741444ULL,
     0x2c3b3f0d26594943ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0x08cfc388c494f1abULL, 0x19b315148d1373d4ULL, 0x584e90fdcb6c0213ULL,
     0x09e1685bdf2f8849ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}}},
    {{{{0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL,
     0x0e0a77c19a07df2fULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL}}},
     {{{0x365316184e46d97dULL, 0x0af7129ed4c96d9fULL, 0x659da72fca1009b5ULL,
     0x08116d8983a20d23ULL}},
     {{0xb1df4af7c39c1939ULL, 0x3d9f02878a73bf7fULL, 0x9b2220928caf0ae0ULL,
     0x26684515eff054a6ULL}}},
     {{{0xc9af22f716ad6badULL, 0xb311782a4aa662b2ULL, 0x19eeaf64e248c7f4ULL,
     0x20273e77e3439f82ULL}},
     {{0xacc02860f7ce93acULL, 0x3933d5817ba76b4cULL, 0x69e6188b446c8467ULL,
     0x0a46036d4417cc55ULL}}},
     {{{0x5764af0aaf46471eULL, 0xdc50792e873e0fc1ULL, 0x86a673ff881d04f6ULL,
     0x0b2eddb43c30a74cULL}},
     {{0x9a490f32787e8580ULL, 0x8fd16d7ff04af8b1ULL, 0x4b39888ec6027bf2ULL,
     0x03dd2e705b52a15dULL}}},
     {{{0x448a93a57b6762dfULL, 0xbfd62df528fdeadfULL, 0xd858f5d00e9bd47aULL,
     0x06b03d4d3476ec58ULL}},
     {{0x2b19daf4bcc936d1ULL, 0xa1a54e7a56f4299fULL, 0xb533eee05adeaef1ULL,
     0x170c812b84dda0b2ULL}}},
     {{{0xe0bc4b2275cf559fULL, 0xc238b945c154e60fULL, 0x803982a5929a7d5eULL,
     0x15ce052df7e4a37eULL}},
     {{0x2d28efbdbf3799a7ULL, 0x9b097e3c1ad60773ULL, 0x982d4113af4a535bULL,
     0x24e18991e3056063ULL}}}}};

/* w^2 x' = x for a point (x', y') of a twist that divides b by xi; else x' = w^2 x */
#define TWIST_DIVIDES 1
#define PAIRING_X 0x44e992b44a6909f1ULL /* |x|, the curve's seed */
#define PAIRING_X_NEGATIVE 0
/* the Miller loop's count, signed digits from the top, without the leading 1 */
#define MILLER_DIGITS 65
static const int8_t miller_digit[MILLER_DIGITS] =
    {0, -1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, 1, 0, -1, 0, 0, -1, 0, 0, 0,
     0, 0, 1, 0, 0, -1, 0, 1, 0, 0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, -1, 0, -1,
     0, 0, 1, 0, 0, 0, -1, 0, 0, -1, 0, 1, 0, 1, 0, 0, 0};

#endif
/* clang-format on */
