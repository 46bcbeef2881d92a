/*
 * 64-bit arithmetic, logic, shifts and bit fields, as the PTX ISA defines them. Included by
 * ptx_alu_*.c.
 */
BINARY(add64, uint64_t, uint64_t, uint64_t, a[l] + b[l])
BINARY(sub64, uint64_t, uint64_t, uint64_t, a[l] - b[l])
BINARY(mul_lo64, uint64_t, uint64_t, uint64_t, a[l] * b[l])
BINARY(mul_hi_u64, uint64_t, uint64_t, uint64_t, (unsigned __int128)a[l] * b[l] >> 64)
BINARY(mul_hi_s64, uint64_t, int64_t, int64_t, (unsigned __int128)((__int128)a[l] * b[l]) >> 64)
TERNARY(mad_lo64, uint64_t, uint64_t, uint64_t, uint64_t, a[l] * b[l] + c[l])
TERNARY(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t,
        (uint64_t)((unsigned __int128)a[l] * b[l] >> 64) + c[l])
BINARY(div_u64, uint64_t, uint64_t, uint64_t, b[l] ? a[l] / b[l] : UINT64_MAX)
BINARY(rem_u64, uint64_t, uint64_t, uint64_t, b[l] ? a[l] % b[l] : UINT64_MAX)
BINARY(div_s64, uint64_t, int64_t, int64_t, b[l] ? (__int128)a[l] / b[l] : -1)
BINARY(rem_s64, uint64_t, int64_t, int64_t, b[l] ? (__int128)a[l] % b[l] : -1)
BINARY(min_u64, uint64_t, uint64_t, uint64_t, a[l] < b[l] ? a[l] : b[l])
BINARY(max_u64, uint64_t, uint64_t, uint64_t, a[l] > b[l] ? a[l] : b[l])
BINARY(min_s64, uint64_t, int64_t, int64_t, a[l] < b[l] ? a[l] : b[l])
BINARY(max_s64, uint64_t, int64_t, int64_t, a[l] > b[l] ? a[l] : b[l])
UNARY(neg64, uint64_t, uint64_t, -a[l])
UNARY(abs64, uint64_t, uint64_t, a[l] >> 63 ? -a[l] : a[l])

BINARY(and64, uint64_t, uint64_t, uint64_t, a[l] & b[l])
BINARY(or64, uint64_t, uint64_t, uint64_t, a[l] | b[l])
BINARY(xor64, uint64_t, uint64_t, uint64_t, a[l] ^ b[l])
UNARY(not64, uint64_t, uint64_t, ~a[l])
BINARY(shl64, uint64_t, uint64_t, uint32_t, b[l] > 63 ? 0 : a[l] << (b[l] & 63))
BINARY(shr_u64, uint64_t, uint64_t, uint32_t, b[l] > 63 ? 0 : a[l] >> (b[l] & 63))
BINARY(shr_s64, uint64_t, int64_t, uint32_t, a[l] >> (b[l] > 63 ? 63 : b[l]))

UNARY(popc64, uint32_t, uint64_t, __builtin_popcountll(a[l]))
UNARY(clz64, uint32_t, uint64_t, a[l] ? __builtin_clzll(a[l]) : 64)
UNARY(bfind_u64, uint32_t, uint64_t, a[l] ? 63 - __builtin_clzll(a[l]) : -1)
UNARY(bfind_shift_u64, uint32_t, uint64_t, a[l] ? __builtin_clzll(a[l]) : -1)
UNARY(brev64, uint64_t, uint64_t,
      (uint64_t)reverse32((uint32_t)a[l]) << 32 | reverse32((uint32_t)(a[l] >> 32)))
TERNARY(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract_bits(a[l], b[l], c[l], 64, false))
TERNARY(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, extract_bits(a[l], b[l], c[l], 64, true))
OPERATION(bfi64)
{
    uint64_t *d = OPERAND(uint64_t, 0);
    const uint64_t *a = OPERAND(uint64_t, 1), *b = OPERAND(uint64_t, 2);
    const uint32_t *c = OPERAND(uint32_t, 3), *e = OPERAND(uint32_t, 4);
    EACH_LANE(d[l] = insert_bits(a[l], b[l], c[l], e[l], 64));
}
UNARY(mov64, uint64_t, uint64_t, a[l])

/* two halves and the whole */
BINARY(pack64, uint64_t, uint32_t, uint32_t, (uint64_t)b[l] << 32 | a[l])
OPERATION(unpack64)
{
    uint32_t *low = OPERAND(uint32_t, 0), *high = OPERAND(uint32_t, 1);
    const uint64_t *whole = OPERAND(uint64_t, 2);
    EACH_LANE(low[l] = (uint32_t)whole[l]; high[l] = (uint32_t)(whole[l] >> 32));
}
BINARY(pack32, uint32_t, uint32_t, uint32_t, (uint32_t)U16(b[l]) << 16 | U16(a[l]))
OPERATION(unpack32)
{
    uint32_t *low = OPERAND(uint32_t, 0), *high = OPERAND(uint32_t, 1);
    const uint32_t *whole = OPERAND(uint32_t, 2);
    EACH_LANE(const uint32_t value = whole[l]; low[l] = U16(value); high[l] = value >> 16);
}
