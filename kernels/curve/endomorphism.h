/*
 * Maps of the groups into themselves that cost next to nothing, and the subgroup checks made of
 * them. Stateless; included by curve.c and the pairing.
 *
 * psi, on the twist, is the Frobenius of E carried over: psi^2 - t psi + q = 0 with the trace t of
 * E. A combination f(psi) that vanishes on the subgroup vanishes on no other point of E'(Fq2) where
 * the norm f(psi) f(psi-bar), an integer, has no factor in common with the cofactor; this holds for
 * both (Dai, Lin, Zhao, Zhou 2022; Scott 2021; constants.py asserts it):
 *
 *     BN254        [x + 1] Q + psi([x] Q) + psi^2([x] Q) = psi^3([2x] Q)
 *     BLS12-381    psi(Q) = [x] Q
 *
 * On G1 of BLS12-381, phi(x, y) = (beta x, y) with beta^3 = 1 satisfies phi^2 + phi + 1 = 0, so
 * that phi(P) = -[x^2] P exactly for the r points of the subgroup: the norm is x^4 - x^2 + 1 = r.
 * On BN254 every point of G1 is in the subgroup.
 */
#ifndef PAWL_KERNELS_CURVE_ENDOMORPHISM_H
#define PAWL_KERNELS_CURVE_ENDOMORPHISM_H

#include "kernels/curve/group.h"

/* out = a * xi^(k (q - 1) / 6), or by its inverse where the twist multiplies: xi^(q - 1) is -u on
 * BLS12-381, so that the inverse is the factor of 6 - k, times u. */
static inline void twist_factor_mul(struct fq2 *out, const struct fq2 *a, int k)
{
    if (TWIST_DIVIDES) {
        fq2_mul(out, a, &frobenius_factor[0][k]);
        return;
    }
    struct fq2 t;
    fq2_mul(&t, a, &frobenius_factor[0][6 - k]);
    fq_neg(&out->c0, &t.c1);
    out->c1 = t.c0;
}

/* psi(Q) = (conj(x) xi^((q - 1) / 3), conj(y) xi^((q - 1) / 2)), with inverse powers on a twist
 * that multiplies. */
static inline void g2_psi_affine(struct g2_affine *out, const struct g2_affine *q)
{
    fq2_conjugate(&out->x, &q->x);
    twist_factor_mul(&out->x, &out->x, 2);
    fq2_conjugate(&out->y, &q->y);
    twist_factor_mul(&out->y, &out->y, 3);
}

static inline void g2_psi(struct g2_xyzz *out, const struct g2_xyzz *q)
{
    fq2_conjugate(&out->x, &q->x);
    twist_factor_mul(&out->x, &out->x, 2);
    fq2_conjugate(&out->y, &q->y);
    twist_factor_mul(&out->y, &out->y, 3);
    fq2_conjugate(&out->zz, &q->zz);
    fq2_conjugate(&out->zzz, &q->zzz);
}

/* 1 where a = b as points: cross-multiplied, so that no inversion is needed. */
static inline int g2_xyzz_equal(const struct g2_xyzz *a, const struct g2_xyzz *b)
{
    struct g2_xyzz negated, sum;
    g2_xyzz_neg(&negated, b);
    g2_xyzz_add(&sum, a, &negated);
    return g2_xyzz_is_infinity(&sum);
}

/* out = [|x|] Q */
static inline void g2_multiply_seed(struct g2_xyzz *out, const struct g2_xyzz *q)
{
    const uint64_t seed[1] = {PAIRING_X};
    g2_xyzz_multiply(out, q, seed, 1);
}

#if CURVE_NUMBER == 1

static inline int g1_is_in_subgroup(const struct g1_xyzz *p)
{
    (void)p;
    return 1;
}

static inline int g2_is_in_subgroup(const struct g2_xyzz *q)
{
    struct g2_xyzz multiple, image, left, right;
    g2_multiply_seed(&multiple, q);
    g2_psi(&image, &multiple);
    g2_xyzz_add(&left, &multiple, q);
    g2_xyzz_add(&left, &left, &image);
    g2_psi(&image, &image);
    g2_xyzz_add(&left, &left, &image);
    g2_psi(&image, &image);
    g2_xyzz_double(&right, &image);
    return g2_xyzz_equal(&left, &right);
}

#else

static inline int g2_is_in_subgroup(const struct g2_xyzz *q)
{
    struct g2_xyzz multiple, image;
    g2_multiply_seed(&multiple, q);
    g2_xyzz_neg(&multiple, &multiple);
    g2_psi(&image, q);
    return g2_xyzz_equal(&image, &multiple);
}

/* beta is a power of xi as well: xi^((q^2 - 1) / 3), the cube root of one that fits x */
static inline int g1_is_in_subgroup(const struct g1_xyzz *p)
{
    const uint64_t seed[1] = {PAIRING_X};
    struct g1_xyzz image = *p, multiple;
    fq_mul(&image.x, &image.x, &frobenius_factor[1][2].c0);
    g1_xyzz_multiply(&multiple, p, seed, 1);
    g1_xyzz_multiply(&multiple, &multiple, seed, 1);
    g1_xyzz_add(&multiple, &multiple, &image);
    return g1_xyzz_is_infinity(&multiple);
}

#endif

#endif
