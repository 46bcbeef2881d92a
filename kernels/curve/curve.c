/*
 * Single points behind a curve's table: checks, sums, multiples, generators.
 *
 * Promises what curves.h says; called where an image is compiled and a proof is finished. No state,
 * so a SIGKILL leaves nothing. Speed matters little here: msm/ has the large sums.
 */
#include "kernels/curve/curve.h"

#include "kernels/curve/endomorphism.h"
#include "kernels/curve/group.h"

_Static_assert(sizeof(struct g1_affine) <= sizeof(struct g1), "G1 fits its packed form");
_Static_assert(sizeof(struct g2_affine) <= sizeof(struct g2), "G2 fits its packed form");

const struct g1 CURVE_FN(g1_generator) = {G1_GENERATOR_WORDS};
const struct g2 CURVE_FN(g2_generator) = {G2_GENERATOR_WORDS};

static int fq2_is_canonical(const struct fq2 *a)
{
    return fq_is_canonical(a->c0.word) && fq_is_canonical(a->c1.word);
}

enum point_check CURVE_FN(g1_check)(const void *point)
{
    struct g1_affine p;
    struct fq left, right;
    g1_affine_load(&p, point);
    if (!fq_is_canonical(p.x.word) || !fq_is_canonical(p.y.word))
        return POINT_NOT_CANONICAL;
    if (g1_affine_is_infinity(&p))
        return POINT_OK;
    fq_square(&left, &p.y);
    fq_square(&right, &p.x);
    fq_mul(&right, &right, &p.x);
    fq_add(&right, &right, &g1_coefficient_b);
    return fq_equal(&left, &right) ? POINT_OK : POINT_NOT_ON_CURVE;
}

enum point_check CURVE_FN(g2_check)(const void *point)
{
    struct g2_affine p;
    struct fq2 left, right;
    g2_affine_load(&p, point);
    if (!fq2_is_canonical(&p.x) || !fq2_is_canonical(&p.y))
        return POINT_NOT_CANONICAL;
    if (g2_affine_is_infinity(&p))
        return POINT_OK;
    fq2_square(&left, &p.y);
    fq2_square(&right, &p.x);
    fq2_mul(&right, &right, &p.x);
    fq2_add(&right, &right, &g2_coefficient_b);
    return fq2_equal(&left, &right) ? POINT_OK : POINT_NOT_ON_CURVE;
}

int CURVE_FN(g1_in_subgroup)(const void *point)
{
    struct g1_affine p;
    struct g1_xyzz q;
    g1_affine_load(&p, point);
    g1_xyzz_from_affine(&q, &p);
    return g1_is_in_subgroup(&q);
}

int CURVE_FN(g2_in_subgroup)(const void *point)
{
    struct g2_affine p;
    struct g2_xyzz q;
    g2_affine_load(&p, point);
    g2_xyzz_from_affine(&q, &p);
    return g2_is_in_subgroup(&q);
}

/* Scalars of any size, as curves.h promises: bit by bit. */
void CURVE_FN(g1_multiply)(struct g1 *out, const struct g1 *point, const uint64_t *scalar)
{
    struct g1_affine p;
    struct g1_xyzz q;
    g1_point_load(&p, point);
    g1_xyzz_from_affine(&q, &p);
    g1_xyzz_multiply(&q, &q, scalar, FR_LIMBS);
    g1_xyzz_to_affine(&p, &q);
    g1_point_store(out, &p);
}

void CURVE_FN(g2_multiply)(struct g2 *out, const struct g2 *point, const uint64_t *scalar)
{
    struct g2_affine p;
    struct g2_xyzz q;
    g2_point_load(&p, point);
    g2_xyzz_from_affine(&q, &p);
    g2_xyzz_multiply(&q, &q, scalar, FR_LIMBS);
    g2_xyzz_to_affine(&p, &q);
    g2_point_store(out, &p);
}

void CURVE_FN(g1_add)(struct g1 *out, const struct g1 *a, const struct g1 *b)
{
    struct g1_affine p;
    struct g1_xyzz sum;
    g1_point_load(&p, a);
    g1_xyzz_from_affine(&sum, &p);
    g1_point_load(&p, b);
    g1_xyzz_add_affine(&sum, &sum, &p);
    g1_xyzz_to_affine(&p, &sum);
    g1_point_store(out, &p);
}

void CURVE_FN(g2_add)(struct g2 *out, const struct g2 *a, const struct g2 *b)
{
    struct g2_affine p;
    struct g2_xyzz sum;
    g2_point_load(&p, a);
    g2_xyzz_from_affine(&sum, &p);
    g2_point_load(&p, b);
    g2_xyzz_add_affine(&sum, &sum, &p);
    g2_xyzz_to_affine(&p, &sum);
    g2_point_store(out, &p);
}
