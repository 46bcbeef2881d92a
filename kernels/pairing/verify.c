/*
 * The verification of a proof (Groth 2016, section 3.2), all four pairings in one product:
 *
 *     e(-A, B) e(alpha, beta) e(IC_0 + sum public_i IC_i, gamma) e(C, delta) = 1
 *
 * With a prepared key the second is known up to the final exponentiation, the last two have their
 * lines, and the sum its tables.
 *
 * Called by the finalizer before a proof leaves and by `pawl verify`. No state. The points' place
 * on the curve was checked by whoever read them; A, B, C and the publics are checked here, for a
 * proof may come from anywhere.
 */
#include "kernels/pairing/pairing.h"

#include "kernels/curve/curve.h"
#include "kernels/pairing/prepared.h"

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
static void sum_publics(struct g1_xyzz *out, const struct verification_key *key,
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
    g1_xyzz_add_affine(out, &sum, &point);
}

int CURVE_FN(proof_verify)(const struct verification_key *key, const uint64_t *publics,
                           const struct proof *proof)
{
    struct g1_affine p[4];
    struct g2_affine q[4];
    struct g1_xyzz sum;
    struct fq12 product;
    if (!publics_are_canonical(publics, key->public_count) || !proof_points_in_subgroup(proof))
        return 0;
    g1_point_load(&p[0], &proof->a);
    g1_affine_neg(&p[0], &p[0]);
    g2_point_load(&q[0], &proof->b);
    g1_point_load(&p[1], &key->alpha1);
    g2_point_load(&q[1], &key->beta2);
    sum_publics(&sum, key, publics);
    g1_xyzz_to_affine(&p[2], &sum);
    g2_point_load(&q[2], &key->gamma2);
    g1_point_load(&p[3], &proof->c);
    g2_point_load(&q[3], &key->delta2);
    CURVE_FN(pairing_product)(&product, p, q, 4);
    return fq12_is_one(&product);
}

/* ---- with a prepared key ---- */

static void sum_publics_prepared(struct g1_xyzz *out, const struct prepared_key *prepared,
                                 const uint64_t *publics)
{
    uint32_t tables = prepared_tables(prepared->key.public_count);
    int8_t digit[MULTIPLES_DIGITS];
    struct g1_affine point;
    if (tables < prepared->key.public_count) {
        sum_publics(out, &prepared->key, publics);
        return;
    }
    g1_affine_load(&point, prepared->key.ic);
    g1_xyzz_from_affine(out, &point);
    for (uint32_t i = 0; i < tables; i++) {
        multiples_cut(digit, publics + (size_t)i * FR_LIMBS);
        g1_multiples_add(out, prepared->ic[i], digit);
    }
}

/* x / y and 1 / y of finite points, with one inversion of the product of all Y ZZ: x / y is
 * X ZZZ / (Y ZZ), and 1 / y is ZZ ZZZ / (Y ZZ). */
static void divide_by_y(struct miller_pair *pairs, const struct g1_xyzz *points, unsigned count)
{
    struct fq before[2], inverse, own, t;
    for (unsigned i = 0; i < count; i++) {
        fq_mul(&before[i], &points[i].y, &points[i].zz);
        if (i)
            fq_mul(&before[i], &before[i], &before[i - 1]);
    }
    fq_inverse(&inverse, &before[count - 1]);
    for (unsigned i = count; i-- > 0;) {
        own = inverse;
        if (i)
            fq_mul(&own, &inverse, &before[i - 1]);
        fq_mul(&t, &points[i].y, &points[i].zz);
        fq_mul(&inverse, &inverse, &t);
        fq_mul(&own, &own, &points[i].zzz);
        fq_mul(&pairs[i].p.x, &points[i].x, &own);
        fq_mul(&pairs[i].p.y, &points[i].zz, &own);
    }
}

/* The pairs of the sum with gamma and of C with delta; their number, for infinities have none. */
static unsigned pairs_prepared(struct miller_pair *pairs, const struct prepared_key *prepared,
                               const uint64_t *publics, const struct proof *proof)
{
    const struct prepared_lines *lines[2] = {&prepared->gamma, &prepared->delta};
    struct g1_xyzz point[2], kept[2];
    struct g1_affine c;
    unsigned count = 0;
    sum_publics_prepared(&point[0], prepared, publics);
    g1_point_load(&c, &proof->c);
    g1_xyzz_from_affine(&point[1], &c);
    for (int i = 0; i < 2; i++) {
        if (g1_xyzz_is_infinity(&point[i]) || !lines[i]->finite)
            continue;
        pairs[count] = (struct miller_pair){.lines = lines[i]->line, .monic = 1};
        kept[count++] = point[i];
    }
    if (count)
        divide_by_y(pairs, kept, count);
    return count;
}

int CURVE_FN(prepared_verify)(const void *key, const uint64_t *publics, const struct proof *proof)
{
    const struct prepared_key *prepared = key;
    struct line lines[MILLER_LINES_MAX];
    struct miller_pair pairs[3];
    struct g2_affine b;
    struct fq12 product;
    if (!publics_are_canonical(publics, prepared->key.public_count) ||
        !proof_points_in_subgroup(proof))
        return 0;
    unsigned count = pairs_prepared(pairs, prepared, publics, proof);
    struct miller_pair ab = {.lines = lines};
    g1_point_load(&ab.p, &proof->a);
    g2_point_load(&b, &proof->b);
    if (!g1_affine_is_infinity(&ab.p) && !g2_affine_is_infinity(&b)) {
        g1_affine_neg(&ab.p, &ab.p);
        CURVE_FN(miller_lines)(lines, &b);
        pairs[count++] = ab;
    }
    CURVE_FN(miller_loop)(&product, pairs, count);
    fq12_mul(&product, &product, &prepared->alphabeta);
    CURVE_FN(final_exponentiation)(&product, &product);
    return fq12_is_one(&product);
}
