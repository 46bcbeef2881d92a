/*
 * Pairings by their defining properties and against snarkjs's numbers; verification of a real proof
 * and of every way to spoil it. A test program of one curve is this file behind its PAWL_CURVE.
 * Reads tests/fixtures (from the repository's root, or $PAWL_FIXTURES).
 */
#include "kernels/curve/curve.h"
#include "kernels/curve/group.h"
#include "kernels/field/scalars.h"
#include "kernels/pairing/miller.h"
#include "kernels/pairing/pairing.h"
#include "kernels/pairing/prepared.h"
#include "tests/kernels/json_numbers.h"
#include "tests/kernels/vectors.h"
#include "tests/support/forms.h"

#if CURVE_NUMBER == 1
#define FIXTURE "bn128/mul2/"
#else
#define FIXTURE "bls12381/mul2/"
#endif
#define PUBLICS 3

struct statement {
    struct verification_key key;
    struct g1_affine ic[PUBLICS + 1];
    uint64_t publics[PUBLICS][FR_LIMBS];
    struct proof proof;
};

static void multiply_by_small(struct g1_affine *p, struct g2_affine *q, uint64_t a, uint64_t b)
{
    const uint64_t scalar_a[FR_LIMBS] = {a}, scalar_b[FR_LIMBS] = {b};
    struct g1 point1;
    struct g2 point2;
    CURVE_FN(g1_multiply)(&point1, &CURVE_FN(g1_generator), scalar_a);
    CURVE_FN(g2_multiply)(&point2, &CURVE_FN(g2_generator), scalar_b);
    g1_point_load(p, &point1);
    g2_point_load(q, &point2);
}

static void pair_multiples(struct fq12 *out, uint64_t a, uint64_t b)
{
    struct g1_affine p;
    struct g2_affine q;
    multiply_by_small(&p, &q, a, b);
    CURVE_FN(pairing_product)(out, &p, &q, 1);
}

static void pairing_is_bilinear(void **state)
{
    (void)state;
    struct fq12 e, want, got;
    pair_multiples(&e, 1, 1);
    assert_false(fq12_is_one(&e));
    fq12_set_one(&want);
    for (int i = 0; i < 35; i++)
        fq12_mul(&want, &want, &e);
    pair_multiples(&got, 5, 7);
    assert_true(fq12_equal(&got, &want));
    pair_multiples(&got, 7, 5);
    assert_true(fq12_equal(&got, &want));
    pair_multiples(&got, 35, 1);
    assert_true(fq12_equal(&got, &want));
    pair_multiples(&got, 1, 35);
    assert_true(fq12_equal(&got, &want));
    pair_multiples(&got, 1, 34);
    assert_false(fq12_equal(&got, &want));
}

/* e(3G, 5H) e(-G, 11H) e(-2G, 2H) = 1, and infinity anywhere contributes nothing */
static void products_of_pairings_cancel(void **state)
{
    (void)state;
    struct g1_affine p[4];
    struct g2_affine q[4];
    struct fq12 e;
    multiply_by_small(&p[0], &q[0], 3, 5);
    multiply_by_small(&p[1], &q[1], 1, 11);
    multiply_by_small(&p[2], &q[2], 2, 2);
    g1_affine_neg(&p[1], &p[1]);
    g2_affine_neg(&q[2], &q[2]);
    p[3] = g1_affine_infinity;
    q[3] = q[0];
    CURVE_FN(pairing_product)(&e, p, q, 4);
    assert_true(fq12_is_one(&e));
    p[3] = p[0];
    q[3] = g2_affine_infinity;
    CURVE_FN(pairing_product)(&e, p, q, 4);
    assert_true(fq12_is_one(&e));
    CURVE_FN(pairing_product)(&e, p, q, 2);
    assert_false(fq12_is_one(&e));
    CURVE_FN(pairing_product)(&e, p, q, 0);
    assert_true(fq12_is_one(&e));
}

static void read_fq(struct fq *out, const char *text, const char *key, size_t count)
{
    assert_int_equal(json_numbers(&out->word[0], FQ_LIMBS, count, text, key), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(CURVE_FN(fq_to_montgomery)(out[i].word, out[i].word), 0);
}

static void read_g1(struct g1 *out, const char *text, const char *key)
{
    struct g1_affine p;
    read_fq(&p.x, text, key, 2);
    g1_point_store(out, &p);
    assert_int_equal(CURVE_FN(g1_check)(out), POINT_OK);
}

static void read_g2(struct g2 *out, const char *text, const char *key)
{
    struct g2_affine p;
    read_fq(&p.x.c0, text, key, 4);
    g2_point_store(out, &p);
    assert_int_equal(CURVE_FN(g2_check)(out), POINT_OK);
}

static void statement_read(struct statement *s)
{
    char *vkey = json_read_fixture(FIXTURE "vkey.json");
    char *proof = json_read_fixture(FIXTURE "w1.r12345.s67890.json");
    struct fq ic[PUBLICS + 1][3];
    *s = (struct statement){.key = {.ic = s->ic, .public_count = PUBLICS}};
    read_g1(&s->key.alpha1, vkey, "vk_alpha_1");
    read_g2(&s->key.beta2, vkey, "vk_beta_2");
    read_g2(&s->key.gamma2, vkey, "vk_gamma_2");
    read_g2(&s->key.delta2, vkey, "vk_delta_2");
    read_fq(&ic[0][0], vkey, "IC", 3 * (PUBLICS + 1));
    for (int i = 0; i <= PUBLICS; i++)
        s->ic[i] = (struct g1_affine){ic[i][0], ic[i][1]};
    read_g1(&s->proof.a, proof, "pi_a");
    read_g2(&s->proof.b, proof, "pi_b");
    read_g1(&s->proof.c, proof, "pi_c");
    assert_int_equal(json_numbers(&s->publics[0][0], FR_LIMBS, PUBLICS, proof, "public"), 0);
    free(vkey);
    free(proof);
}

/* By the plain key and by the prepared one, which must agree. */
static int verifies(const struct statement *s)
{
    size_t bytes = CURVE_FN(prepared_key_bytes)(s->key.public_count);
    void *prepared = aligned_alloc(64, (bytes + 63) / 64 * 64);
    int plain = CURVE_FN(proof_verify)(&s->key, &s->publics[0][0], &s->proof);
    assert_non_null(prepared);
    CURVE_FN(prepared_key_make)(prepared, &s->key);
    assert_int_equal(CURVE_FN(prepared_verify)(prepared, &s->publics[0][0], &s->proof), plain);
    free(prepared);
    return plain;
}

static void alphabeta_is_snarkjs_s(void **state)
{
    (void)state;
    struct statement s;
    uint64_t got[12][FQ_LIMBS], want[12][FQ_LIMBS];
    char *vkey = json_read_fixture(FIXTURE "vkey.json");
    statement_read(&s);
    assert_int_equal(json_numbers(&want[0][0], FQ_LIMBS, 12, vkey, "vk_alphabeta_12"), 0);
    CURVE_FN(pairing_alphabeta)(&got[0][0], &s.key.alpha1, &s.key.beta2);
    assert_memory_equal(got, want, sizeof(got));
    free(vkey);
}

static void real_proof_verifies(void **state)
{
    (void)state;
    struct statement s;
    statement_read(&s);
    assert_true(verifies(&s));
}

/* e(A, B) = e(alpha, beta) e(IC_0 + sum, gamma) e(C, delta) with infinities in it: A or B at
 * infinity leave 1 on the left, and publics that cancel IC_0 leave the sum at infinity. */
static void infinities_are_judged(void **state)
{
    (void)state;
    struct statement s;
    statement_read(&s);
    s.proof.a = (struct g1){{0}};
    assert_false(verifies(&s));
    statement_read(&s);
    memset(&s.proof.b, 0, sizeof(s.proof.b));
    assert_false(verifies(&s));
    statement_read(&s);
    memset(s.publics, 0, sizeof(s.publics));
    s.ic[0] = g1_affine_infinity;
    assert_false(verifies(&s));
    /* A = alpha, B = beta, C and the sum at infinity: true for any key */
    s.proof.a = s.key.alpha1;
    s.proof.b = s.key.beta2;
    memset(&s.proof.c, 0, sizeof(s.proof.c));
    assert_true(verifies(&s));
}

/* More publics than get tables: the sum bit by bit must give the same. */
static void many_publics_are_judged_alike(void **state)
{
    (void)state;
    enum { MANY = PREPARED_PUBLICS_MAX + 3 };
    struct statement s;
    static struct g1_affine ic[MANY + 1];
    static uint64_t publics[MANY][FR_LIMBS];
    statement_read(&s);
    memcpy(ic, s.ic, sizeof(s.ic));
    memcpy(publics, s.publics, sizeof(s.publics));
    s.key.ic = ic;
    s.key.public_count = MANY;
    void *prepared = aligned_alloc(64, 1 << 20);
    CURVE_FN(prepared_key_make)(prepared, &s.key);
    assert_true(CURVE_FN(prepared_key_bytes)(MANY) < CURVE_FN(prepared_key_bytes)(1));
    assert_true(CURVE_FN(proof_verify)(&s.key, publics[0], &s.proof));
    assert_true(CURVE_FN(prepared_verify)(prepared, publics[0], &s.proof));
    publics[1][0]++;
    assert_false(CURVE_FN(prepared_verify)(prepared, publics[0], &s.proof));
    free(prepared);
}

static void wrong_publics_are_refused(void **state)
{
    (void)state;
    struct statement s;
    statement_read(&s);
    for (int i = 0; i < PUBLICS; i++) {
        const uint64_t kept = s.publics[i][0];
        s.publics[i][0] ^= 1;
        assert_false(verifies(&s));
        s.publics[i][0] = kept;
    }
    for (int i = 0; i < PUBLICS; i++) { /* the same element of Fr, written as v + r */
        unsigned __int128 carry = 0;
        struct statement t = s;
        t.key.ic = t.ic;
        for (int k = 0; k < FR_LIMBS; k++) {
            carry += (unsigned __int128)t.publics[i][k] + fr_modulus[k];
            t.publics[i][k] = (uint64_t)carry;
            carry >>= 64;
        }
        if (!carry)
            assert_false(verifies(&t));
    }
    assert_true(verifies(&s));
}

static void spoiled_proofs_are_refused(void **state)
{
    (void)state;
    struct statement s, t;
    statement_read(&s);
    t = s;
    CURVE_FN(g1_add)(&t.proof.a, &t.proof.a, &CURVE_FN(g1_generator));
    assert_false(verifies(&t));
    t = s;
    CURVE_FN(g2_add)(&t.proof.b, &t.proof.b, &CURVE_FN(g2_generator));
    assert_false(verifies(&t));
    t = s;
    CURVE_FN(g1_add)(&t.proof.c, &t.proof.c, &CURVE_FN(g1_generator));
    assert_false(verifies(&t));
    t = s;
    t.proof.a = s.proof.c;
    t.proof.c = s.proof.a;
    assert_false(verifies(&t));
    memset(&t.proof, 0, sizeof(t.proof));
    assert_false(verifies(&t));
}

/* The right points plus one of small order: a pairing alone may not see it. */
static void points_outside_are_refused(void **state)
{
    (void)state;
    struct statement s, t;
    statement_read(&s);
    for (unsigned i = 0; i < COUNT(g2_outside); i++) {
        t = s;
        CURVE_FN(g2_add)(&t.proof.b, &t.proof.b, &g2_outside[i]);
        assert_int_equal(CURVE_FN(g2_check)(&t.proof.b), POINT_OK);
        assert_false(verifies(&t));
    }
#if !G1_COFACTOR_IS_ONE
    for (unsigned i = 0; i < COUNT(g1_outside); i++) {
        t = s;
        CURVE_FN(g1_add)(&t.proof.a, &t.proof.a, &g1_outside[i]);
        assert_false(verifies(&t));
        t = s;
        CURVE_FN(g1_add)(&t.proof.c, &t.proof.c, &g1_outside[i]);
        assert_false(verifies(&t));
    }
#endif
}

/* Groth16 proofs are malleable: (A/k, kB, C) proves the same. So this must verify. */
static void equivalent_proof_verifies(void **state)
{
    (void)state;
    struct statement s;
    struct fr inverse = {{97}};
    const uint64_t k[FR_LIMBS] = {97};
    statement_read(&s);
    fr_to_montgomery(&inverse, &inverse);
    fr_inverse(&inverse, &inverse);
    fr_from_montgomery(&inverse, &inverse);
    CURVE_FN(g1_multiply)(&s.proof.a, &s.proof.a, inverse.word);
    CURVE_FN(g2_multiply)(&s.proof.b, &s.proof.b, k);
    assert_true(verifies(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairing_is_bilinear),
        cmocka_unit_test(products_of_pairings_cancel),
        cmocka_unit_test(alphabeta_is_snarkjs_s),
        cmocka_unit_test(real_proof_verifies),
        cmocka_unit_test(wrong_publics_are_refused),
        cmocka_unit_test(spoiled_proofs_are_refused),
        cmocka_unit_test(infinities_are_judged),
        cmocka_unit_test(many_publics_are_judged_alike),
        cmocka_unit_test(points_outside_are_refused),
        cmocka_unit_test(equivalent_proof_verifies),
    };
    if (forms_skip(FORM_NUMBER))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
