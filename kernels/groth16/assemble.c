/*
 * From the five sums and the blinders to a proof (Groth, "On the Size of Pairing-based
 * Non-interactive Arguments", 2016, section 3.2, with the names of a zkey). Called by a finalizer;
 * pure.
 *
 *     A  = alpha1 + sum A + r delta1
 *     B  = beta2 + sum B2 + s delta2         and B1 = beta1 + sum B1 + s delta1, its image in G1
 *     C  = sum C + sum H + s A + r B1 - r s delta1
 */
#include <string.h>

#include "kernels/groth16/groth16.h"
#include "kernels/curve/curve.h"
#include "kernels/field/fields.h"

static void g1_add_multiple(struct g1 *sum, const struct g1 *point, const uint64_t *scalar)
{
    struct g1 multiple;
    CURVE_FN(g1_multiply)(&multiple, point, scalar);
    CURVE_FN(g1_add)(sum, sum, &multiple);
}

/* -r s mod r's field, plain: a Montgomery product of which one factor is in Montgomery form. */
static void blinders_minus_product(struct fr *out, const uint64_t *r, const uint64_t *s)
{
    struct fr a, b;
    memcpy(&a, r, sizeof(a));
    memcpy(&b, s, sizeof(b));
    fr_to_montgomery(&a, &a);
    fr_mul(out, &a, &b);
    fr_neg(out, out);
}

void CURVE_FN(proof_assemble)(struct proof *out, const struct proof_sums *sums,
                              const struct verification_key *key, const uint64_t *r,
                              const uint64_t *s)
{
    struct g1 b1;
    struct g2 blind;
    struct fr minus_rs;
    CURVE_FN(g1_add)(&out->a, &sums->a, &key->alpha1);
    g1_add_multiple(&out->a, &key->delta1, r);

    CURVE_FN(g2_multiply)(&blind, &key->delta2, s);
    CURVE_FN(g2_add)(&out->b, &sums->b2, &key->beta2);
    CURVE_FN(g2_add)(&out->b, &out->b, &blind);

    CURVE_FN(g1_add)(&b1, &sums->b1, &key->beta1);
    g1_add_multiple(&b1, &key->delta1, s);

    blinders_minus_product(&minus_rs, r, s);
    CURVE_FN(g1_add)(&out->c, &sums->c, &sums->h);
    g1_add_multiple(&out->c, &out->a, s);
    g1_add_multiple(&out->c, &b1, r);
    g1_add_multiple(&out->c, &key->delta1, minus_rs.word);
}
