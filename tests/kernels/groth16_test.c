/*
 * Whole proofs of the shipped cases, from a zkey and a witness through rows, quotient, sums and
 * assembly: equal, bit for bit, to those of an independent prover with the same blinders, and
 * accepted by the pairing check, which refuses others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/files.h"
#include "tests/support/scalars.h"
#include "tests/support/threads.h"

enum { RECORD_BYTES = 44, SCRATCH_ALIGN = 64 };

static const uint64_t blinder_r[FR_WORDS] = {12345}, blinder_s[FR_WORDS] = {67890};

struct key {
    const struct curve *curve;
    struct file_sections file, witness_file;
    uint32_t wires, publics, domain;
    unsigned log2;
    struct verification_key vk;
    const uint64_t *witness;
};

static void *memory_new(size_t bytes)
{
    void *out =
        aligned_alloc(SCRATCH_ALIGN, (bytes + SCRATCH_ALIGN) / SCRATCH_ALIGN * SCRATCH_ALIGN);
    assert_non_null(out);
    return out;
}

static const unsigned char *point_take(void *out, const unsigned char *at, size_t bytes)
{
    memcpy(out, at, bytes);
    return at + bytes;
}

/* Section 2 after the two moduli: counts, then alpha1, beta1, beta2, gamma2, delta1, delta2. */
static void key_header_read(struct key *key)
{
    const struct curve *curve = key->curve;
    const unsigned char *at = key->file.section[2];
    at += 4 + curve->fq_bytes + 4 + 8 * FR_WORDS;
    memcpy(&key->wires, at, 4);
    memcpy(&key->publics, at + 4, 4);
    memcpy(&key->domain, at + 8, 4);
    at = point_take(&key->vk.alpha1, at + 12, curve->g1_bytes);
    at = point_take(&key->vk.beta1, at, curve->g1_bytes);
    at = point_take(&key->vk.beta2, at, curve->g2_bytes);
    at = point_take(&key->vk.gamma2, at, curve->g2_bytes);
    at = point_take(&key->vk.delta1, at, curve->g1_bytes);
    point_take(&key->vk.delta2, at, curve->g2_bytes);
    key->vk.ic = key->file.section[3];
    key->vk.public_count = key->publics;
    key->log2 = (unsigned)__builtin_ctz(key->domain);
}

static void key_read(struct key *key, const struct curve *curve, const char *folder,
                     const char *witness)
{
    memset(key, 0, sizeof(*key));
    key->curve = curve;
    sections_read(&key->file, folder, "key.zkey");
    sections_read(&key->witness_file, folder, witness);
    key_header_read(key);
    key->witness = key->witness_file.section[2];
    assert_int_equal(key->witness_file.bytes[2], 32 * (uint64_t)key->wires);
}

static void key_free(struct key *key)
{
    sections_free(&key->file);
    sections_free(&key->witness_file);
}

/* Row values of matrix 0 (A) or 1 (B): a stable sort of section 4 by row, and the kernel over it.
 */
static uint64_t *key_rows(const struct key *key, uint32_t matrix)
{
    const unsigned char *record = (const unsigned char *)key->file.section[4] + 4;
    size_t count = (key->file.bytes[4] - 4) / RECORD_BYTES;
    uint32_t *row_start = calloc(key->domain + 2, sizeof(*row_start));
    uint32_t *wire = calloc(count + 1, sizeof(*wire));
    uint64_t(*value)[FR_WORDS] = calloc(count + 1, sizeof(*value));
    uint64_t *out = memory_new(32 * (size_t)key->domain);
    uint32_t head[3];
    for (size_t i = 0; i < count; i++) {
        memcpy(head, record + RECORD_BYTES * i, sizeof(head));
        if (head[0] == matrix)
            row_start[head[1] + 2]++;
    }
    for (uint32_t row = 0; row < key->domain; row++)
        row_start[row + 2] += row_start[row + 1];
    for (size_t i = 0; i < count; i++) {
        memcpy(head, record + RECORD_BYTES * i, sizeof(head));
        if (head[0] != matrix)
            continue;
        uint32_t at = row_start[head[1] + 1]++;
        wire[at] = head[2];
        memcpy(value[at], record + RECORD_BYTES * i + 12, sizeof(*value));
        key->curve->fr_from_montgomery(value[at], value[at]);
    }
    struct sparse_matrix sparse = {
        .rows = key->domain, .row_start = row_start, .wire = wire, .value = (const void *)value};
    key->curve->rows_evaluate(out, &sparse, key->witness, 0, key->domain);
    free(row_start);
    free(wire);
    free(value);
    return out;
}

/* The scalars of H; free(3) it. */
static uint64_t *key_quotient(const struct key *key, struct parallel *parallel)
{
    uint64_t *a = key_rows(key, 0), *b = key_rows(key, 1);
    uint64_t *c = memory_new(32 * (size_t)key->domain);
    void *table = memory_new(key->curve->ntt_table_bytes(key->log2));
    key->curve->ntt_table_make(table, key->log2, parallel);
    assert_int_equal(key->curve->quotient(a, b, c, key->log2, table, parallel), 0);
    free(b);
    free(c);
    free(table);
    return a;
}

static void key_sum(const struct key *key, struct g1 *out, int section, const uint64_t *scalars,
                    size_t count, struct parallel *parallel)
{
    void *scratch = memory_new(key->curve->msm_scratch_bytes(GROUP_G1, count, parallel->threads));
    assert_int_equal(key->file.bytes[section], count * key->curve->g1_bytes);
    assert_int_equal(
        key->curve->msm_g1(out, key->file.section[section], scalars, count, scratch, parallel), 0);
    free(scratch);
}

/* The same proof, and the same verdict on it, by a prepared key. */
static void expect_prepared_agrees(const struct key *key, const struct proof_sums *sums,
                                   const struct proof *proof)
{
    const struct curve *curve = key->curve;
    const uint64_t *publics = key->witness + FR_WORDS;
    struct proof got;
    void *prepared = memory_new(curve->prepared_key_bytes(key->publics));
    curve->prepared_key_make(prepared, &key->vk);
    curve->prepared_assemble(&got, sums, prepared, blinder_r, blinder_s);
    assert_memory_equal(&got, proof, sizeof(got));
    assert_int_equal(curve->prepared_verify(prepared, publics, proof),
                     curve->proof_verify(&key->vk, publics, proof));
    free(prepared);
}

static void key_prove(const struct key *key, struct proof *proof, struct parallel *parallel)
{
    struct proof_sums sums;
    uint32_t first_private = key->publics + 1;
    uint64_t *h = key_quotient(key, parallel);
    void *scratch =
        memory_new(key->curve->msm_scratch_bytes(GROUP_G2, key->wires, parallel->threads));
    key_sum(key, &sums.a, 5, key->witness, key->wires, parallel);
    key_sum(key, &sums.b1, 6, key->witness, key->wires, parallel);
    key_sum(key, &sums.c, 8, key->witness + FR_WORDS * (size_t)first_private,
            key->wires - first_private, parallel);
    key_sum(key, &sums.h, 9, h, key->domain, parallel);
    assert_int_equal(key->curve->msm_g2(&sums.b2, key->file.section[7], key->witness, key->wires,
                                        scratch, parallel),
                     0);
    key->curve->proof_assemble(proof, &sums, &key->vk, blinder_r, blinder_s);
    expect_prepared_agrees(key, &sums, proof);
    free(scratch);
    free(h);
}

static void expect_coordinates(const struct curve *curve, const uint64_t *got, unsigned count,
                               const char *json, unsigned first)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t want[FQ_WORDS_MAX], plain[FQ_WORDS_MAX];
        assert_true(json_number(json, first + i, want, curve->fq_bytes / 8));
        curve->fq_from_montgomery(plain, got + i * (curve->fq_bytes / 8));
        assert_memory_equal(plain, want, curve->fq_bytes);
    }
}

/* pi_a has 3 numbers (the last "1"), pi_b 6, pi_c 3; then the publics. */
static void expect_proof(const struct key *key, const struct proof *proof, const char *folder)
{
    size_t bytes;
    char *json = (char *)file_read(folder, "w1.r12345.s67890.json", &bytes);
    expect_coordinates(key->curve, proof->a.word, 2, json, 0);
    expect_coordinates(key->curve, proof->b.word, 4, json, 3);
    expect_coordinates(key->curve, proof->c.word, 2, json, 9);
    for (uint32_t i = 0; i < key->publics; i++) {
        uint64_t want[FR_WORDS];
        assert_true(json_number(json, 12 + i, want, FR_WORDS));
        assert_memory_equal(want, key->witness + FR_WORDS * (size_t)(1 + i), sizeof(want));
    }
    free(json);
}

static void expect_verdicts(const struct key *key, const struct proof *proof)
{
    const struct curve *curve = key->curve;
    const uint64_t *publics = key->witness + FR_WORDS;
    struct proof wrong = *proof;
    assert_int_equal(curve->proof_verify(&key->vk, publics, proof), 1);
    curve->g1_add(&wrong.c, &wrong.c, curve->g1_generator);
    assert_int_equal(curve->proof_verify(&key->vk, publics, &wrong), 0);
    wrong = *proof;
    curve->g1_add(&wrong.a, &wrong.a, &key->vk.delta1);
    assert_int_equal(curve->proof_verify(&key->vk, publics, &wrong), 0);
}

static const struct proof_case {
    uint32_t curve;
    const char *folder;
} cases[] = {
    {CURVE_BN254, "tests/fixtures/bn128/mul2"},
    {CURVE_BN254, "tests/fixtures/bn128/nopub"},
    {CURVE_BN254, "tests/fixtures/bn128/noconstr"},
    {CURVE_BN254, "tests/fixtures/bn128/order"},
    {CURVE_BN254, "tests/fixtures/bn128/pos10"},
    {CURVE_BLS12381, "tests/fixtures/bls12381/mul2"},
    {CURVE_BLS12381, "tests/fixtures/bls12381/pos10"},
};

static void check_case(const struct proof_case *at, enum cpu_form form, unsigned threads)
{
    struct parallel parallel = threads_make(threads);
    struct key key;
    struct proof proof;
    key_read(&key, curve_in_form(at->curve, form), at->folder, "w1.wtns");
    key_prove(&key, &proof, &parallel);
    expect_proof(&key, &proof, at->folder);
    expect_verdicts(&key, &proof);
    key_free(&key);
}

/* In every form that this machine has. */
static void proofs_equal_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (enum cpu_form form = FORM_PORTABLE; form < FORM_COUNT; form++)
            if (cpu_form_available(form))
                check_case(&cases[i], form, 1 + (unsigned)i % 3);
}

/* A witness that breaks a constraint gives a proof that is none. */
static void unsatisfied_witness_is_refused(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        struct key key;
        struct proof proof;
        key_read(&key, curve_by_id(id),
                 id == CURVE_BN254 ? "tests/fixtures/bn128/mul2" : "tests/fixtures/bls12381/mul2",
                 "w1.wtns");
        ((uint64_t *)key.witness_file.section[2])[FR_WORDS * (key.wires - 1)] ^= 1;
        key_prove(&key, &proof, &parallel_serial);
        assert_int_equal(key.curve->proof_verify(&key.vk, key.witness + FR_WORDS, &proof), 0);
        key_free(&key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_equal_reference),
        cmocka_unit_test(unsatisfied_witness_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
