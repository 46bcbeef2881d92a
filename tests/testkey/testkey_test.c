/*
 * The test key maker: its circuits are satisfied by their witnesses and have the shares of real
 * ones, its scalars fulfil Groth16's equation, its points are those multiples of the generators.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/threads.h"
#include "tests/testkey/fixed_base.h"
#include "tests/testkey/profiles.h"
#include "tests/testkey/setup.h"

typedef void profile_make(struct circuit *, const struct curve *, unsigned, uint64_t);
static profile_make *const profiles[] = {profile_dense_make, profile_bits_make};

/* Of pos15 and sha256_55, see the cases' table: terms a constraint, and shares of the wires. */
static const struct shares {
    double terms_a, terms_b, unused_a, unused_b, zeros, ones;
} real[] = {
    {53335.0 / 32160, 74504.0 / 32160, 268.0 / 32163, 10989.0 / 32163, 0, 0},
    {80050.0 / 30165, 43574.0 / 30165, 10645.0 / 29854, 18958.0 / 29854, 16863.0 / 29854,
     12989.0 / 29854},
};

static void *memory_new(size_t bytes)
{
    void *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
    assert_non_null(out);
    memset(out, 0, bytes);
    return out;
}

static struct scalar *witness_new(const struct circuit *circuit, uint64_t seed)
{
    struct scalar *witness = memory_new(circuit->wires * sizeof(*witness));
    circuit_make_witness(circuit, witness, seed);
    return witness;
}

/* ---- circuits ---- */

static struct scalar row_sum(const struct circuit *circuit, int side, uint32_t row,
                             const struct scalar *witness)
{
    const struct matrix *matrix = &circuit->side[side];
    struct scalar sum = {{0}};
    for (uint32_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
        assert_in_range(matrix->term[i].wire, 0, circuit->wires - 1);
        struct scalar value =
            scalar_mul(circuit->curve, &circuit->pool[matrix->term[i].coefficient],
                       &witness[matrix->term[i].wire]);
        sum = scalar_add(circuit->curve, &sum, &value);
    }
    return sum;
}

static void expect_satisfied(const struct circuit *circuit, const struct scalar *witness)
{
    for (uint32_t row = 0; row < circuit->constraints; row++) {
        struct scalar a = row_sum(circuit, SIDE_A, row, witness);
        struct scalar b = row_sum(circuit, SIDE_B, row, witness);
        struct scalar c = row_sum(circuit, SIDE_C, row, witness);
        a = scalar_mul(circuit->curve, &a, &b);
        assert_true(scalar_equal(&a, &c));
    }
}

/* No wire twice in a combination: some readers sum, others take the last. */
static void expect_no_wire_twice(const struct circuit *circuit)
{
    uint32_t *seen = memory_new(circuit->wires * sizeof(*seen)), stamp = 0;
    for (int side = 0; side < SIDES; side++) {
        const struct matrix *matrix = &circuit->side[side];
        for (uint32_t row = 0; row < circuit->constraints; row++) {
            stamp++;
            for (uint32_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
                assert_int_not_equal(seen[matrix->term[i].wire], stamp);
                seen[matrix->term[i].wire] = stamp;
            }
        }
    }
    free(seen);
}

static void circuits_are_satisfied(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (unsigned i = 0; i < 2 * (12 - LOG2_MIN); i++) {
            unsigned log2 = LOG2_MIN + i / 2;
            struct circuit circuit;
            profiles[i % 2](&circuit, curve_by_id(id), log2, 5 + i);
            struct scalar *first = witness_new(&circuit, 1), *second = witness_new(&circuit, 2);
            expect_satisfied(&circuit, first);
            expect_satisfied(&circuit, second);
            assert_memory_not_equal(first, second, circuit.wires * sizeof(*first));
            expect_no_wire_twice(&circuit);
            /* snarkjs's domain is 2^log2, and the rows of the publics fit */
            assert_in_range(circuit.constraints + circuit.publics, (uint64_t)1 << (log2 - 1),
                            ((uint64_t)1 << log2) - 1);
            free(first);
            free(second);
            circuit_free(&circuit);
        }
    }
}

/* ---- shares ---- */

static double unused_share(const struct circuit *circuit, int side)
{
    unsigned char *used = memory_new(circuit->wires);
    uint32_t count = 0;
    for (size_t i = 0; i < circuit->side[side].count; i++)
        used[circuit->side[side].term[i].wire] = 1;
    for (uint32_t wire = 0; side == SIDE_A && wire <= circuit->publics; wire++)
        used[wire] = 1;
    for (uint32_t wire = 0; wire < circuit->wires; wire++)
        count += used[wire] == 0;
    free(used);
    return (double)count / circuit->wires;
}

static double value_share(const struct circuit *circuit, const struct scalar *witness,
                          uint64_t small)
{
    const struct scalar value = scalar_from(circuit->curve, small);
    uint32_t count = 0;
    for (uint32_t wire = 0; wire < circuit->wires; wire++)
        count += (uint32_t)scalar_equal(&witness[wire], &value);
    return (double)count / circuit->wires;
}

/* Within 5 %, or a single wire where that is more. */
static void expect_share(const struct circuit *circuit, double got, double want)
{
    double allowed = 0.05 * want, one = 1.01 / circuit->wires;
    assert_true(fabs(got - want) <= (allowed > one ? allowed : one));
}

static void shares_are_as_measured(void **state)
{
    (void)state;
    static const unsigned sizes[] = {8, 10, 13, 15};
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
        const struct shares *want = &real[i % 2];
        unsigned log2 = sizes[i / 2];
        struct circuit circuit;
        profiles[i % 2](&circuit, curve_by_id(CURVE_BN254), log2, 100 + i);
        struct scalar *witness = witness_new(&circuit, 3);
        uint32_t extra = circuit.publics + 1; /* the publics' rows, of A */
        expect_share(&circuit, ((double)circuit.side[SIDE_A].count + extra) / circuit.constraints,
                     want->terms_a);
        expect_share(&circuit, (double)circuit.side[SIDE_B].count / circuit.constraints,
                     want->terms_b);
        expect_share(&circuit, unused_share(&circuit, SIDE_A), want->unused_a);
        expect_share(&circuit, unused_share(&circuit, SIDE_B), want->unused_b);
        if (log2 >= 13) { /* below, main.c picks a witness */
            expect_share(&circuit, value_share(&circuit, witness, 0), want->zeros);
            expect_share(&circuit, value_share(&circuit, witness, 1), want->ones);
        }
        free(witness);
        circuit_free(&circuit);
    }
}

/* ---- scalars of a key ---- */

static uint64_t *side_rows(const struct circuit *circuit, int side, const struct scalar *plain,
                           unsigned log2)
{
    const struct matrix *matrix = &circuit->side[side];
    size_t domain = (size_t)1 << log2;
    uint32_t *wire = memory_new(matrix->count * sizeof(*wire));
    uint64_t(*value)[FR_WORDS] = memory_new(matrix->count * sizeof(*value));
    uint64_t *out = memory_new(domain * sizeof(struct scalar));
    for (size_t i = 0; i < matrix->count; i++) {
        wire[i] = matrix->term[i].wire;
        memcpy(value[i], &circuit->pool[matrix->term[i].coefficient], sizeof(*value));
    }
    struct sparse_matrix sparse = {.rows = circuit->constraints,
                                   .row_start = matrix->row_start,
                                   .wire = wire,
                                   .value = (const void *)value};
    circuit->curve->rows_evaluate(out, &sparse, plain->word, 0, domain);
    for (uint32_t i = 0; side == SIDE_A && i <= circuit->publics; i++)
        circuit->curve->fr_to_montgomery(out + FR_WORDS * (size_t)(circuit->constraints + i),
                                         plain[i].word);
    free(wire);
    free(value);
    return out;
}

/* sum of plain * plain, Montgomery */
static struct scalar plain_dot(const struct curve *curve, const struct scalar *a,
                               const struct scalar *b, size_t count)
{
    struct scalar sum = {{0}};
    for (size_t i = 0; i < count; i++) {
        struct scalar factor = a[i], term;
        curve->fr_to_montgomery(factor.word, factor.word);
        term = scalar_mul(curve, &factor, &b[i]);
        sum = scalar_add(curve, &sum, &term);
    }
    curve->fr_to_montgomery(sum.word, sum.word);
    return sum;
}

/* (alpha + sum a w)(beta + sum b w) = alpha beta + sum of public k w + delta (sum of private k w +
 * sum h_i H_i) */
static void expect_equation(const struct circuit *circuit, const struct setup *setup,
                            const struct scalar *w, const struct scalar *h)
{
    const struct curve *curve = circuit->curve;
    size_t publics = circuit->publics + 1, n = (size_t)1 << setup->log2;
    struct scalar alpha, beta, delta;
    curve->fr_to_montgomery(alpha.word, setup->alpha.word);
    curve->fr_to_montgomery(beta.word, setup->beta.word);
    curve->fr_to_montgomery(delta.word, setup->delta.word);
    struct scalar a = plain_dot(curve, setup->a, w, circuit->wires);
    struct scalar b = plain_dot(curve, setup->b, w, circuit->wires);
    struct scalar open = plain_dot(curve, setup->k, w, publics);
    struct scalar c = plain_dot(curve, setup->k + publics, w + publics, circuit->wires - publics);
    struct scalar quotient = plain_dot(curve, setup->h, h, n);
    a = scalar_add(curve, &a, &alpha);
    b = scalar_add(curve, &b, &beta);
    struct scalar left = scalar_mul(curve, &a, &b), right = scalar_mul(curve, &alpha, &beta);
    c = scalar_add(curve, &c, &quotient);
    c = scalar_mul(curve, &c, &delta);
    right = scalar_add(curve, &right, &open);
    right = scalar_add(curve, &right, &c);
    assert_true(scalar_equal(&left, &right));
}

static void check_setup(uint32_t id, profile_make *profile, unsigned log2)
{
    struct parallel parallel = threads_make(2);
    struct circuit circuit;
    struct setup setup;
    profile(&circuit, curve_by_id(id), log2, 77);
    const struct curve *curve = circuit.curve;
    struct scalar *w = witness_new(&circuit, 9);
    for (uint32_t i = 0; i < circuit.wires; i++)
        w[i] = scalar_plain(curve, &w[i]);
    uint64_t *a = side_rows(&circuit, SIDE_A, w, log2), *b = side_rows(&circuit, SIDE_B, w, log2);
    uint64_t *c = memory_new(sizeof(struct scalar) << log2);
    void *table = memory_new(curve->ntt_table_bytes(log2));
    curve->ntt_table_make(table, log2, &parallel);
    assert_int_equal(curve->quotient(a, b, c, log2, table, &parallel), 0);
    setup_make(&setup, &circuit, log2, 123, &parallel);
    expect_equation(&circuit, &setup, w, (const struct scalar *)a);
    setup_free(&setup);
    circuit_free(&circuit);
    free(w);
    free(a);
    free(b);
    free(c);
    free(table);
}

static void scalars_fulfil_equation(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (int i = 0; i < 2; i++) {
            check_setup(id, profiles[i], 5);
            check_setup(id, profiles[i], 11);
        }
    }
}

/* ---- points ---- */

static void expect_multiples(const struct curve *curve, const struct fixed_base *base,
                             enum group group)
{
    enum { COUNT = 40 };
    struct parallel parallel = threads_make(3);
    struct scalar scalars[COUNT] = {{{0}}, {{1}}, {{2}}, {{3}}}, one = {{1}};
    size_t bytes = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    unsigned char *points = memory_new(COUNT * bytes);
    uint64_t state = 4;
    words_subtract(scalars[4].word, curve->fr_modulus, one.word);
    for (int i = 5; i < COUNT; i++)
        scalars[i] = scalar_random(curve, &state);
    base->multiply(base, points, scalars->word, COUNT, &parallel);
    for (int i = 0; i < COUNT; i++) {
        struct g1 g1;
        struct g2 g2;
        curve->g1_multiply(&g1, curve->g1_generator, scalars[i].word);
        curve->g2_multiply(&g2, curve->g2_generator, scalars[i].word);
        assert_memory_equal(points + (size_t)i * bytes, group == GROUP_G1 ? g1.word : g2.word,
                            bytes);
    }
    free(points);
}

static void points_are_multiples(void **state)
{
    (void)state;
    struct parallel parallel = threads_make(2);
    static void (*const make[])(struct fixed_base *, size_t, struct parallel *) = {
        bn254_fixed_base_g1, bn254_fixed_base_g2, bls12381_fixed_base_g1, bls12381_fixed_base_g2};
    static const size_t counts[] = {1, 100, 10000};
    for (int i = 0; i < 12; i++) {
        struct fixed_base base;
        make[i % 4](&base, counts[i / 4], &parallel);
        expect_multiples(curve_by_id(i % 4 < 2 ? CURVE_BN254 : CURVE_BLS12381), &base,
                         i % 2 ? GROUP_G2 : GROUP_G1);
        free(base.table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits_are_satisfied),
        cmocka_unit_test(shares_are_as_measured),
        cmocka_unit_test(scalars_fulfil_equation),
        cmocka_unit_test(points_are_multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
