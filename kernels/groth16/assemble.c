/*
 * From the five sums and the blinders to a proof (Groth, "On the Size of Pairing-based
 * Non-interactive Arguments", 2016, section 3.2, with the names of a zkey). Called by a finalizer;
 * pure.
 *
 *     A  = alpha1 + sum A + r delta1
 *     B  = beta2 + sum B2 + s delta2         and B1 = beta1 + sum B1 + s delta1, its image in G1
 *     C  = sum C + sum H + s A + r B1 - r s delta1
 *
 * The last line's blinders drop out to C = sum C + sum H + s (alpha1 + sum A) + r (beta1 + sum B1)
 * + r s delta1, so that all that is multiplied is known at once.
 */
#include <string.h>

#include "kernels/groth16/groth16.h"
#include "kernels/pairing/prepared.h"

/* r delta1, r s delta1 and s delta2 */
struct blinds {
    struct g1_xyzz r_delta1, rs_delta1;
    struct g2_xyzz s_delta2;
};

/* r and s, plain, and r s; each cut into digits. */
struct blinder_digits {
    int8_t r[MULTIPLES_DIGITS], s[MULTIPLES_DIGITS], rs[MULTIPLES_DIGITS];
};

static void digits_make(struct blinder_digits *out, const uint64_t *r, const uint64_t *s)
{
    struct fr a, b;
    memcpy(&a, r, sizeof(a));
    memcpy(&b, s, sizeof(b));
    fr_to_montgomery(&a, &a);
    fr_mul(&a, &a, &b); /* one factor in Montgomery form: the product is plain */
    multiples_cut(out->r, r);
    multiples_cut(out->s, s);
    multiples_cut(out->rs, a.word);
}

static void blinds_compute(struct blinds *out, const struct verification_key *key,
                           struct blinder_digits *digits)
{
    struct g1_affine p;
    struct g2_affine q;
    struct g1_xyzz delta1;
    struct g2_xyzz delta2;
    g1_point_load(&p, &key->delta1);
    g2_point_load(&q, &key->delta2);
    g1_xyzz_from_affine(&delta1, &p);
    g2_xyzz_from_affine(&delta2, &q);
    g1_multiply_add(&out->r_delta1, &delta1, &digits->r, 1);
    g1_multiply_add(&out->rs_delta1, &delta1, &digits->rs, 1);
    g2_multiply_add(&out->s_delta2, &delta2, &digits->s, 1);
}

static void blinds_look_up(struct blinds *out, const struct prepared_key *prepared,
                           const struct blinder_digits *digits)
{
    *out = (struct blinds){g1_xyzz_infinity, g1_xyzz_infinity, g2_xyzz_infinity};
    g1_multiples_add(&out->r_delta1, prepared->delta1, digits->r);
    g1_multiples_add(&out->rs_delta1, prepared->delta1, digits->rs);
    g2_multiples_add(&out->s_delta2, prepared->delta2, digits->s);
}

static void g1_sum_affine(struct g1_xyzz *out, const struct g1 *a, const struct g1 *b)
{
    struct g1_affine p;
    g1_point_load(&p, a);
    g1_xyzz_from_affine(out, &p);
    g1_point_load(&p, b);
    g1_xyzz_add_affine(out, out, &p);
}

static void finish_b(struct g2 *out, const struct g2 *sum, const struct verification_key *key,
                     const struct g2_xyzz *s_delta2)
{
    struct g2_xyzz b = *s_delta2;
    struct g2_affine p;
    g2_point_load(&p, sum);
    g2_xyzz_add_affine(&b, &b, &p);
    g2_point_load(&p, &key->beta2);
    g2_xyzz_add_affine(&b, &b, &p);
    g2_xyzz_to_affine(&p, &b);
    g2_point_store(out, &p);
}

static void g1_finish(struct g1 *out, const struct g1_xyzz *a)
{
    struct g1_affine p;
    g1_xyzz_to_affine(&p, a);
    g1_point_store(out, &p);
}

static void finish_proof(struct proof *out, const struct proof_sums *sums,
                         const struct verification_key *key, struct blinder_digits *digits,
                         const struct blinds *blinds)
{
    int8_t factors[2][MULTIPLES_DIGITS];
    struct g1_xyzz unblinded[2], a, c, t; /* alpha1 + sum A, and beta1 + sum B1 */
    g1_sum_affine(&unblinded[0], &sums->a, &key->alpha1);
    g1_sum_affine(&unblinded[1], &sums->b1, &key->beta1);
    g1_xyzz_add(&a, &unblinded[0], &blinds->r_delta1);
    memcpy(factors[0], digits->s, sizeof(factors[0]));
    memcpy(factors[1], digits->r, sizeof(factors[1]));
    g1_multiply_add(&c, unblinded, factors, 2);
    g1_sum_affine(&t, &sums->c, &sums->h);
    g1_xyzz_add(&c, &c, &t);
    g1_xyzz_add(&c, &c, &blinds->rs_delta1);
    g1_finish(&out->a, &a);
    finish_b(&out->b, &sums->b2, key, &blinds->s_delta2);
    g1_finish(&out->c, &c);
}

void CURVE_FN(proof_assemble)(struct proof *out, const struct proof_sums *sums,
                              const struct verification_key *key, const uint64_t *r,
                              const uint64_t *s)
{
    struct blinder_digits digits;
    struct blinds blinds;
    digits_make(&digits, r, s);
    blinds_compute(&blinds, key, &digits);
    finish_proof(out, sums, key, &digits, &blinds);
}

void CURVE_FN(prepared_assemble)(struct proof *out, const struct proof_sums *sums, const void *key,
                                 const uint64_t *r, const uint64_t *s)
{
    const struct prepared_key *prepared = key;
    struct blinder_digits digits;
    struct blinds blinds;
    digits_make(&digits, r, s);
    blinds_look_up(&blinds, prepared, &digits);
    finish_proof(out, sums, &prepared->key, &digits, &blinds);
}
