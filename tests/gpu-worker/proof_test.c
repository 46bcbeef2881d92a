/*
 * Whole proofs through the CPU device and the finalizer's mathematics: bit-equal to an independent
 * prover's, fresh without fixed blinders, and the right one at fault where a proof does not verify.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/device.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/proof_finish.h"
#include "gpu-worker/proof_json.h"
#include "tests/gpu-worker/cases.h"
#include "tests/gpu-worker/circuit.h"

/* Cancels after so many questions; -1: never. */
struct countdown {
    struct device_watch watch;
    _Atomic int left;
    _Atomic int steps;
};

static void countdown_step(struct device_watch *self, enum worker_stage stage)
{
    (void)stage;
    ((struct countdown *)self)->steps++;
}

static int countdown_cancelled(struct device_watch *self)
{
    struct countdown *countdown = (struct countdown *)self;
    if (countdown->left < 0)
        return 0;
    return countdown->left == 0 || --countdown->left == 0;
}

static struct countdown countdown_of(int left)
{
    return (struct countdown){{.step = countdown_step, .cancelled = countdown_cancelled}, left, 0};
}

/* One circuit on one device, with a slab filled for it. */
struct bench {
    struct circuit circuit;
    struct device *device;
    struct keys *keys;
    struct key *key;
    void *slab;
    uint64_t slab_bytes;
    struct slab_header header;
    struct blinders blinders;
};

static void bench_fill(struct bench *bench, struct filling filling)
{
    uint8_t digest[HASH_BYTES];
    const char *what;
    filling.generation = 1;
    circuit_fill(&bench->circuit, bench->slab, &filling, digest);
    assert_int_equal(slab_check(&bench->header, bench->slab, bench->slab_bytes, &what), 0);
}

static void bench_open(struct bench *bench, const char *folder, unsigned threads)
{
    struct device_settings settings = {.threads = threads};
    const char *why;
    circuit_open(&bench->circuit, folder);
    bench->device = device_open("cpu", &settings, &why);
    assert_non_null(bench->device);
    bench->keys = keys_create();
    assert_int_equal(keys_add(bench->keys, bench->circuit.hash, bench->circuit.image_fd, &why), 0);
    bench->key = keys_hold(bench->keys, bench->circuit.hash);
    assert_non_null(bench->key);
    assert_int_equal(keys_load(bench->keys, bench->key, bench->device), 0);
    bench->slab_bytes = circuit_slab_bytes(&bench->circuit);
    bench->slab = aligned_alloc(4096, bench->slab_bytes);
    assert_non_null(bench->slab);
    memset(bench->slab, 0, bench->slab_bytes);
    assert_int_equal(blinders_parse(&bench->blinders, CIRCUIT_R "," CIRCUIT_S), 0);
    bench_fill(bench, (struct filling){0});
}

static void bench_close(struct bench *bench)
{
    keys_release(bench->keys, bench->key);
    keys_destroy(bench->keys, bench->device);
    bench->device->operations->close(bench->device);
    free(bench->slab);
    circuit_close(&bench->circuit);
}

static const uint64_t *section(const struct bench *bench, const struct slab_section *at)
{
    return at->bytes ? (const uint64_t *)((const char *)bench->slab + at->offset) : NULL;
}

static int bench_sums(struct bench *bench, struct proof_sums *sums, struct countdown *countdown)
{
    struct device_work work = {section(bench, &bench->header.witness),
                               section(bench, &bench->header.rows_a),
                               section(bench, &bench->header.rows_b)};
    struct device_times times = {0};
    int error = bench->device->operations->prove(bench->device, bench->key->loaded, &work,
                                                 &countdown->watch, sums, &times);
    if (!error)
        assert_true(times.msm_ns > 0 && times.ntt_ns > 0);
    return error;
}

static enum proof_verdict bench_finish(struct bench *bench, const struct proof_sums *sums,
                                       struct proof *proof, struct proof_outcome *outcome,
                                       struct countdown *countdown)
{
    struct proof_inputs inputs = {.curve = bench->key->curve,
                                  .image = &bench->key->image,
                                  .key = &bench->key->verification,
                                  .prepared = keys_prepared(bench->key), /* from the second on */
                                  .witness = section(bench, &bench->header.witness),
                                  .blinders = &bench->blinders,
                                  .threads = 2};
    return proof_finish(proof, outcome, &inputs, sums, &countdown->watch);
}

static void assert_proof_expected(struct bench *bench, const struct proof *proof)
{
    char text[PROOF_JSON_BYTES_MAX];
    size_t bytes;
    char *expected = circuit_expected(&bench->circuit);
    proof_json_write(text, bench->key->curve, proof);
    char *publics = proof_json_publics(section(bench, &bench->header.witness) + FR_WORDS,
                                       bench->key->verification.public_count, &bytes);
    assert_int_equal(bytes, strlen(publics));
    if (expected)
        assert_true(circuit_is_expected(expected, text, publics));
    free(publics);
    free(expected);
}

static void sums_must(struct bench *bench, struct proof_sums *sums)
{
    struct countdown never = countdown_of(-1);
    assert_int_equal(bench_sums(bench, sums, &never), 0);
}

/* ---- right proofs ---- */

static void prove_case(const char *folder)
{
    struct bench bench;
    struct proof_sums sums, without_rows;
    struct proof proof;
    struct proof_outcome outcome;
    struct countdown never = countdown_of(-1);
    uint8_t before[HASH_BYTES], after[HASH_BYTES];
    bench_open(&bench, folder, 2);
    circuit_hash(before, bench.slab, bench.slab_bytes);
    sums_must(&bench, &sums);
    for (int k = 0; k < 2; k++) { /* with the plain key, and with the prepared one */
        assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never), PROOF_GOOD);
        assert_int_equal(outcome.device_charged, 0);
        assert_true(outcome.verify_ns > 0);
        assert_proof_expected(&bench, &proof);
    }
    assert_non_null(keys_prepared(bench.key));
    circuit_hash(after, bench.slab, bench.slab_bytes);
    assert_memory_equal(before, after, HASH_BYTES);
    bench_fill(&bench, (struct filling){.without_rows = 1});
    assert_int_equal(bench.header.rows_a.bytes, 0);
    sums_must(&bench, &without_rows);
    assert_memory_equal(&sums, &without_rows, sizeof(sums));
    bench_close(&bench);
}

static void test_proofs_equal_the_reference(void **state)
{
    (void)state;
    cases_each(prove_case);
}

static void test_thread_counts_give_the_same_sums(void **state)
{
    (void)state;
    struct proof_sums first, sums;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        struct bench bench;
        bench_open(&bench, "tests/fixtures/bn128/pos10", threads);
        sums_must(&bench, threads == 1 ? &first : &sums);
        if (threads > 1)
            assert_memory_equal(&first, &sums, sizeof(sums));
        bench_close(&bench);
    }
}

static void test_two_proofs_differ(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/fixtures/bn128/mul2",
                                          "tests/fixtures/bls12381/mul2"};
    for (int i = 0; i < 2; i++) {
        struct bench bench;
        struct proof_sums sums;
        struct proof proof[2];
        struct proof_outcome outcome;
        struct countdown never = countdown_of(-1);
        bench_open(&bench, folders[i], 2);
        sums_must(&bench, &sums);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(blinders_draw(&bench.blinders, bench.key->curve), 0);
            assert_int_equal(bench_finish(&bench, &sums, &proof[k], &outcome, &never), PROOF_GOOD);
        }
        assert_memory_not_equal(&proof[0].a, &proof[1].a, sizeof(proof[0].a));
        assert_memory_not_equal(&proof[0].b, &proof[1].b, sizeof(proof[0].b));
        assert_memory_not_equal(&proof[0].c, &proof[1].c, sizeof(proof[0].c));
        bench_close(&bench);
    }
}

/* ---- a device that errs ---- */

enum { WRONG_KINDS = 8 };

/* 0..4: a bit of each sum, which then is no point; 5..7: another point of the curve. */
static void make_wrong(struct proof_sums *sums, const struct curve *curve, int kind)
{
    switch (kind) {
    case 0:
        sums->a.word[0] ^= 1;
        return;
    case 1:
        sums->b1.word[3] ^= 4;
        return;
    case 2:
        sums->b2.word[5] ^= 2;
        return;
    case 3:
        sums->c.word[2] ^= 8;
        return;
    case 4:
        sums->h.word[1] ^= 1;
        return;
    case 5:
        curve->g1_add(&sums->a, &sums->a, curve->g1_generator);
        return;
    case 6:
        curve->g2_add(&sums->b2, &sums->b2, curve->g2_generator);
        return;
    default:
        curve->g1_add(&sums->h, &sums->h, curve->g1_generator);
    }
}

static void test_wrong_sums_are_made_anew(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/fixtures/bn128/order",
                                          "tests/fixtures/bls12381/mul2"};
    for (int i = 0; i < 2 * WRONG_KINDS; i++) {
        struct bench bench;
        struct proof_sums sums;
        struct proof proof;
        struct proof_outcome outcome;
        struct countdown never = countdown_of(-1);
        bench_open(&bench, folders[i % 2], 2);
        sums_must(&bench, &sums);
        make_wrong(&sums, bench.key->curve, i / 2);
        assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never), PROOF_GOOD);
        assert_int_equal(outcome.device_charged, 1);
        assert_proof_expected(&bench, &proof);
        bench_close(&bench);
    }
}

/* Rows that belong to another witness: the portable form makes them anew. */
static void test_wrong_rows_are_made_anew(void **state)
{
    (void)state;
    struct bench bench;
    struct proof_sums sums;
    struct proof proof;
    struct proof_outcome outcome;
    struct countdown never = countdown_of(-1);
    bench_open(&bench, "tests/fixtures/bn128/mul2", 2);
    ((uint8_t *)bench.slab)[bench.header.rows_a.offset] ^= 1;
    sums_must(&bench, &sums);
    assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never), PROOF_GOOD);
    assert_int_equal(outcome.device_charged, 1);
    assert_proof_expected(&bench, &proof);
    bench_close(&bench);
}

/* ---- an input that errs ---- */

static void refuse_broken(const char *folder, int without_rows, int device_errs)
{
    struct bench bench;
    struct proof_sums sums;
    struct proof proof;
    struct proof_outcome outcome;
    struct countdown never = countdown_of(-1);
    bench_open(&bench, folder, 2);
    bench_fill(&bench, (struct filling){.broken = 1, .without_rows = without_rows});
    sums_must(&bench, &sums);
    if (device_errs)
        make_wrong(&sums, bench.key->curve, 5);
    assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never),
                     device_errs ? PROOF_WRONG : PROOF_UNSATISFIED);
    assert_int_equal(outcome.device_charged, device_errs);
    if (!device_errs)
        assert_string_equal(outcome.why, "witness does not satisfy key");
    assert_non_null(outcome.why);
    bench_close(&bench);
}

static void test_unsatisfied_witness_is_the_inputs_fault(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "tests/fixtures/bn128/mul2", "tests/fixtures/bn128/nopub", "tests/fixtures/bn128/order",
        "tests/fixtures/bn128/pos10", "tests/fixtures/bls12381/mul2"};
    for (int i = 0; i < 5; i++) {
        refuse_broken(folders[i], 0, 0);
        refuse_broken(folders[i], 1, 0);
        refuse_broken(folders[i], 0, 1);
    }
}

/* ---- an image that was damaged on disk ---- */

/* Neither input nor device is blamed; nor is it where the witness is wrong besides. */
static void refuse_damaged(const char *folder, enum image_tag tag, int broken)
{
    struct bench bench;
    struct proof_sums sums;
    struct proof proof;
    struct proof_outcome outcome;
    struct countdown never = countdown_of(-1);
    bench_open(&bench, folder, 2);
    circuit_damage(&bench.circuit, tag);
    bench_fill(&bench, (struct filling){.broken = broken});
    sums_must(&bench, &sums);
    assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never), PROOF_WRONG);
    assert_int_equal(outcome.device_charged, 0);
    assert_int_equal(outcome.image_damaged, 1);
    assert_string_equal(outcome.why, IMAGE_DAMAGED_TEXT);
    circuit_damage(&bench.circuit, tag);
    bench_fill(&bench, (struct filling){.broken = broken});
    sums_must(&bench, &sums);
    assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never),
                     broken ? PROOF_UNSATISFIED : PROOF_GOOD);
    assert_int_equal(outcome.image_damaged, 0);
    bench_close(&bench);
}

static void test_a_damaged_image_is_nobodys_fault(void **state)
{
    (void)state;
    static const enum image_tag tags[] = {IMAGE_IC,        IMAGE_POINTS_A, IMAGE_POINTS_B1,
                                          IMAGE_POINTS_B2, IMAGE_POINTS_C, IMAGE_POINTS_H,
                                          IMAGE_A_VALUE};
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        refuse_damaged("tests/fixtures/bn128/pos10", tags[i], 0);
        refuse_damaged("tests/fixtures/bls12381/mul2", tags[i], 1);
    }
}

static void test_public_above_the_order_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct proof_sums sums;
    struct proof proof;
    struct proof_outcome outcome;
    struct countdown never = countdown_of(-1);
    bench_open(&bench, "tests/fixtures/bn128/mul2", 1);
    sums_must(&bench, &sums);
    memset((uint8_t *)bench.slab + bench.header.witness.offset + 32, 0xff, 32);
    assert_int_equal(bench_finish(&bench, &sums, &proof, &outcome, &never), PROOF_WRONG);
    bench_close(&bench);
}

/* ---- cancelling ---- */

/* Cancelled at the n-th question, n = 1, 2, ... until a run passes; then all is as before. */
static void test_cancel_at_every_question_of_the_device(void **state)
{
    (void)state;
    struct bench bench;
    struct proof_sums expected, sums;
    int error, left = 0;
    bench_open(&bench, "tests/fixtures/bn128/order", 2);
    sums_must(&bench, &expected);
    do {
        struct countdown countdown = countdown_of(++left);
        error = bench_sums(&bench, &sums, &countdown);
        assert_true(error == 0 || error == -ECANCELED);
        assert_true(countdown.left > 0 || error == -ECANCELED);
    } while (error);
    assert_true(left > 5);
    assert_memory_equal(&sums, &expected, sizeof(sums));
    bench_close(&bench);
}

static void test_cancel_at_every_question_of_the_finish(void **state)
{
    (void)state;
    struct bench bench;
    struct proof_sums sums;
    struct proof proof;
    struct proof_outcome outcome;
    enum proof_verdict verdict;
    int left = 0;
    bench_open(&bench, "tests/fixtures/bn128/mul2", 2);
    sums_must(&bench, &sums);
    make_wrong(&sums, bench.key->curve, 7); /* the long way */
    do {
        struct countdown countdown = countdown_of(++left);
        verdict = bench_finish(&bench, &sums, &proof, &outcome, &countdown);
        assert_true(verdict == PROOF_GOOD || verdict == PROOF_CANCELLED);
    } while (verdict == PROOF_CANCELLED);
    assert_true(left > 5);
    assert_proof_expected(&bench, &proof);
    bench_close(&bench);
}

/* ---- scratch ---- */

static void test_scratch_grows_with_keys_and_not_with_proofs(void **state)
{
    (void)state;
    struct bench bench;
    struct circuit large;
    struct device_description before, after;
    struct proof_sums sums;
    const char *what;
    bench_open(&bench, "tests/fixtures/bn128/mul2", 2);
    circuit_open(&large, "tests/fixtures/bn128/pos10");
    bench.device->operations->describe(bench.device, &before);
    assert_true(before.scratch_bytes > 0);
    sums_must(&bench, &sums);
    bench.device->operations->describe(bench.device, &after);
    assert_int_equal(before.scratch_bytes, after.scratch_bytes);
    assert_int_equal(keys_add(bench.keys, large.hash, large.image_fd, &what), 0);
    struct key *key = keys_hold(bench.keys, large.hash);
    assert_int_equal(keys_load(bench.keys, key, bench.device), 0);
    bench.device->operations->describe(bench.device, &after);
    assert_true(after.scratch_bytes > before.scratch_bytes);
    sums_must(&bench, &sums);
    keys_release(bench.keys, key);
    keys_forget(bench.keys, large.hash);
    keys_sweep(bench.keys, bench.device);
    bench.device->operations->describe(bench.device, &after);
    assert_int_equal(after.keys_bytes, before.keys_bytes);
    sums_must(&bench, &sums);
    circuit_close(&large);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proofs_equal_the_reference),
        cmocka_unit_test(test_thread_counts_give_the_same_sums),
        cmocka_unit_test(test_two_proofs_differ),
        cmocka_unit_test(test_wrong_sums_are_made_anew),
        cmocka_unit_test(test_wrong_rows_are_made_anew),
        cmocka_unit_test(test_unsatisfied_witness_is_the_inputs_fault),
        cmocka_unit_test(test_a_damaged_image_is_nobodys_fault),
        cmocka_unit_test(test_public_above_the_order_is_refused),
        cmocka_unit_test(test_cancel_at_every_question_of_the_device),
        cmocka_unit_test(test_cancel_at_every_question_of_the_finish),
        cmocka_unit_test(test_scratch_grows_with_keys_and_not_with_proofs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
