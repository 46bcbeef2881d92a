/*
 * Fq2 in eight lanes; included by vector_ifma.h, whose bounds hold for each of the two
 * coefficients.
 *
 * Products by the schoolbook with one reduction a coefficient: as many multiply-adds as Karatsuba
 * with three reductions, none of its sums, and results below 2p. mul wants operands below 6 on
 * BN254 (6 * 6 + 6 * 6 <= 84; a is b's bound on the right) or below 2^17; see fq2_x8_mul.
 */
#ifndef PAWL_KERNELS_FIELD_VECTOR_FQ2_IFMA_H
#define PAWL_KERNELS_FIELD_VECTOR_FQ2_IFMA_H

struct fq2_x8 {
    struct fq_x8 c0, c1;
};

#define FQ2_EACH(operation)                                                                        \
    VECTOR_INLINE void fq2_x8_##operation(struct fq2_x8 *out, const struct fq2_x8 *a,              \
                                          const struct fq2_x8 *b)                                  \
    {                                                                                              \
        fq_x8_##operation(&out->c0, &a->c0, &b->c0);                                               \
        fq_x8_##operation(&out->c1, &a->c1, &b->c1);                                               \
    }
FQ2_EACH(add)
FQ2_EACH(sub)
FQ2_EACH(sub_loaded)
FQ2_EACH(add_raw)
FQ2_EACH(sub_raw)
#undef FQ2_EACH

#define FQ2_EACH(operation)                                                                        \
    VECTOR_INLINE void fq2_x8_##operation(struct fq2_x8 *out, const struct fq2_x8 *a)              \
    {                                                                                              \
        fq_x8_##operation(&out->c0, &a->c0);                                                       \
        fq_x8_##operation(&out->c1, &a->c1);                                                       \
    }
FQ2_EACH(double)
FQ2_EACH(neg)
FQ2_EACH(neg_loaded)
FQ2_EACH(reduce)
FQ2_EACH(reduce_once)
FQ2_EACH(canonical)
#undef FQ2_EACH

#define FQ2_EACH(operation)                                                                        \
    VECTOR_INLINE void fq2_x8_##operation(struct fq2_x8 *a)                                        \
    {                                                                                              \
        fq_x8_##operation(&a->c0);                                                                 \
        fq_x8_##operation(&a->c1);                                                                 \
    }
FQ2_EACH(zero)
FQ2_EACH(normalize)
FQ2_EACH(lift_raw)
FQ2_EACH(lift_loaded_raw)
#undef FQ2_EACH

VECTOR_INLINE void fq2_x8_select(struct fq2_x8 *out, __mmask8 mask, const struct fq2_x8 *a,
                                 const struct fq2_x8 *b)
{
    fq_x8_select(&out->c0, mask, &a->c0, &b->c0);
    fq_x8_select(&out->c1, mask, &a->c1, &b->c1);
}

/*
 * a0 b0 - a1 b1 + (a0 b1 + a1 b0) u. With a below A and b below B, both results are below
 * 1 + (2 A B + (4 - B) A) / CAP at most where B <= 4, the negative of b1 being below 4; so
 * operands below 4 on the right and 8 on the left give below 2. On BLS12-381 A <= 2^30.
 */
VECTOR_INLINE void fq2_x8_mul(struct fq2_x8 *out, const struct fq2_x8 *a, const struct fq2_x8 *b)
{
    const struct fq2_x8 x = *a, y = *b;
    struct fq_x8 minus;
    fq_x8_neg(&minus, &y.c1);
    fq_x8_mul_add(&out->c0, &x.c0, &y.c0, &x.c1, &minus);
    fq_x8_mul_add(&out->c1, &x.c0, &y.c1, &x.c1, &y.c0);
}

/* The same where b is below LOADED: then a * (b + LOADED) must be within CAP. */
VECTOR_INLINE void fq2_x8_mul_loaded(struct fq2_x8 *out, const struct fq2_x8 *a,
                                     const struct fq2_x8 *b)
{
    const struct fq2_x8 x = *a, y = *b;
    struct fq_x8 minus;
    fq_x8_neg_loaded(&minus, &y.c1);
    fq_x8_mul_add(&out->c0, &x.c0, &y.c0, &x.c1, &minus);
    fq_x8_mul_add(&out->c1, &x.c0, &y.c1, &x.c1, &y.c0);
}

/* (a0 + a1)(a0 - a1) + 2 a0 a1 u; a below 4: results below 1 + 64 / CAP */
VECTOR_INLINE void fq2_x8_square(struct fq2_x8 *out, const struct fq2_x8 *a)
{
    const struct fq2_x8 x = *a;
    struct fq_x8 sum, difference, twice;
    fq_x8_add(&sum, &x.c0, &x.c1);
    fq_x8_sub(&difference, &x.c0, &x.c1);
    fq_x8_double(&twice, &x.c0);
    fq_x8_mul(&out->c0, &sum, &difference);
    fq_x8_mul(&out->c1, &twice, &x.c1);
}

/* out = a * s, s in Fq */
VECTOR_INLINE void fq2_x8_scale(struct fq2_x8 *out, const struct fq2_x8 *a, const struct fq_x8 *s)
{
    const struct fq_x8 factor = *s;
    fq_x8_mul(&out->c0, &a->c0, &factor);
    fq_x8_mul(&out->c1, &a->c1, &factor);
}

VECTOR_INLINE __mmask8 fq2_x8_is_zero_mask(const struct fq2_x8 *a)
{
    return fq_x8_is_zero_mask(&a->c0) & fq_x8_is_zero_mask(&a->c1);
}

VECTOR_INLINE __mmask8 fq2_x8_is_zero_mask_below_2(const struct fq2_x8 *a)
{
    return fq_x8_is_zero_mask_below_2(&a->c0) & fq_x8_is_zero_mask_below_2(&a->c1);
}

VECTOR_INLINE __mmask8 fq2_x8_equal_mask(const struct fq2_x8 *a, const struct fq2_x8 *b)
{
    return fq_x8_equal_mask(&a->c0, &b->c0) & fq_x8_equal_mask(&a->c1, &b->c1);
}

/* ---- memory: c0, then c1, as in struct fq2 ---- */

VECTOR_INLINE void fq2_x8_load(struct fq2_x8 *out, const void *const pointer[8])
{
    const void *second[8];
    VECTOR_UNROLL
    for (int i = 0; i < 8; i++)
        second[i] = (const uint64_t *)pointer[i] + FQ_LIMBS;
    fq_x8_load(&out->c0, pointer);
    fq_x8_load(&out->c1, second);
}

VECTOR_INLINE void fq2_x8_store(void *const pointer[8], const struct fq2_x8 *a)
{
    void *second[8];
    VECTOR_UNROLL
    for (int i = 0; i < 8; i++)
        second[i] = (uint64_t *)pointer[i] + FQ_LIMBS;
    fq_x8_store(pointer, &a->c0);
    fq_x8_store(second, &a->c1);
}

VECTOR_INLINE void fq2_x8_load_packed(struct fq2_x8 *out, const uint64_t *packed)
{
    const void *pointer[8];
    VECTOR_UNROLL
    for (int i = 0; i < 8; i++)
        pointer[i] = packed + 2 * FQ_LIMBS * i;
    fq2_x8_load(out, pointer);
}

VECTOR_INLINE void fq2_x8_store_packed(uint64_t *packed, const struct fq2_x8 *a)
{
    void *pointer[8];
    VECTOR_UNROLL
    for (int i = 0; i < 8; i++)
        pointer[i] = packed + 2 * FQ_LIMBS * i;
    fq2_x8_store(pointer, a);
}

VECTOR_INLINE void fq2_x8_broadcast(struct fq2_x8 *out, const struct fq2 *montgomery)
{
    fq_x8_broadcast(&out->c0, &montgomery->c0);
    fq_x8_broadcast(&out->c1, &montgomery->c1);
}

#endif
