/*
 * Rows, quotient, sums; the mathematics is the kernels'.
 */
#include "gpu-worker/cpu_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu-worker/device.h"
#include "kernels/curves.h"
#include "kernels/parallel.h"
#include "kernels/ranges.h"
#include "shm/image.h"
#include "shm/worker_start.h"

#define SCRATCH_ALIGN 64
#define ELEMENT_BYTES (FR_WORDS * sizeof(uint64_t))
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define ROWS_LEAST 256 /* of a piece of work */

struct run {
    const struct cpu_key *key;
    const struct device_work *work;
    struct parallel *parallel;
    struct device_watch *watch;
    uint64_t *a, *b, *c; /* domain elements each; scratch begins with them */
    size_t domain;
};

static size_t round_up(size_t bytes)
{
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t domain_of(const struct image *image)
{
    return (size_t)1 << image->header->log2_domain;
}

static size_t first_private(const struct image *image)
{
    return image->header->public_count + (size_t)1;
}

static size_t vector_bytes(const struct image *image)
{
    return round_up(domain_of(image) * ELEMENT_BYTES);
}

/* See cpu_sums.h for what lies over what. */
size_t cpu_sums_scratch_bytes(const struct curve *curve, const struct image *image,
                              unsigned threads)
{
    size_t vector = vector_bytes(image), wires = image->header->wires;
    size_t h = curve->msm_scratch_bytes(GROUP_G1, domain_of(image), threads);
    size_t witness = curve->witness_sums_scratch_bytes(wires, first_private(image), threads);
    return round_up(larger(larger(3 * vector, vector + h), witness));
}

/* ---- rows ---- */

static void copy_piece(void *arg, size_t begin, size_t end)
{
    struct run *run = arg;
    size_t bytes = (end - begin) * ELEMENT_BYTES;
    memcpy(run->a + begin * FR_WORDS, run->work->rows_a + begin * FR_WORDS, bytes);
    memcpy(run->b + begin * FR_WORDS, run->work->rows_b + begin * FR_WORDS, bytes);
}

static struct sparse_matrix matrix_of(const struct image_matrix *matrix)
{
    return (struct sparse_matrix){matrix->rows,  matrix->row_start, matrix->wire,
                                  matrix->value, matrix->index,     matrix->index_bytes};
}

static void evaluate_piece(void *arg, size_t begin, size_t end)
{
    struct run *run = arg;
    const struct image *image = run->key->image;
    struct sparse_matrix a = matrix_of(&image->a), b = matrix_of(&image->b);
    const struct curve *curve = run->key->curve;
    curve->rows_evaluate(run->a + begin * FR_WORDS, &a, run->work->witness, begin, end);
    curve->rows_evaluate(run->b + begin * FR_WORDS, &b, run->work->witness, begin, end);
}

/* The quotient overwrites its rows; the slab's stay as they are. */
static void bring_rows(struct run *run, struct device_times *times)
{
    uint64_t begin = worker_now_ns();
    int given = run->work->rows_a && run->work->rows_b;
    run->watch->step(run->watch, given ? STAGE_UPLOAD : STAGE_NTT);
    ranges_run(run->parallel, run->domain, ROWS_LEAST, given ? copy_piece : evaluate_piece, run);
    *(given ? &times->upload_ns : &times->ntt_ns) += worker_now_ns() - begin;
}

/* ---- the two halves ---- */

static int make_quotient(struct run *run, struct device_times *times)
{
    uint64_t begin = worker_now_ns();
    run->watch->step(run->watch, STAGE_NTT);
    int error =
        run->key->curve->quotient(run->a, run->b, run->c, run->key->image->header->log2_domain,
                                  run->key->table, run->parallel);
    times->ntt_ns += worker_now_ns() - begin;
    return error;
}

static int sum_h(struct run *run, struct proof_sums *sums)
{
    return run->key->curve->msm_g1(&sums->h, run->key->image->points_h, run->a, run->domain, run->b,
                                   run->parallel);
}

static int sum_witness(struct run *run, struct proof_sums *sums)
{
    const struct image *image = run->key->image;
    struct witness_points points = {image->points_a, image->points_b1, image->points_b2,
                                    image->points_c};
    return run->key->curve->witness_sums(sums, &points, run->work->witness, image->header->wires,
                                         first_private(image), run->a, run->parallel);
}

/* H first: its scalars stand in the scratch that the others take whole. */
static int make_sums(struct run *run, struct proof_sums *sums, struct device_times *times)
{
    uint64_t begin = worker_now_ns();
    run->watch->step(run->watch, STAGE_MSM);
    int error = run->watch->cancelled(run->watch) ? -ECANCELED : sum_h(run, sums);
    run->watch->step(run->watch, STAGE_MSM);
    if (!error)
        error = run->watch->cancelled(run->watch) ? -ECANCELED : sum_witness(run, sums);
    times->msm_ns += worker_now_ns() - begin;
    return error;
}

int cpu_sums_compute(const struct cpu_key *key, const struct device_work *work, void *scratch,
                     struct parallel *parallel, struct device_watch *watch, struct proof_sums *sums,
                     struct device_times *times)
{
    size_t vector = vector_bytes(key->image);
    char *at = scratch;
    struct run run = {.key = key,
                      .work = work,
                      .parallel = parallel,
                      .watch = watch,
                      .a = (uint64_t *)at,
                      .b = (uint64_t *)(at + vector),
                      .c = (uint64_t *)(at + 2 * vector),
                      .domain = domain_of(key->image)};
    memset(sums, 0, sizeof(*sums));
    bring_rows(&run, times);
    int error = make_quotient(&run, times);
    return error ? error : make_sums(&run, sums, times);
}

/* ---- tables and memory ---- */

const void *cpu_sums_image_table(const struct curve *curve, const struct image *image)
{
    size_t bytes = curve->ntt_table_bytes(image->header->log2_domain);
    return image->ntt_table_bytes == bytes ? image->ntt_table : NULL;
}

void *cpu_sums_allocate(size_t bytes)
{
    if (bytes < HUGE_PAGE_BYTES)
        return aligned_alloc(SCRATCH_ALIGN, round_up(bytes ? bytes : 1));
    size_t whole = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *scratch = aligned_alloc(HUGE_PAGE_BYTES, whole);
    if (scratch)
        madvise(scratch, whole, MADV_HUGEPAGE); /* a wish: fewer misses of the TLB */
    return scratch;
}

void *cpu_sums_make_table(const struct curve *curve, const struct image *image,
                          struct parallel *parallel)
{
    void *table = cpu_sums_allocate(curve->ntt_table_bytes(image->header->log2_domain));
    if (table)
        curve->ntt_table_make(table, image->header->log2_domain, parallel);
    return table;
}
