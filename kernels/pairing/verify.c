/*
 * The verification of a proof (Groth 2016, section 3.2), all four pairings in one product:
 *
 *     e(-A, B) e(alpha, beta) e(IC_0 + sum public_i IC_i, gamma) e(C, delta) = 1
 *
 * Called by the finalizer before a proof leaves and by `pawl verify`. No state. The points' place
 * on the curve was checked by whoever read them; A, B, C and the publics are checked here, for a
 * proof may come from anywhere.
 */
#include "kernels/pairing/pairing.h"

#include "kernels/curve/curve.h"
#include "kernels/pairing/miller.h"

/* 1 where A, B and C are in their subgroups. */
static int proof_points_in_subgroup(const struct proof *proof)
{
    return CURVE_FN(g1_in_subgroup)(&proof->a) && CURVE_FN(g2_in_subgroup)(&proof->b) &&
           CURVE_FN(g1_in_subgroup)(&proof->c);
}

static int publics_are_canonical(const uint64_t *publics, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!fr_is_canonical(publics + (size_t)i * FR_LIMBS))
            return 0;
    return 1;
}

/* out = IC_0 + sum public_i IC_i: bit by bit over all, one doubling a bit. */
static void sum_publics(struct g1_affine *out, const struct verification_key *key,
                        const uint64_t *publics)
{
    const unsigned char *ic = key->ic;
    struct g1_xyzz sum = g1_xyzz_infinity;
    struct g1_affine point;
    for (int bit = 64 * FR_LIMBS - 1; bit >= 0; bit--) {
        g1_xyzz_double(&sum, &sum);
        for (uint32_t i = 0; i < key->public_count; i++) {
            if (!(publics[(size_t)i * FR_LIMBS + bit / 64] >> (bit % 64) & 1))
                continue;
            g1_affine_load(&point, ic + ((size_t)i + 1) * sizeof(point));
            g1_xyzz_add_affine(&sum, &sum, &point);
        }
    }
    g1_affine_load(&point, ic);
    g1_xyzz_add_affine(&sum, &sum, &point);
    g1_xyzz_to_affine(out, &sum);
}

int CURVE_FN(proof_verify)(const struct verification_key *key, const uint64_t *publics,
                           const struct proof *proof)
{
    struct g1_affine p[4];
    struct g2_affine q[4];
    struct fq12 product;
    if (!publics_are_canonical(publics, key->public_count) || !proof_points_in_subgroup(proof))
        return 0;
    g1_point_load(&p[0], &proof->a);
    g1_affine_neg(&p[0], &p[0]);
    g2_point_load(&q[0], &proof->b);
    g1_point_load(&p[1], &key->alpha1);
    g2_point_load(&q[1], &key->beta2);
    sum_publics(&p[2], key, publics);
    g2_point_load(&q[2], &key->gamma2);
    g1_point_load(&p[3], &proof->c);
    g2_point_load(&q[3], &key->delta2);
    CURVE_FN(pairing_product)(&product, p, q, 4);
    return fq12_is_one(&product);
}
