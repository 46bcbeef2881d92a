/*
 * Fq6 = Fq2[v] / (v^3 - xi) and Fq12 = Fq6[w] / (w^2 - v): the pairing's target field.
 *
 * xi is 9 + u on BN254 and 1 + u on BLS12-381. Element c[i].c[j] of an Fq12 is the coefficient of
 * w^(i + 2j). Only kernels/pairing and its tests include this. `out` may be any of the operands.
 *
 * Formulas: Devegili, O hEigeartaigh, Scott, Dahab 2006 (Karatsuba over the tower); Granger, Scott
 * 2010 (squaring in the cyclotomic subgroup).
 */
#ifndef PAWL_KERNELS_FIELD_TOWER_H
#define PAWL_KERNELS_FIELD_TOWER_H

#include "kernels/field/fields.h"

struct fq6 {
    struct fq2 c[3];
};
struct fq12 {
    struct fq6 c[2];
};

/* out = xi * a = (k a0 - a1) + (a0 + k a1) u, where k is 1 or 9 */
static inline void fq2_mul_xi(struct fq2 *out, const struct fq2 *a)
{
    struct fq2 k = *a;
    if (FQ2_XI_REAL == 9) {
        fq2_double(&k, &k);
        fq2_double(&k, &k);
        fq2_double(&k, &k);
        fq2_add(&k, &k, a);
    }
    const struct fq2 t = *a;
    fq_sub(&out->c0, &k.c0, &t.c1);
    fq_add(&out->c1, &k.c1, &t.c0);
}

/* ---- Fq6 ---- */

FIELD_OUT_OF_LINE void fq6_add(struct fq6 *out, const struct fq6 *a, const struct fq6 *b)
{
    for (int i = 0; i < 3; i++)
        fq2_add(&out->c[i], &a->c[i], &b->c[i]);
}

FIELD_OUT_OF_LINE void fq6_sub(struct fq6 *out, const struct fq6 *a, const struct fq6 *b)
{
    for (int i = 0; i < 3; i++)
        fq2_sub(&out->c[i], &a->c[i], &b->c[i]);
}

FIELD_OUT_OF_LINE void fq6_neg(struct fq6 *out, const struct fq6 *a)
{
    for (int i = 0; i < 3; i++)
        fq2_neg(&out->c[i], &a->c[i]);
}

/* out = a * v */
FIELD_OUT_OF_LINE void fq6_mul_v(struct fq6 *out, const struct fq6 *a)
{
    struct fq2 top;
    fq2_mul_xi(&top, &a->c[2]);
    out->c[2] = a->c[1];
    out->c[1] = a->c[0];
    out->c[0] = top;
}

/* out = a_i b_j + a_j b_i, given the products a_i b_i and a_j b_j */
FIELD_OUT_OF_LINE void fq6_cross(struct fq2 *out, const struct fq6 *a, const struct fq6 *b, int i,
                                 int j, const struct fq2 *product_i, const struct fq2 *product_j)
{
    struct fq2 s, t;
    fq2_add(&s, &a->c[i], &a->c[j]);
    fq2_add(&t, &b->c[i], &b->c[j]);
    fq2_mul(&s, &s, &t);
    fq2_sub(&s, &s, product_i);
    fq2_sub(out, &s, product_j);
}

FIELD_OUT_OF_LINE void fq6_mul(struct fq6 *out, const struct fq6 *a, const struct fq6 *b)
{
    struct fq2 p[3], cross01, cross02, cross12;
    for (int i = 0; i < 3; i++)
        fq2_mul(&p[i], &a->c[i], &b->c[i]);
    fq6_cross(&cross12, a, b, 1, 2, &p[1], &p[2]);
    fq6_cross(&cross01, a, b, 0, 1, &p[0], &p[1]);
    fq6_cross(&cross02, a, b, 0, 2, &p[0], &p[2]);
    fq2_mul_xi(&cross12, &cross12);
    fq2_add(&out->c[0], &p[0], &cross12);
    fq2_add(&out->c[2], &cross02, &p[1]);
    fq2_mul_xi(&p[2], &p[2]);
    fq2_add(&out->c[1], &cross01, &p[2]);
}

/* out = a * s, s in Fq2 */
FIELD_OUT_OF_LINE void fq6_scale(struct fq6 *out, const struct fq6 *a, const struct fq2 *s)
{
    const struct fq2 factor = *s;
    for (int i = 0; i < 3; i++)
        fq2_mul(&out->c[i], &a->c[i], &factor);
}

/* out = a * (b0 + b1 v) */
FIELD_OUT_OF_LINE void fq6_mul_sparse(struct fq6 *out, const struct fq6 *a, const struct fq2 *b0,
                                      const struct fq2 *b1)
{
    const struct fq6 b = {{*b0, *b1, fq2_zero}};
    struct fq2 p0, p1, cross, t;
    fq2_mul(&p0, &a->c[0], b0);
    fq2_mul(&p1, &a->c[1], b1);
    fq6_cross(&cross, a, &b, 0, 1, &p0, &p1);
    fq2_mul(&t, &a->c[2], b1);
    fq2_mul_xi(&t, &t);
    fq2_mul(&out->c[2], &a->c[2], b0);
    fq2_add(&out->c[2], &out->c[2], &p1);
    fq2_add(&out->c[0], &p0, &t);
    out->c[1] = cross;
}

/* The adjugate: with t = (a0^2 - xi a1 a2, xi a2^2 - a0 a1, a1^2 - a0 a2), a * t is in Fq2. */
FIELD_OUT_OF_LINE void fq6_inverse(struct fq6 *out, const struct fq6 *a)
{
    struct fq6 t;
    struct fq2 s, norm;
    fq2_square(&t.c[0], &a->c[0]);
    fq2_mul(&s, &a->c[1], &a->c[2]);
    fq2_mul_xi(&s, &s);
    fq2_sub(&t.c[0], &t.c[0], &s);
    fq2_square(&t.c[1], &a->c[2]);
    fq2_mul_xi(&t.c[1], &t.c[1]);
    fq2_mul(&s, &a->c[0], &a->c[1]);
    fq2_sub(&t.c[1], &t.c[1], &s);
    fq2_square(&t.c[2], &a->c[1]);
    fq2_mul(&s, &a->c[0], &a->c[2]);
    fq2_sub(&t.c[2], &t.c[2], &s);
    fq2_mul(&norm, &a->c[1], &t.c[2]);
    fq2_mul(&s, &a->c[2], &t.c[1]);
    fq2_add(&norm, &norm, &s);
    fq2_mul_xi(&norm, &norm);
    fq2_mul(&s, &a->c[0], &t.c[0]);
    fq2_add(&norm, &norm, &s);
    fq2_inverse(&norm, &norm);
    fq6_scale(out, &t, &norm);
}

/* ---- Fq12 ---- */

FIELD_OUT_OF_LINE void fq12_set_one(struct fq12 *out)
{
    *out = (struct fq12){0};
    out->c[0].c[0] = fq2_one;
}

static inline int fq12_equal(const struct fq12 *a, const struct fq12 *b)
{
    int same = 1;
    for (int k = 0; k < 6; k++)
        same &= fq2_equal(&a->c[k & 1].c[k / 2], &b->c[k & 1].c[k / 2]);
    return same;
}

static inline int fq12_is_one(const struct fq12 *a)
{
    struct fq12 one;
    fq12_set_one(&one);
    return fq12_equal(a, &one);
}

FIELD_OUT_OF_LINE void fq12_mul(struct fq12 *out, const struct fq12 *a, const struct fq12 *b)
{
    struct fq6 low, high, s, t;
    fq6_mul(&low, &a->c[0], &b->c[0]);
    fq6_mul(&high, &a->c[1], &b->c[1]);
    fq6_add(&s, &a->c[0], &a->c[1]);
    fq6_add(&t, &b->c[0], &b->c[1]);
    fq6_mul(&s, &s, &t);
    fq6_sub(&s, &s, &low);
    fq6_sub(&out->c[1], &s, &high);
    fq6_mul_v(&high, &high);
    fq6_add(&out->c[0], &low, &high);
}

/* (a0 + a1)(a0 + v a1) - (1 + v) a0 a1 + 2 a0 a1 w */
FIELD_OUT_OF_LINE void fq12_square(struct fq12 *out, const struct fq12 *a)
{
    struct fq6 product, s, t;
    fq6_mul(&product, &a->c[0], &a->c[1]);
    fq6_add(&s, &a->c[0], &a->c[1]);
    fq6_mul_v(&t, &a->c[1]);
    fq6_add(&t, &t, &a->c[0]);
    fq6_mul(&s, &s, &t);
    fq6_sub(&s, &s, &product);
    fq6_mul_v(&t, &product);
    fq6_sub(&out->c[0], &s, &t);
    fq6_add(&out->c[1], &product, &product);
}

/* a^(q^6): w goes to -w. In the cyclotomic subgroup this is the inverse. */
FIELD_OUT_OF_LINE void fq12_conjugate(struct fq12 *out, const struct fq12 *a)
{
    out->c[0] = a->c[0];
    fq6_neg(&out->c[1], &a->c[1]);
}

/* conj(a) / (a0^2 - v a1^2) */
FIELD_OUT_OF_LINE void fq12_inverse(struct fq12 *out, const struct fq12 *a)
{
    struct fq12 conjugate;
    struct fq6 norm, t;
    fq6_mul(&norm, &a->c[0], &a->c[0]);
    fq6_mul(&t, &a->c[1], &a->c[1]);
    fq6_mul_v(&t, &t);
    fq6_sub(&norm, &norm, &t);
    fq6_inverse(&norm, &norm);
    fq12_conjugate(&conjugate, a);
    fq6_mul(&out->c[0], &conjugate.c[0], &norm);
    fq6_mul(&out->c[1], &conjugate.c[1], &norm);
}

/* a^(q^n), n = 1, 2 or 3: conjugate each coefficient n times, times frobenius_factor. */
FIELD_OUT_OF_LINE void fq12_frobenius(struct fq12 *out, const struct fq12 *a, int n)
{
    for (int k = 0; k < 6; k++) {
        struct fq2 t = a->c[k & 1].c[k / 2];
        if (n & 1)
            fq2_conjugate(&t, &t);
        fq2_mul(&out->c[k & 1].c[k / 2], &t, &frobenius_factor[n - 1][k]);
    }
}

/* (a + b s)^2 in Fq4 = Fq2[s] / (s^2 - xi) */
static inline void fq4_square(struct fq2 *out_a, struct fq2 *out_b, const struct fq2 *a,
                              const struct fq2 *b)
{
    struct fq2 aa, bb, sum;
    fq2_square(&aa, a);
    fq2_square(&bb, b);
    fq2_add(&sum, a, b);
    fq2_square(&sum, &sum);
    fq2_sub(&sum, &sum, &aa);
    fq2_sub(out_b, &sum, &bb);
    fq2_mul_xi(&bb, &bb);
    fq2_add(out_a, &aa, &bb);
}

/* out = 3t - 2a (sign -1) or 3t + 2a (sign +1) */
static inline void fq2_triple_combine(struct fq2 *out, const struct fq2 *t, const struct fq2 *a,
                                      int sign)
{
    struct fq2 s;
    if (sign < 0)
        fq2_sub(&s, t, a);
    else
        fq2_add(&s, t, a);
    fq2_double(&s, &s);
    fq2_add(out, &s, t);
}

/*
 * a^2 for a with a^(q^6 + 1) = a^(q^4 - q^2 + 1) = 1 (Granger, Scott): with g_k the coefficient of
 * w^k, the pairs (g0, g3), (g1, g4), (g2, g5) are elements of Fq4, and three squarings there do.
 */
FIELD_OUT_OF_LINE void fq12_cyclotomic_square(struct fq12 *out, const struct fq12 *a)
{
    const struct fq2 g0 = a->c[0].c[0], g1 = a->c[1].c[0], g2 = a->c[0].c[1];
    const struct fq2 g3 = a->c[1].c[1], g4 = a->c[0].c[2], g5 = a->c[1].c[2];
    struct fq2 s0, s3, s1, s4, s2, s5;
    fq4_square(&s0, &s3, &g0, &g3);
    fq4_square(&s1, &s4, &g1, &g4);
    fq4_square(&s2, &s5, &g2, &g5);
    fq2_mul_xi(&s5, &s5);
    fq2_triple_combine(&out->c[0].c[0], &s0, &g0, -1);
    fq2_triple_combine(&out->c[1].c[1], &s3, &g3, +1);
    fq2_triple_combine(&out->c[0].c[1], &s1, &g2, -1);
    fq2_triple_combine(&out->c[1].c[2], &s4, &g5, +1);
    fq2_triple_combine(&out->c[0].c[2], &s2, &g4, -1);
    fq2_triple_combine(&out->c[1].c[0], &s5, &g1, +1);
}

#endif
