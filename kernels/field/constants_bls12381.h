/*
 * Constants of bls12381, written by constants.py: do not edit.
 * Field elements are in Montgomery form. Included by fields.h, after its structs.
 */
/* clang-format off */
#ifndef PAWL_KERNELS_FIELD_CONSTANTS_BLS12381_H
#define PAWL_KERNELS_FIELD_CONSTANTS_BLS12381_H

#define FR_NEGATIVE_INVERSE 0xfffffffeffffffffULL /* -p^-1 mod 2^64 */
static const uint64_t fr_modulus[4] =
    {0xffffffff00000001ULL, 0x53bda402fffe5bfeULL, 0x3339d80809a1d805ULL,
     0x73eda753299d7d48ULL};
/* p - 2 */
static const uint64_t fr_inverse_exponent[4] =
    {0xfffffffeffffffffULL, 0x53bda402fffe5bfeULL, 0x3339d80809a1d805ULL,
     0x73eda753299d7d48ULL};
/* R mod p */
static const struct fr fr_one =
    {{0x00000001fffffffeULL, 0x5884b7fa00034802ULL, 0x998c4fefecbc4ff5ULL,
     0x1824b159acc5056fULL}};
/* R^2 mod p */
static const struct fr fr_r_squared =
    {{0xc999e990f3f29c6dULL, 0x2b6cedcb87925c23ULL, 0x05d314967254398fULL,
     0x0748d9d99f59ff11ULL}};
/* 1/2 */
static const struct fr fr_two_inverse =
    {{0x00000000ffffffffULL, 0xac425bfd0001a401ULL, 0xccc627f7f65e27faULL,
     0x0c1258acd66282b7ULL}};
static const uint64_t fr_modulus_52[5] =
    {0xfffff00000001ULL, 0x02fffe5bfefffULL, 0x9a1d80553bda4ULL, 0x7d483339d8080ULL,
     0x073eda753299dULL};
/* R' - p */
static const uint64_t fr_complement_52[5] =
    {0x00000ffffffffULL, 0xfd0001a401000ULL, 0x65e27faac425bULL, 0x82b7ccc627f7fULL,
     0xf8c1258acd662ULL};
static const uint64_t fr_modulus_times_4_52[5] =
    {0xffffc00000004ULL, 0x0bfff96ffbfffULL, 0x68760154ef690ULL, 0xf520cce760202ULL,
     0x1cfb69d4ca675ULL};
/* what a loaded value is below */
static const uint64_t fr_modulus_times_loaded_52[5] =
    {0xffff000000010ULL, 0x2fffe5bfeffffULL, 0xa1d80553bda40ULL, 0xd483339d80809ULL,
     0x73eda753299d7ULL};
/* R' mod p */
static const uint64_t fr_vector_one_52[5] =
    {0x00022ffffffddULL, 0x9700396c23000ULL, 0xedf77458d1293ULL, 0xdf20ff1776e6aULL,
     0x026821fa14f77ULL};
/* R'^2 mod p */
static const uint64_t fr_vector_r_squared_52[5] =
    {0x99103f29c6cf0ULL, 0x57927663d999eULL, 0xa1c0ed631138bULL, 0x3c829f7715f1bULL,
     0x009ff646cc027ULL};
/* R mod p, plain */
static const uint64_t fr_vector_to_word_52[5] =
    {0x00001fffffffeULL, 0xfa00034802000ULL, 0xcbc4ff55884b7ULL, 0x056f998c4fefeULL,
     0x01824b159acc5ULL};
/* 2^97 / (p / 2^208), rounded down */
static const uint64_t fr_quotient_52 =
    0x46aa129dbfdb7ULL;

#define FR_TWO_ADICITY 32
/* 5^((r - 1) / 2^FR_TWO_ADICITY), of order 2^FR_TWO_ADICITY */
static const struct fr fr_root =
    {{0x9cab6d5c0c17f47cULL, 0x1ce1e93dfd4b71e5ULL, 0x0d6db230471dd505ULL,
     0x3f0ee990743a3b6aULL}};

#define FQ_NEGATIVE_INVERSE 0x89f3fffcfffcfffdULL /* -p^-1 mod 2^64 */
static const uint64_t fq_modulus[6] =
    {0xb9feffffffffaaabULL, 0x1eabfffeb153ffffULL, 0x6730d2a0f6b0f624ULL,
     0x64774b84f38512bfULL, 0x4b1ba7b6434bacd7ULL, 0x1a0111ea397fe69aULL};
/* p - 2 */
static const uint64_t fq_inverse_exponent[6] =
    {0xb9feffffffffaaa9ULL, 0x1eabfffeb153ffffULL, 0x6730d2a0f6b0f624ULL,
     0x64774b84f38512bfULL, 0x4b1ba7b6434bacd7ULL, 0x1a0111ea397fe69aULL};
/* R mod p */
static const struct fq fq_one =
    {{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}};
/* R^2 mod p */
static const struct fq fq_r_squared =
    {{0xf4df1f341c341746ULL, 0x0a76e6a609d104f1ULL, 0x8de5476c4c95b6d5ULL,
     0x67eb88a9939d83c0ULL, 0x9a793e85b519952dULL, 0x11988fe592cae3aaULL}};
/* 1/2 */
static const struct fq fq_two_inverse =
    {{0x1804000000015554ULL, 0x855000053ab00001ULL, 0x633cb57c253c276fULL,
     0x6e22d1ec31ebb502ULL, 0xd3916126f2d14ca2ULL, 0x17fbb8571a006596ULL}};
static const uint64_t fq_modulus_52[8] =
    {0xeffffffffaaabULL, 0xfeb153ffffb9fULL, 0x6b0f6241eabffULL, 0x12bf6730d2a0fULL,
     0x764774b84f385ULL, 0x1ba7b6434bacdULL, 0x1ea397fe69a4bULL, 0x000000001a011ULL};
/* R' - p */
static const uint64_t fq_complement_52[8] =
    {0x1000000005555ULL, 0x014eac0000460ULL, 0x94f09dbe15400ULL, 0xed4098cf2d5f0ULL,
     0x89b88b47b0c7aULL, 0xe45849bcb4532ULL, 0xe15c6801965b4ULL, 0xffffffffe5feeULL};
static const uint64_t fq_modulus_times_4_52[8] =
    {0xbfffffffeaaacULL, 0xfac54ffffee7fULL, 0xac3d8907aafffULL, 0x4afd9cc34a83dULL,
     0xd91dd2e13ce14ULL, 0x6e9ed90d2eb35ULL, 0x7a8e5ff9a692cULL, 0x0000000068044ULL};
/* what a loaded value is below */
static const uint64_t fq_modulus_times_loaded_52[8] =
    {0xfaaab00000000ULL, 0xffb9fefffffffULL, 0xeabfffeb153ffULL, 0xd2a0f6b0f6241ULL,
     0x4f38512bf6730ULL, 0x4bacd764774b8ULL, 0x69a4b1ba7b643ULL, 0x1a0111ea397feULL};
/* R' mod p */
static const uint64_t fq_vector_one_52[8] =
    {0x6480ea8e9b9afULL, 0x65766c8fe444fULL, 0x8b540fea96f7dULL, 0x3b2ee82efd422ULL,
     0xa6723e5f0ade5ULL, 0xff6eb6fdd4230ULL, 0xe06ef23c24a25ULL, 0x0000000014c8eULL};
/* R'^2 mod p */
static const uint64_t fq_vector_r_squared_52[8] =
    {0xa5bf4cb89af51ULL, 0x3afbba7ca31a2ULL, 0x2646160ec71f1ULL, 0xa84d710465903ULL,
     0x3480a4a188311ULL, 0x98e5907ad91f5ULL, 0x2075d74507266ULL, 0x0000000008746ULL};
/* R mod p, plain */
static const uint64_t fq_vector_to_word_52[8] =
    {0x900000002fffdULL, 0x0bc40c0002760ULL, 0x3c758baebf400ULL, 0x57455f4898575ULL,
     0xd77ce58537052ULL, 0x071a97a256ec6ULL, 0xec3fa80e4935cULL, 0x0000000015f65ULL};
/* 2^312 / p, less up to 2^-46 of it */
static const double fq_quotient_52 =
    0x9d835d2f3cc8p-116;

/* y^2 = x^3 + b */
static const struct fq g1_coefficient_b =
    {{0xaa270000000cfff3ULL, 0x53cc0032fc34000aULL, 0x478fe97a6b0a807fULL,
     0xb1d37ebee6ba24d7ULL, 0x8ec9733bbf78ab2fULL, 0x09d645513d83de7eULL}};
/* of the sextic twist */
static const struct fq2 g2_coefficient_b =
    {{{0xaa270000000cfff3ULL, 0x53cc0032fc34000aULL, 0x478fe97a6b0a807fULL,
     0xb1d37ebee6ba24d7ULL, 0x8ec9733bbf78ab2fULL, 0x09d645513d83de7eULL}},
     {{0xaa270000000cfff3ULL, 0x53cc0032fc34000aULL, 0x478fe97a6b0a807fULL,
     0xb1d37ebee6ba24d7ULL, 0x8ec9733bbf78ab2fULL, 0x09d645513d83de7eULL}}};
#define G1_GENERATOR_WORDS \
    {0x5cb38790fd530c16ULL, 0x7817fc679976fff5ULL, 0x154f95c7143ba1c1ULL, \
     0xf0ae6acdf3d0e747ULL, 0xedce6ecc21dbf440ULL, 0x120177419e0bfb75ULL, 0xbaac93d50ce72271ULL, 0x8c22631a7918fd8eULL, 0xdd595f13570725ceULL, \
     0x51ac582950405194ULL, 0x0e1c8c3fad0059c0ULL, 0x0bbc3efc5008a26aULL}
#define G2_GENERATOR_WORDS \
    {0xf5f28fa202940a10ULL, 0xb3f5fb2687b4961aULL, 0xa1a893b53e2ae580ULL, \
     0x9894999d1a3caee9ULL, 0x6f67b7631863366bULL, 0x058191924350bcd7ULL, 0xa5a9c0759e23f606ULL, 0xaaa0c59dbccd60c3ULL, 0x3bb17e18e2867806ULL, \
     0x1b1ab6cc8541b367ULL, 0xc2b6ed0ef2158547ULL, 0x11922a097360edf3ULL, 0x4c730af860494c4aULL, 0x597cfa1f5e369c5aULL, 0xe7e6856caa0a635aULL, \
     0xbbefb5e96e0d495fULL, 0x07d3a975f0ef25a2ULL, 0x0083fd8e7e80dae5ULL, 0xadc0fc92df64b05dULL, 0x18aa270a2b1461dcULL, 0x86adac6a3be4eba0ULL, \
     0x79495c4ec93da33aULL, 0xe7175850a43ccaedULL, 0x0b2bc2a163de1bf2ULL}
#define G1_COFACTOR_IS_ONE 0
static const struct fq g1_generator_x =
    {{0x5cb38790fd530c16ULL, 0x7817fc679976fff5ULL, 0x154f95c7143ba1c1ULL,
     0xf0ae6acdf3d0e747ULL, 0xedce6ecc21dbf440ULL, 0x120177419e0bfb75ULL}};
static const struct fq g1_generator_y =
    {{0xbaac93d50ce72271ULL, 0x8c22631a7918fd8eULL, 0xdd595f13570725ceULL,
     0x51ac582950405194ULL, 0x0e1c8c3fad0059c0ULL, 0x0bbc3efc5008a26aULL}};
static const struct fq2 g2_generator_x =
    {{{0xf5f28fa202940a10ULL, 0xb3f5fb2687b4961aULL, 0xa1a893b53e2ae580ULL,
     0x9894999d1a3caee9ULL, 0x6f67b7631863366bULL, 0x058191924350bcd7ULL}},
     {{0xa5a9c0759e23f606ULL, 0xaaa0c59dbccd60c3ULL, 0x3bb17e18e2867806ULL,
     0x1b1ab6cc8541b367ULL, 0xc2b6ed0ef2158547ULL, 0x11922a097360edf3ULL}}};
static const struct fq2 g2_generator_y =
    {{{0x4c730af860494c4aULL, 0x597cfa1f5e369c5aULL, 0xe7e6856caa0a635aULL,
     0xbbefb5e96e0d495fULL, 0x07d3a975f0ef25a2ULL, 0x0083fd8e7e80dae5ULL}},
     {{0xadc0fc92df64b05dULL, 0x18aa270a2b1461dcULL, 0x86adac6a3be4eba0ULL,
     0x79495c4ec93da33aULL, 0xe7175850a43ccaedULL, 0x0b2bc2a163de1bf2ULL}}};

static const struct fq2 fq2_one =
    {{{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}};
#define FQ2_XI_REAL 1 /* xi = FQ2_XI_REAL + u, w^6 = v^3 = xi */
/* [n - 1][k] = xi^(k (q^n - 1) / 6): w^k to the q^n is this times w^k */
static const struct fq2 frobenius_factor[3][6] =
    {{{{{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x07089552b319d465ULL, 0xc6695f92b50a8313ULL, 0x97e83cccd117228fULL,
     0xa35baecab2dc29eeULL, 0x1ce393ea5daace4dULL, 0x08f2220fb0fb66ebULL}},
     {{0xb2f66aad4ce5d646ULL, 0x5842a06bfc497cecULL, 0xcf4895d42599d394ULL,
     0xc11b9cba40a8e8d0ULL, 0x2e3813cbe5a0de89ULL, 0x110eefda88847fafULL}}},
     {{{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}},
     {{0xcd03c9e48671f071ULL, 0x5dab22461fcda5d2ULL, 0x587042afd3851b95ULL,
     0x8eb60ebe01bacb9eULL, 0x03f97d6e83d050d2ULL, 0x18f0206554638741ULL}}},
     {{{0x7bcfa7a25aa30fdaULL, 0xdc17dec12a927e7cULL, 0x2f088dd86b4ebef1ULL,
     0xd1ca2087da74d4a7ULL, 0x2da2596696cebc1dULL, 0x0e2b7eedbbfd87d2ULL}},
     {{0x7bcfa7a25aa30fdaULL, 0xdc17dec12a927e7cULL, 0x2f088dd86b4ebef1ULL,
     0xd1ca2087da74d4a7ULL, 0x2da2596696cebc1dULL, 0x0e2b7eedbbfd87d2ULL}}},
     {{{0x890dc9e4867545c3ULL, 0x2af322533285a5d5ULL, 0x50880866309b7e2cULL,
     0xa20d1b8c7e881024ULL, 0x14e4f04fe2db9068ULL, 0x14e56d3f1564853aULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x82d83cf50dbce43fULL, 0xa2813e53df9d018fULL, 0xc6f0caa53c65e181ULL,
     0x7525cf528d50fe95ULL, 0x4a85ed50f4798a6bULL, 0x171da0fd6cf8eebdULL}},
     {{0x3726c30af242c66cULL, 0x7c2ac1aad1b6fe70ULL, 0xa04007fbba4b14a2ULL,
     0xef517c3266341429ULL, 0x0095ba654ed2226bULL, 0x02e370eccc86f7ddULL}}}},
    {{{{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0xecfb361b798dba3aULL, 0xc100ddb891865a2cULL, 0x0ec08ff1232bda8eULL,
     0xd5c13cc6f1ca4721ULL, 0x47222a47bf7b5c04ULL, 0x0110f184e51c5f59ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x30f1361b798a64e8ULL, 0xf3b8ddab7ece5a2aULL, 0x16a8ca3ac61577f7ULL,
     0xc26a2ff874fd029bULL, 0x3636b76660701c6eULL, 0x051ba4ab241b6160ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x43f5fffffffcaaaeULL, 0x32b7fff2ed47fffdULL, 0x07e83a49a2e99d69ULL,
     0xeca8f3318332bb7aULL, 0xef148d1ea0f4c069ULL, 0x040ab3263eff0206ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0xcd03c9e48671f071ULL, 0x5dab22461fcda5d2ULL, 0x587042afd3851b95ULL,
     0x8eb60ebe01bacb9eULL, 0x03f97d6e83d050d2ULL, 0x18f0206554638741ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x890dc9e4867545c3ULL, 0x2af322533285a5d5ULL, 0x50880866309b7e2cULL,
     0xa20d1b8c7e881024ULL, 0x14e4f04fe2db9068ULL, 0x14e56d3f1564853aULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}}},
    {{{{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x3e2f585da55c9ad1ULL, 0x4294213d86c18183ULL, 0x382844c88b623732ULL,
     0x92ad2afd19103e18ULL, 0x1d794e4fac7cf0b9ULL, 0x0bd592fc7d825ec8ULL}},
     {{0x7bcfa7a25aa30fdaULL, 0xdc17dec12a927e7cULL, 0x2f088dd86b4ebef1ULL,
     0xd1ca2087da74d4a7ULL, 0x2da2596696cebc1dULL, 0x0e2b7eedbbfd87d2ULL}}},
     {{{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}},
     {{0x760900000002fffdULL, 0xebf4000bc40c0002ULL, 0x5f48985753c758baULL,
     0x77ce585370525745ULL, 0x5c071a97a256ec6dULL, 0x15f65ec3fa80e493ULL}}},
     {{{0x3e2f585da55c9ad1ULL, 0x4294213d86c18183ULL, 0x382844c88b623732ULL,
     0x92ad2afd19103e18ULL, 0x1d794e4fac7cf0b9ULL, 0x0bd592fc7d825ec8ULL}},
     {{0x3e2f585da55c9ad1ULL, 0x4294213d86c18183ULL, 0x382844c88b623732ULL,
     0x92ad2afd19103e18ULL, 0x1d794e4fac7cf0b9ULL, 0x0bd592fc7d825ec8ULL}}},
     {{{0x43f5fffffffcaaaeULL, 0x32b7fff2ed47fffdULL, 0x07e83a49a2e99d69ULL,
     0xeca8f3318332bb7aULL, 0xef148d1ea0f4c069ULL, 0x040ab3263eff0206ULL}},
     {{0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
     0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL}}},
     {{{0x7bcfa7a25aa30fdaULL, 0xdc17dec12a927e7cULL, 0x2f088dd86b4ebef1ULL,
     0xd1ca2087da74d4a7ULL, 0x2da2596696cebc1dULL, 0x0e2b7eedbbfd87d2ULL}},
     {{0x3e2f585da55c9ad1ULL, 0x4294213d86c18183ULL, 0x382844c88b623732ULL,
     0x92ad2afd19103e18ULL, 0x1d794e4fac7cf0b9ULL, 0x0bd592fc7d825ec8ULL}}}}};

/* w^2 x' = x for a point (x', y') of a twist that divides b by xi; else x' = w^2 x */
#define TWIST_DIVIDES 0
#define PAIRING_X 0xd201000000010000ULL /* |x|, the curve's seed */
#define PAIRING_X_NEGATIVE 1
/* the Miller loop's count, signed digits from the top, without the leading 1 */
#define MILLER_DIGITS 64
static const int8_t miller_digit[MILLER_DIGITS] =
    {0, -1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

#endif
/* clang-format on */
