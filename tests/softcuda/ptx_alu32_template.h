/*
 * 32- and 16-bit arithmetic, logic, shifts and bit fields, as the PTX ISA defines them (sections
 * "Integer Arithmetic Instructions" and "Logic and Shift Instructions"). Division by zero gives all
 * ones, as GPUs do. Included by ptx_alu_*.c.
 */
BINARY(add32, uint32_t, uint32_t, uint32_t, a[l] + b[l])
BINARY(sub32, uint32_t, uint32_t, uint32_t, a[l] - b[l])
BINARY(mul_lo32, uint32_t, uint32_t, uint32_t, a[l] * b[l])
BINARY(mul_hi_u32, uint32_t, uint32_t, uint32_t, (uint64_t)a[l] * b[l] >> 32)
BINARY(mul_hi_s32, uint32_t, int32_t, int32_t, (uint64_t)((int64_t)a[l] * b[l]) >> 32)
TERNARY(mad_lo32, uint32_t, uint32_t, uint32_t, uint32_t, a[l] * b[l] + c[l])
TERNARY(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t,
        (uint32_t)((uint64_t)a[l] * b[l] >> 32) + c[l])
TERNARY(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t,
        (uint32_t)((uint64_t)((int64_t)a[l] * b[l]) >> 32) + c[l])
BINARY(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)a[l] * b[l])
BINARY(mul_wide_s32, uint64_t, int32_t, int32_t, (int64_t)a[l] * b[l])
TERNARY(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)a[l] * b[l] + c[l])
TERNARY(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a[l] * b[l]) + c[l])
BINARY(div_u32, uint32_t, uint32_t, uint32_t, b[l] ? a[l] / b[l] : UINT32_MAX)
BINARY(rem_u32, uint32_t, uint32_t, uint32_t, b[l] ? a[l] % b[l] : UINT32_MAX)
BINARY(div_s32, uint32_t, int32_t, int32_t, b[l] ? (int64_t)a[l] / b[l] : -1)
BINARY(rem_s32, uint32_t, int32_t, int32_t, b[l] ? (int64_t)a[l] % b[l] : -1)
BINARY(min_u32, uint32_t, uint32_t, uint32_t, a[l] < b[l] ? a[l] : b[l])
BINARY(max_u32, uint32_t, uint32_t, uint32_t, a[l] > b[l] ? a[l] : b[l])
BINARY(min_s32, uint32_t, int32_t, int32_t, a[l] < b[l] ? a[l] : b[l])
BINARY(max_s32, uint32_t, int32_t, int32_t, a[l] > b[l] ? a[l] : b[l])
UNARY(neg32, uint32_t, uint32_t, -a[l])
UNARY(abs32, uint32_t, uint32_t, a[l] >> 31 ? -a[l] : a[l])

BINARY(and32, uint32_t, uint32_t, uint32_t, a[l] & b[l])
BINARY(or32, uint32_t, uint32_t, uint32_t, a[l] | b[l])
BINARY(xor32, uint32_t, uint32_t, uint32_t, a[l] ^ b[l])
UNARY(not32, uint32_t, uint32_t, ~a[l])
UNARY(cnot32, uint32_t, uint32_t, a[l] == 0)
BINARY(shl32, uint32_t, uint32_t, uint32_t, b[l] > 31 ? 0 : a[l] << (b[l] & 31))
BINARY(shr_u32, uint32_t, uint32_t, uint32_t, b[l] > 31 ? 0 : a[l] >> (b[l] & 31))
BINARY(shr_s32, uint32_t, int32_t, uint32_t, a[l] >> (b[l] > 31 ? 31 : b[l]))

static inline uint32_t funnel(uint32_t low, uint32_t high, uint32_t left)
{
    return (uint32_t)(((uint64_t)high << 32 | low) << left >> 32);
}
#define CLAMP32(n) ((n) > 32 ? 32 : (n))
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a[l], b[l], c[l] & 31))
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a[l], b[l], CLAMP32(c[l])))
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t,
        ((uint64_t)b[l] << 32 | a[l]) >> (c[l] & 31))
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
        ((uint64_t)b[l] << 32 | a[l]) >> CLAMP32(c[l]))

UNARY(popc32, uint32_t, uint32_t, __builtin_popcount(a[l]))
UNARY(clz32, uint32_t, uint32_t, a[l] ? __builtin_clz(a[l]) : 32)
UNARY(bfind_u32, uint32_t, uint32_t, a[l] ? 31 - __builtin_clz(a[l]) : -1)
UNARY(bfind_s32, uint32_t, uint32_t,
      (a[l] ^ (a[l] >> 31 ? UINT32_MAX : 0)) != 0
          ? 31 - __builtin_clz(a[l] ^ (a[l] >> 31 ? UINT32_MAX : 0))
          : -1)
UNARY(bfind_shift_u32, uint32_t, uint32_t, a[l] ? __builtin_clz(a[l]) : -1)

static inline uint32_t reverse32(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}
UNARY(brev32, uint32_t, uint32_t, reverse32(a[l]))

static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t select = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (select & 7))) & 0xff;
        if (select & 8)
            byte = byte >> 7 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}
TERNARY(prmt, uint32_t, uint32_t, uint32_t, uint32_t, permute_bytes(a[l], b[l], c[l]))

/* bits [at, at + count) of a, sign-extended where signed: the ISA's formula */
static inline uint64_t extract_bits(uint64_t a, uint32_t at, uint32_t count, unsigned width,
                                    bool is_signed)
{
    at &= 0xff;
    count &= 0xff;
    const uint64_t all = width == 64 ? UINT64_MAX : UINT32_MAX;
    uint64_t sign = 0;
    if (is_signed && count > 0) {
        const unsigned top = at + count - 1 < width - 1 ? at + count - 1 : width - 1;
        sign = a >> top & 1;
    }
    uint64_t field = at < width ? (a & all) >> at : 0;
    if (at < width && count < width)
        field &= (UINT64_C(1) << count) - 1;
    const unsigned have = at >= width ? 0 : count < width - at ? count : width - at;
    if (sign != 0 && have < 64)
        field |= all & ~((UINT64_C(1) << have) - 1);
    return field & all;
}
TERNARY(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract_bits(a[l], b[l], c[l], 32, false))
TERNARY(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, extract_bits(a[l], b[l], c[l], 32, true))

static inline uint64_t insert_bits(uint64_t field, uint64_t into, uint32_t at, uint32_t count,
                                   unsigned width)
{
    at &= 0xff;
    count &= 0xff;
    if (at >= width)
        return into;
    const uint64_t ones = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return (into & ~(ones << at)) | (field & ones) << at;
}
OPERATION(bfi32)
{
    uint32_t *d = OPERAND(uint32_t, 0);
    const uint32_t *a = OPERAND(uint32_t, 1), *b = OPERAND(uint32_t, 2);
    const uint32_t *c = OPERAND(uint32_t, 3), *e = OPERAND(uint32_t, 4);
    EACH_LANE(d[l] = (uint32_t)insert_bits(a[l], b[l], c[l], e[l], 32));
}

/* any function of three bits, by its truth table */
static inline uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++) {
        const uint32_t is = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        result |= table >> i & 1 ? is : 0;
    }
    return result;
}
OPERATION(lop3)
{
    uint32_t *d = OPERAND(uint32_t, 0);
    const uint32_t *a = OPERAND(uint32_t, 1), *b = OPERAND(uint32_t, 2);
    const uint32_t *c = OPERAND(uint32_t, 3), *table = OPERAND(uint32_t, 4);
    EACH_LANE(d[l] = lookup3(a[l], b[l], c[l], table[l]));
}

/* 16 bits, in the low half; what is above is not looked at and written as zero */
#define U16(v) ((uint16_t)(v))
#define S16(v) ((int16_t)(v))
BINARY(add16, uint32_t, uint32_t, uint32_t, U16(a[l] + b[l]))
BINARY(sub16, uint32_t, uint32_t, uint32_t, U16(a[l] - b[l]))
BINARY(mul_lo16, uint32_t, uint32_t, uint32_t, U16(a[l] * b[l]))
TERNARY(mad_lo16, uint32_t, uint32_t, uint32_t, uint32_t, U16(a[l] * b[l] + c[l]))
BINARY(mul_wide_u16, uint32_t, uint32_t, uint32_t, (uint32_t)U16(a[l]) * U16(b[l]))
BINARY(mul_wide_s16, uint32_t, uint32_t, uint32_t, (int32_t)S16(a[l]) * S16(b[l]))
BINARY(min_u16, uint32_t, uint32_t, uint32_t, U16(a[l]) < U16(b[l]) ? U16(a[l]) : U16(b[l]))
BINARY(max_u16, uint32_t, uint32_t, uint32_t, U16(a[l]) > U16(b[l]) ? U16(a[l]) : U16(b[l]))
BINARY(min_s16, uint32_t, uint32_t, uint32_t, S16(a[l]) < S16(b[l]) ? U16(a[l]) : U16(b[l]))
BINARY(max_s16, uint32_t, uint32_t, uint32_t, S16(a[l]) > S16(b[l]) ? U16(a[l]) : U16(b[l]))
UNARY(neg16, uint32_t, uint32_t, U16(-a[l]))
BINARY(and16, uint32_t, uint32_t, uint32_t, U16(a[l] & b[l]))
BINARY(or16, uint32_t, uint32_t, uint32_t, U16(a[l] | b[l]))
BINARY(xor16, uint32_t, uint32_t, uint32_t, U16(a[l] ^ b[l]))
UNARY(not16, uint32_t, uint32_t, U16(~a[l]))
BINARY(shl16, uint32_t, uint32_t, uint32_t, U16(b[l] > 15 ? 0 : a[l] << b[l]))
BINARY(shr_u16, uint32_t, uint32_t, uint32_t, b[l] > 15 ? 0 : U16(a[l]) >> b[l])
BINARY(shr_s16, uint32_t, uint32_t, uint32_t, U16(S16(a[l]) >> (b[l] > 15 ? 15 : b[l])))
UNARY(mov16, uint32_t, uint32_t, U16(a[l]))
UNARY(mov32, uint32_t, uint32_t, a[l])
