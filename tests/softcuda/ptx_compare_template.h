/*
 * Comparisons, predicates, selection, conversions. A predicate is one word with a bit for each
 * lane, so its logic is a word's. Included by ptx_alu_*.c.
 */
#define SETP(name, T, A, compare)                                                                  \
    OPERATION(name)                                                                                \
    {                                                                                              \
        uint32_t *d = OPERAND(uint32_t, 0);                                                        \
        const A *a = OPERAND(A, 1), *b = OPERAND(A, 2);                                            \
        uint32_t bits = 0;                                                                         \
        for (unsigned l = 0; l < PTX_LANES; l++)                                                   \
            bits |= (T)a[l] compare(T) b[l] ? UINT32_C(1) << l : 0;                                \
        *d = (*d & ~warp->active) | (bits & warp->active);                                         \
    }
SETP(setp_eq_16, uint16_t, uint32_t, ==)
SETP(setp_ne_16, uint16_t, uint32_t, !=)
SETP(setp_lt_u16, uint16_t, uint32_t, <)
SETP(setp_le_u16, uint16_t, uint32_t, <=)
SETP(setp_gt_u16, uint16_t, uint32_t, >)
SETP(setp_ge_u16, uint16_t, uint32_t, >=)
SETP(setp_lt_s16, int16_t, uint32_t, <)
SETP(setp_le_s16, int16_t, uint32_t, <=)
SETP(setp_gt_s16, int16_t, uint32_t, >)
SETP(setp_ge_s16, int16_t, uint32_t, >=)
SETP(setp_eq_32, uint32_t, uint32_t, ==)
SETP(setp_ne_32, uint32_t, uint32_t, !=)
SETP(setp_lt_u32, uint32_t, uint32_t, <)
SETP(setp_le_u32, uint32_t, uint32_t, <=)
SETP(setp_gt_u32, uint32_t, uint32_t, >)
SETP(setp_ge_u32, uint32_t, uint32_t, >=)
SETP(setp_lt_s32, int32_t, uint32_t, <)
SETP(setp_le_s32, int32_t, uint32_t, <=)
SETP(setp_gt_s32, int32_t, uint32_t, >)
SETP(setp_ge_s32, int32_t, uint32_t, >=)
SETP(setp_eq_64, uint64_t, uint64_t, ==)
SETP(setp_ne_64, uint64_t, uint64_t, !=)
SETP(setp_lt_u64, uint64_t, uint64_t, <)
SETP(setp_le_u64, uint64_t, uint64_t, <=)
SETP(setp_gt_u64, uint64_t, uint64_t, >)
SETP(setp_ge_u64, uint64_t, uint64_t, >=)
SETP(setp_lt_s64, int64_t, uint64_t, <)
SETP(setp_le_s64, int64_t, uint64_t, <=)
SETP(setp_gt_s64, int64_t, uint64_t, >)
SETP(setp_ge_s64, int64_t, uint64_t, >=)

#define PREDICATE(name, ...)                                                                       \
    OPERATION(name)                                                                                \
    {                                                                                              \
        uint32_t *d = OPERAND(uint32_t, 0);                                                        \
        const uint32_t a = *OPERAND(uint32_t, 1);                                                  \
        const uint32_t b = *OPERAND(uint32_t, code->operands - 1);                                 \
        *d = (*d & ~warp->active) | ((__VA_ARGS__)&warp->active);                                  \
    }
PREDICATE(and_pred, a &b)
PREDICATE(or_pred, a | b)
PREDICATE(xor_pred, a ^ b)
PREDICATE(not_pred, ~(a &b)) /* of one source, which is both */
PREDICATE(mov_pred, a &b)

#define SELP(name, T, ...)                                                                         \
    OPERATION(name)                                                                                \
    {                                                                                              \
        T *d = OPERAND(T, 0);                                                                      \
        const T *a = OPERAND(T, 1), *b = OPERAND(T, 2);                                            \
        const uint32_t p = *OPERAND(uint32_t, 3);                                                  \
        EACH_LANE(d[l] = p >> l & 1 ? a[l] : b[l]);                                                \
    }
SELP(selp32, uint32_t)
SELP(selp64, uint64_t)

/* cvt.TO.FROM: the value as a FROM, cut or extended to a TO, and that to its register */
#define CONVERT_FROM(name, FROM, A)                                                                \
    UNARY(cvt_u8_##name, uint32_t, A, (uint8_t)(FROM)a[l])                                         \
    UNARY(cvt_s8_##name, uint32_t, A, (uint16_t)(int8_t)(FROM)a[l])                                \
    UNARY(cvt_16_##name, uint32_t, A, (uint16_t)(FROM)a[l])                                        \
    UNARY(cvt_32_##name, uint32_t, A, (uint32_t)(FROM)a[l])                                        \
    UNARY(cvt_64_##name, uint64_t, A, (uint64_t)(FROM)a[l])
CONVERT_FROM(u8, uint8_t, uint32_t)
CONVERT_FROM(s8, int8_t, uint32_t)
CONVERT_FROM(u16, uint16_t, uint32_t)
CONVERT_FROM(s16, int16_t, uint32_t)
CONVERT_FROM(u32, uint32_t, uint32_t)
CONVERT_FROM(s32, int32_t, uint32_t)
CONVERT_FROM(64, uint64_t, uint64_t)
