/*
 * The quotient and its table on the software device, bit for bit against the C form's; and how
 * domains of all sizes are cut into launches.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernels/ntt/ntt_cuda.h"
#include "kernels/ntt/ntt_kernels_cuda.h"
#include "kernels/parallel.h"
#include "tests/kernels/cuda_memory.h"
#include "tests/support/scalars.h"

enum { LOG2_MOST = 12, SIZE_MOST = 1 << LOG2_MOST, LOG2_SMALL = 7 };
enum filling { RANDOM, LARGEST, ZERO, FILLINGS };

static struct scalar a[SIZE_MOST], b[SIZE_MOST], want[SIZE_MOST], got[SIZE_MOST];
static struct scalar work_b[SIZE_MOST], work_c[SIZE_MOST];
static _Alignas(64) struct scalar host_table[SIZE_MOST];

static void rows_fill(const struct curve *curve, unsigned log2, enum filling filling)
{
    uint64_t state = log2;
    struct scalar largest;
    memcpy(&largest, curve->fr_modulus, sizeof(largest));
    largest.word[0]--;
    for (size_t i = 0; i < (size_t)1 << log2; i++) {
        a[i] = filling == RANDOM ? scalar_random(curve, &state) : largest;
        b[i] = filling == RANDOM ? scalar_random(curve, &state) : largest;
        if (filling == ZERO)
            a[i] = b[i] = (struct scalar){{0}};
    }
}

static void want_make(const struct curve *curve, unsigned log2)
{
    const size_t bytes = sizeof(*a) << log2;
    memcpy(want, a, bytes);
    memcpy(work_b, b, bytes);
    curve->ntt_table_make(host_table, log2, &parallel_serial);
    assert_int_equal(
        curve->quotient(want->word, work_b->word, work_c->word, log2, host_table, &parallel_serial),
        0);
}

static gpu_pointer table_new(struct soft_queue *queue, unsigned log2)
{
    gpu_pointer table = soft_queue_allocate(queue, ntt_cuda_table_bytes(log2));
    assert_int_equal(ntt_cuda_table_make(&queue->queue, table, log2), 0);
    return table;
}

/* The rows in a and b, on the device; `c` is memory that nobody has written. */
static void got_make(struct soft_queue *queue, unsigned log2)
{
    const size_t bytes = sizeof(*a) << log2;
    gpu_pointer table = table_new(queue, log2), c = soft_queue_allocate(queue, bytes);
    gpu_pointer at[] = {cuda_upload(queue, a, bytes), cuda_upload(queue, b, bytes), c, table};
    assert_int_equal(ntt_cuda_quotient(&queue->queue, at[0], at[1], c, log2, table), 0);
    soft_queue_read(queue, got, at[0], bytes);
    for (int i = 0; i < 4; i++)
        soft_queue_free(queue, at[i]);
}

static void check_quotient(struct soft_queue *queue, const struct curve *curve, unsigned log2,
                           enum filling filling)
{
    rows_fill(curve, log2, filling);
    want_make(curve, log2);
    got_make(queue, log2);
    assert_memory_equal(got, want, sizeof(*got) << log2);
}

static void quotient_equals_c(void **unused)
{
    (void)unused;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        struct soft_queue *queue = soft_queue_open(cuda_curve_name(id), id);
        for (unsigned log2 = 1; log2 <= LOG2_MOST; log2++)
            check_quotient(queue, curve_portable(id), log2, RANDOM);
        for (int filling = RANDOM; filling < FILLINGS; filling++)
            check_quotient(queue, curve_portable(id), 6, filling);
        soft_queue_close(queue);
    }
}

/* Little shared memory makes small tiles: several passes of every kind, of one row of columns, of
 * one column, of depths that differ. */
static void quotient_in_many_passes(void **unused)
{
    (void)unused;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        struct soft_queue *queue = soft_queue_open(cuda_curve_name(id), 10 + id);
        for (uint32_t bytes = 192; bytes <= 3072; bytes *= 2) {
            queue->queue.shared_bytes_most = bytes + 64;
            for (unsigned log2 = 1; log2 <= LOG2_SMALL; log2++)
                check_quotient(queue, curve_portable(id), log2, RANDOM);
        }
        soft_queue_close(queue);
    }
}

/* Whatever order lanes, warps and blocks run in, and however many threads share a tile. */
static void quotient_any_order_same(void **unused)
{
    (void)unused;
    for (uint64_t seed = 100; seed < 104; seed++) {
        struct soft_queue *queue = soft_queue_open("bn254", seed);
        queue->queue.multiprocessors = seed % 2 ? 1 : 1000;
        queue->queue.shared_bytes_most = 768;
        for (unsigned log2 = 2; log2 <= LOG2_SMALL; log2++)
            check_quotient(queue, curve_portable(CURVE_BN254), log2, RANDOM);
        soft_queue_close(queue);
    }
}

/* A pass as plans make them for large domains only: the largest tile, the most threads. */
static int pass_launch(struct soft_queue *queue, const char *kernel,
                       struct ntt_pass_arguments arguments, uint32_t threads)
{
    const uint32_t log2_tile = arguments.depth + arguments.log2_columns;
    const struct gpu_launch launch = {.kernel = kernel,
                                      .blocks = 1u << (arguments.log2_domain - log2_tile),
                                      .threads = threads,
                                      .shared_bytes = 96u << log2_tile,
                                      .arguments = &arguments,
                                      .argument_bytes = sizeof(arguments)};
    return queue->queue.launch(&queue->queue, &launch);
}

static void quotient_by_largest_tiles(void **unused)
{
    (void)unused;
    enum { LOG2 = 12, TILE = 11 };
    const struct curve *curve = curve_portable(CURVE_BLS12381);
    struct soft_queue *queue = soft_queue_open("bls12381", 30);
    const size_t bytes = sizeof(*a) << LOG2;
    rows_fill(curve, LOG2, RANDOM);
    want_make(curve, LOG2);
    struct ntt_pass_arguments upper = {.array = {cuda_upload(queue, a, bytes),
                                                 cuda_upload(queue, b, bytes),
                                                 soft_queue_allocate(queue, bytes)},
                                       .table = table_new(queue, LOG2),
                                       .log2_domain = LOG2,
                                       .depth = LOG2 - TILE,
                                       .log2_columns = 2 * TILE - LOG2};
    struct ntt_pass_arguments middle = upper;
    middle.level = LOG2 - TILE;
    middle.depth = TILE;
    middle.log2_columns = 0;
    assert_int_equal(pass_launch(queue, "ntt_forward", upper, NTT_THREADS_MOST), 0);
    assert_int_equal(pass_launch(queue, "ntt_middle", middle, NTT_THREADS_MOST), 0);
    assert_int_equal(pass_launch(queue, "ntt_backward", upper, 96), 0);
    soft_queue_read(queue, got, upper.array[0], bytes);
    assert_memory_equal(got, want, bytes);
    soft_queue_close(queue);
}

static void check_table(struct soft_queue *queue, const struct curve *curve, unsigned log2)
{
    const size_t n = (size_t)1 << log2;
    struct scalar size = scalar_from(curve, n), inverse = scalar_inverse(curve, &size);
    struct scalar plain = scalar_plain(curve, &inverse), after[NTT_AFTER_ROOTS];
    gpu_pointer table = table_new(queue, log2);
    soft_queue_read(queue, got, table, n * sizeof(*got));
    soft_queue_read(queue, after, table + n * sizeof(*got), sizeof(after));
    curve->ntt_table_make(host_table, log2, &parallel_serial);
    assert_memory_equal(got, host_table, n * sizeof(*got));
    assert_true(scalar_equal(&after[NTT_INVERSE_SIZE], &inverse));
    assert_true(scalar_equal(&after[NTT_INVERSE_SIZE_PLAIN], &plain));
    soft_queue_free(queue, table);
}

static void table_equals_c(void **unused)
{
    (void)unused;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        struct soft_queue *queue = soft_queue_open(cuda_curve_name(id), 20 + id);
        for (unsigned log2 = 1; log2 <= LOG2_MOST; log2++)
            check_table(queue, curve_portable(id), log2);
        soft_queue_close(queue);
    }
}

/* ---- plans, on a queue that only looks ---- */

struct watched_queue {
    struct gpu_queue queue;
    unsigned log2;
    unsigned launches, fails_at; /* 0: never */
    unsigned down, up; /* levels taken so far on the way out; left to take on the way back */
    uint32_t columns_least;
};

static void expect_levels(struct watched_queue *self, const struct gpu_launch *launch)
{
    const struct ntt_pass_arguments *pass = launch->arguments;
    const int middle = !strcmp(launch->kernel, "ntt_middle");
    const int back = middle || !strcmp(launch->kernel, "ntt_backward");
    if (!back || middle) {
        assert_int_equal(pass->level, self->down);
        self->down += pass->depth;
    }
    if (back) {
        assert_int_equal(pass->level + pass->depth, self->up);
        assert_int_equal(self->down, self->log2);
        self->up -= pass->depth;
    }
    if (!middle && 1u << pass->log2_columns < self->columns_least)
        self->columns_least = 1u << pass->log2_columns;
}

static int watch_launch(struct gpu_queue *queue, const struct gpu_launch *launch)
{
    struct watched_queue *self = (struct watched_queue *)queue;
    const struct ntt_pass_arguments *pass = launch->arguments;
    if (++self->launches == self->fails_at)
        return -EIO;
    assert_int_equal(launch->argument_bytes, sizeof(*pass));
    assert_int_equal(pass->log2_domain, self->log2);
    assert_in_range(launch->threads, 32, NTT_THREADS_MOST);
    assert_int_equal(launch->threads % 32, 0);
    assert_true(launch->shared_bytes <= queue->shared_bytes_most);
    const uint64_t tile = (uint64_t)1 << (pass->depth + pass->log2_columns);
    assert_int_equal(launch->shared_bytes, 96 * tile);
    assert_int_equal(launch->blocks * tile, (uint64_t)1 << self->log2);
    expect_levels(self, launch);
    return 0;
}

static struct watched_queue watched_new(unsigned log2, uint32_t shared_bytes)
{
    return (struct watched_queue){.queue = {.launch = watch_launch,
                                            .multiprocessors = 132,
                                            .shared_bytes_most = shared_bytes},
                                  .log2 = log2,
                                  .up = log2,
                                  .columns_least = UINT32_MAX};
}

static void plans_take_each_level_once(void **unused)
{
    (void)unused;
    static const uint32_t shared[] = {192, 500, 4096, 48 << 10, 99 << 10, 227 << 10};
    for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
        for (unsigned log2 = 1; log2 <= 27; log2++) {
            struct watched_queue x = watched_new(log2, shared[i]);
            assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, log2, 4), 0);
            assert_int_equal(x.down, log2);
            assert_int_equal(x.up, 0);
            assert_true(shared[i] < 4096 || x.columns_least >= 4);
        }
    }
}

/* With the shared memory of an H200. */
static void plans_have_few_passes(void **unused)
{
    (void)unused;
    static const struct {
        unsigned log2, launches;
    } cases[] = {{1, 1}, {7, 1}, {8, 3}, {16, 3}, {20, 3}, {21, 5}, {24, 5}, {27, 5}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct watched_queue x = watched_new(cases[i].log2, 227 << 10);
        assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, x.log2, 4), 0);
        assert_int_equal(x.launches, cases[i].launches);
    }
}

static void errors_are_returned(void **unused)
{
    (void)unused;
    struct watched_queue x = watched_new(24, 227 << 10);
    for (x.fails_at = 1; x.fails_at <= 5; x.fails_at++) {
        x.launches = x.down = 0;
        x.up = 24;
        assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, 24, 4), -EIO);
        assert_int_equal(x.launches, x.fails_at);
    }
    assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, 0, 4), -EINVAL);
    assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, 28, 4), -EINVAL);
    assert_int_equal(ntt_cuda_table_make(&x.queue, 4, 0), -EINVAL);
    assert_int_equal(ntt_cuda_table_make(&x.queue, 4, 28), -EINVAL);
    x.queue.shared_bytes_most = 191;
    assert_int_equal(ntt_cuda_quotient(&x.queue, 1, 2, 3, 8, 4), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotient_equals_c),       cmocka_unit_test(quotient_in_many_passes),
        cmocka_unit_test(quotient_any_order_same), cmocka_unit_test(quotient_by_largest_tiles),
        cmocka_unit_test(table_equals_c),          cmocka_unit_test(plans_take_each_level_once),
        cmocka_unit_test(plans_have_few_passes),   cmocka_unit_test(errors_are_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
