/*
 * Fq2 = Fq[u] / (u^2 + 1), on both curves. Included by fields.h; its contract is there.
 *
 * Products by Karatsuba: (a0 + a1 u)(b0 + b1 u) = a0 b0 - a1 b1 + ((a0 + a1)(b0 + b1) - a0 b0 -
 * a1 b1) u.
 */
#ifndef PAWL_KERNELS_FIELD_FQ2_H
#define PAWL_KERNELS_FIELD_FQ2_H

static const struct fq2 fq2_zero;

FIELD_OUT_OF_LINE void fq2_add(struct fq2 *out, const struct fq2 *a, const struct fq2 *b)
{
    fq_add(&out->c0, &a->c0, &b->c0);
    fq_add(&out->c1, &a->c1, &b->c1);
}

FIELD_OUT_OF_LINE void fq2_sub(struct fq2 *out, const struct fq2 *a, const struct fq2 *b)
{
    fq_sub(&out->c0, &a->c0, &b->c0);
    fq_sub(&out->c1, &a->c1, &b->c1);
}

FIELD_OUT_OF_LINE void fq2_neg(struct fq2 *out, const struct fq2 *a)
{
    fq_neg(&out->c0, &a->c0);
    fq_neg(&out->c1, &a->c1);
}

FIELD_OUT_OF_LINE void fq2_double(struct fq2 *out, const struct fq2 *a)
{
    fq2_add(out, a, a);
}

static inline int fq2_is_zero(const struct fq2 *a)
{
    return fq_is_zero(&a->c0) & fq_is_zero(&a->c1);
}

static inline int fq2_equal(const struct fq2 *a, const struct fq2 *b)
{
    return fq_equal(&a->c0, &b->c0) & fq_equal(&a->c1, &b->c1);
}

FIELD_OUT_OF_LINE void fq2_mul(struct fq2 *out, const struct fq2 *a, const struct fq2 *b)
{
    struct fq low, high, sum_a, sum_b;
    fq_add(&sum_a, &a->c0, &a->c1);
    fq_add(&sum_b, &b->c0, &b->c1);
    fq_mul(&low, &a->c0, &b->c0);
    fq_mul(&high, &a->c1, &b->c1);
    fq_mul(&sum_a, &sum_a, &sum_b);
    fq_sub(&sum_a, &sum_a, &low);
    fq_sub(&out->c1, &sum_a, &high);
    fq_sub(&out->c0, &low, &high);
}

/* (a0 + a1)(a0 - a1) + 2 a0 a1 u */
FIELD_OUT_OF_LINE void fq2_square(struct fq2 *out, const struct fq2 *a)
{
    struct fq sum, difference, cross;
    fq_add(&sum, &a->c0, &a->c1);
    fq_sub(&difference, &a->c0, &a->c1);
    fq_mul(&cross, &a->c0, &a->c1);
    fq_mul(&out->c0, &sum, &difference);
    fq_double(&out->c1, &cross);
}

/* out = a * s, s in Fq */
FIELD_OUT_OF_LINE void fq2_scale(struct fq2 *out, const struct fq2 *a, const struct fq *s)
{
    const struct fq factor = *s;
    fq_mul(&out->c0, &a->c0, &factor);
    fq_mul(&out->c1, &a->c1, &factor);
}

/* a^q: the Frobenius of Fq2 */
static inline void fq2_conjugate(struct fq2 *out, const struct fq2 *a)
{
    out->c0 = a->c0;
    fq_neg(&out->c1, &a->c1);
}

/* conj(a) / (a0^2 + a1^2); the inverse of zero is zero */
static inline void fq2_inverse(struct fq2 *out, const struct fq2 *a)
{
    struct fq norm, t;
    struct fq2 conjugate;
    fq_square(&norm, &a->c0);
    fq_square(&t, &a->c1);
    fq_add(&norm, &norm, &t);
    fq_inverse(&norm, &norm);
    fq2_conjugate(&conjugate, a);
    fq2_scale(out, &conjugate, &norm);
}

#endif
