/*
 * Row sums on the software device, bit for bit against the C form's: rows of every kind, witness
 * values and indices of every width.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernels/rows/rows_cuda.h"
#include "kernels/rows/rows_kernels_cuda.h"
#include "tests/kernels/cuda_memory.h"
#include "tests/support/scalars.h"

enum { ROWS_MOST = 2 * ROWS_OF_BLOCK + 77, WIRES = 300, VALUES = 200, ENTRIES_MOST = 8000 };

struct instance {
    const struct curve *curve;
    uint64_t state;
    uint32_t rows, entries, value_count;
    struct scalar witness[WIRES], value[ENTRIES_MOST];
    uint32_t row_start[ROWS_MOST + 1], wire[ENTRIES_MOST], number[ENTRIES_MOST];
    unsigned char index[4 * ENTRIES_MOST];
};

static struct instance instance;

static struct scalar largest(const struct curve *curve)
{
    struct scalar out;
    memcpy(&out, curve->fr_modulus, sizeof(out));
    out.word[0]--;
    return out;
}

static struct scalar value_some(struct instance *x, uint32_t number)
{
    struct scalar one = scalar_from(x->curve, 1);
    if (number == SPARSE_ONE)
        return one;
    if (number == SPARSE_MINUS_ONE)
        return scalar_neg(x->curve, &one);
    return number % 7 == 2 ? largest(x->curve) : scalar_random(x->curve, &x->state);
}

/* Of the witness a quarter each is 0, 1, r - 1 and random. */
static void instance_begin(struct instance *x, const struct curve *curve)
{
    memset(x, 0, sizeof(*x));
    x->curve = curve;
    x->state = curve->id;
    for (uint32_t i = 0; i < WIRES; i++)
        x->witness[i] = i % 4 < 2    ? (struct scalar){{i % 4}}
                        : i % 4 == 2 ? largest(curve)
                                     : scalar_random(curve, &x->state);
    for (uint32_t i = 0; i < VALUES; i++)
        x->value[i] = value_some(x, i);
}

static void row_add(struct instance *x, uint32_t entries)
{
    assert_true(x->rows < ROWS_MOST && x->entries + entries <= ENTRIES_MOST);
    for (uint32_t i = 0; i < entries; i++, x->entries++) {
        x->wire[x->entries] = (uint32_t)(random_next(&x->state) % WIRES);
        x->number[x->entries] =
            (uint32_t)(random_next(&x->state) % 2 ? random_next(&x->state) % 2
                                                  : random_next(&x->state) % VALUES);
    }
    x->row_start[++x->rows] = x->entries;
}

/* The matrix as the host has it: with numbered values, or with one for each entry. */
static struct sparse_matrix host_matrix(struct instance *x, uint32_t index_bytes)
{
    static uint64_t each[ENTRIES_MOST][FR_WORDS];
    struct sparse_matrix out = {.rows = x->rows,
                                .row_start = x->row_start,
                                .wire = x->wire,
                                .value = (const uint64_t(*)[FR_WORDS])x->value,
                                .index = index_bytes ? x->index : NULL,
                                .index_bytes = index_bytes};
    for (uint32_t i = 0; i < x->entries; i++) {
        memcpy(each[i], &x->value[x->number[i]], sizeof(each[i]));
        memcpy(x->index + i * index_bytes, &x->number[i], index_bytes);
    }
    if (!index_bytes)
        out.value = (const uint64_t(*)[FR_WORDS])each;
    return out;
}

static struct rows_cuda_matrix matrix_upload(struct soft_queue *queue, const struct instance *x,
                                             const struct sparse_matrix *host)
{
    const size_t entries = x->entries ? x->entries : 1, width = host->index_bytes;
    const size_t values = width ? VALUES : entries;
    return (struct rows_cuda_matrix){
        .row_start = cuda_upload(queue, host->row_start, sizeof(uint32_t) * (x->rows + 1)),
        .wire = cuda_upload(queue, host->wire, sizeof(uint32_t) * entries),
        .value = cuda_upload(queue, host->value, sizeof(struct scalar) * values),
        .index = width ? cuda_upload(queue, host->index, width * entries) : 256,
        .rows = x->rows,
        .index_bytes = host->index_bytes};
}

static void expect_rows(struct soft_queue *queue, struct instance *x, uint32_t index_bytes,
                        size_t domain)
{
    static struct scalar want[2 * ROWS_MOST], got[2 * ROWS_MOST];
    struct sparse_matrix host = host_matrix(x, index_bytes);
    struct rows_cuda_matrix matrix = matrix_upload(queue, x, &host);
    gpu_pointer witness = cuda_upload(queue, x->witness, sizeof(x->witness));
    gpu_pointer out = soft_queue_allocate(queue, domain * sizeof(*got));
    x->curve->rows_evaluate(want->word, &host, x->witness->word, 0, domain);
    assert_int_equal(rows_cuda_evaluate(&queue->queue, out, &matrix, witness, domain), 0);
    soft_queue_read(queue, got, out, domain * sizeof(*got));
    assert_memory_equal(got, want, domain * sizeof(*got));
}

static void check_instance(struct instance *x, uint64_t seed, size_t domain)
{
    struct soft_queue *queue = soft_queue_open(cuda_curve_name(x->curve->id), seed);
    expect_rows(queue, x, 0, domain);
    for (uint32_t index_bytes = 1; index_bytes <= 4; index_bytes *= 2)
        expect_rows(queue, x, index_bytes, domain);
    soft_queue_close(queue);
}

/* Empty rows first, last and between; rows past the matrix, in its last block and in others. */
static void short_rows(void **unused)
{
    (void)unused;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        instance_begin(&instance, curve_portable(id));
        for (uint32_t i = 0; i < ROWS_MOST; i++)
            row_add(&instance, i % 5 * (i % 11 < 8));
        check_instance(&instance, id, 2 * ROWS_MOST);
    }
}

/* A row with most of the entries, whose slices are many; and one of a whole block of its own. */
static void long_rows(void **unused)
{
    (void)unused;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        instance_begin(&instance, curve_portable(id));
        for (uint32_t i = 0; i < ROWS_OF_BLOCK; i++)
            row_add(&instance, i == 100 ? 3001 : i == 101 ? 700 : i % 2);
        row_add(&instance, 1500);
        check_instance(&instance, 10 + id, ROWS_OF_BLOCK + 1);
    }
}

static void few_rows(void **unused)
{
    (void)unused;
    static const uint32_t lengths[] = {0, 1, 2, 255, 256, 257};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        instance_begin(&instance, curve_portable(CURVE_BN254));
        row_add(&instance, lengths[i]);
        check_instance(&instance, i, 2);
    }
    instance_begin(&instance, curve_portable(CURVE_BN254));
    check_instance(&instance, 7, 3);
}

static void wrong_widths_are_refused(void **unused)
{
    (void)unused;
    struct soft_queue *queue = soft_queue_open("bn254", 0);
    struct rows_cuda_matrix matrix = {.index = 256, .index_bytes = 3};
    assert_int_equal(rows_cuda_evaluate(&queue->queue, 256, &matrix, 256, 1), -EINVAL);
    matrix = (struct rows_cuda_matrix){.index_bytes = 1};
    assert_int_equal(rows_cuda_evaluate(&queue->queue, 256, &matrix, 256, 1), -EINVAL);
    matrix.index_bytes = 0;
    assert_int_equal(rows_cuda_evaluate(&queue->queue, 256, &matrix, 256, 0), 0);
    assert_int_equal(queue->launches, 0);
    soft_queue_close(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(wrong_widths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
