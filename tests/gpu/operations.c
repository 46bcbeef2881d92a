/*
 * The two operations that proofs are made of, by themselves and over any size: the quotient, and
 * sums in G1 and G2 of scalars of full length. See checks.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/msm/msm_cuda.h"
#include "kernels/ntt/ntt_cuda.h"
#include "kernels/parallel.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/random.h"

struct operations {
    const struct check_options *options;
    struct gpu *gpu;
    const struct curve *curve;
    struct gpu_queue *queue;
    size_t count;
    int error; /* of a queue's call */
};

static void report(const struct operations *o, const char *what, double ms, const char *more)
{
    printf("{\"check\":\"operation\",\"curve\":\"%s\",\"what\":\"%s\",\"log2\":%u,\"ms\":%.6g%s}\n",
           o->curve->name, what, o->options->log2, ms, more);
    fflush(stdout);
}

static const char *verdict(const struct operations *o, int wrong)
{
    if (o->error || wrong)
        return ",\"wrong\":true";
    return o->options->check ? ",\"wrong\":false" : "";
}

static void *scratch_of(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!memory)
        abort();
    return memory;
}

/* ---- quotient ---- */

struct quotient {
    struct operations *o;
    gpu_pointer a, b, c, table;
};

static void run_quotient(void *arg)
{
    struct quotient *q = arg;
    q->o->error |= ntt_cuda_quotient(q->o->queue, q->a, q->b, q->c, q->o->options->log2, q->table);
}

/* 1 where the GPU's h over these rows is not the CPU's. */
static int quotient_differs(struct quotient *q, uint64_t *rows)
{
    struct operations *o = q->o;
    unsigned log2 = o->options->log2;
    size_t words = o->count * FR_WORDS, bytes = words * sizeof(uint64_t);
    uint64_t *h = malloc(bytes), *c = malloc(bytes);
    void *table = scratch_of(o->curve->ntt_table_bytes(log2));
    if (!h || !c)
        abort();
    gpu_write(o->gpu, q->a, rows, 2 * bytes);
    run_quotient(q);
    gpu_read(o->gpu, h, q->a, bytes);
    o->curve->ntt_table_make(table, log2, &parallel_serial);
    o->curve->quotient(rows, rows + words, c, log2, table, &parallel_serial);
    int differs = memcmp(h, rows, bytes) != 0;
    free(table);
    free(h);
    free(c);
    return differs;
}

static int measure_quotient(struct operations *o)
{
    size_t bytes = o->count * FR_WORDS * sizeof(uint64_t);
    uint64_t *rows = malloc(2 * bytes);
    struct quotient q = {.o = o, .a = gpu_allocate(o->gpu, 3 * bytes)};
    if (!rows)
        abort();
    q.b = q.a + bytes;
    q.c = q.b + bytes;
    q.table = gpu_allocate(o->gpu, ntt_cuda_table_bytes(o->options->log2));
    o->error |= ntt_cuda_table_make(o->queue, q.table, o->options->log2);
    random_scalars(rows, 2 * o->count, 5);
    gpu_write(o->gpu, q.a, rows, 2 * bytes);
    double ms = gpu_time_ms(o->gpu, run_quotient, &q, o->options->runs);
    int wrong = o->options->check && quotient_differs(&q, rows);
    report(o, "quotient", ms, verdict(o, wrong));
    gpu_free(o->gpu, q.a);
    gpu_free(o->gpu, q.table);
    free(rows);
    return wrong || o->error;
}

/* ---- sums ---- */

struct sum {
    struct operations *o;
    enum group group;
    struct msm_cuda_plan plan;
    gpu_pointer scalars, points, scratch, result;
};

static void run_sort(void *arg)
{
    struct sum *s = arg;
    s->o->error |= msm_cuda_sort(s->o->queue, &s->plan, s->scalars, s->scratch);
}

static void run_sum(void *arg)
{
    struct sum *s = arg;
    s->o->error |=
        msm_cuda_sum(s->o->queue, &s->plan, s->group, s->points, 0, s->scratch, s->result);
}

static int sum_differs(struct sum *s, const void *points, const uint64_t *scalars)
{
    struct operations *o = s->o;
    const struct curve *curve = o->curve;
    void *result = scratch_of(s->plan.result_bytes);
    void *scratch = scratch_of(curve->msm_scratch_bytes(s->group, o->count, 1));
    struct g2 got = {0}, expected = {0};
    gpu_read(o->gpu, result, s->result, msm_cuda_result_bytes(&s->plan, s->group));
    int error = msm_cuda_finish(curve, &s->plan, s->group, result, &got);
    if (s->group == GROUP_G1)
        curve->msm_g1((struct g1 *)&expected, points, scalars, o->count, scratch, &parallel_serial);
    else
        curve->msm_g2(&expected, points, scalars, o->count, scratch, &parallel_serial);
    free(scratch);
    free(result);
    return error || memcmp(&got, &expected, sizeof(got)) != 0;
}

static void describe_sum(struct sum *s, double sort_ms, double sum_ms, int wrong)
{
    char more[160];
    struct msm_cuda_additions additions = msm_cuda_count_additions(&s->plan);
    snprintf(more, sizeof(more),
             ",\"sort_ms\":%.6g,\"mixed_adds\":%llu,\"full_adds\":%llu,\"scratch_bytes\":%zu%s",
             sort_ms, (unsigned long long)additions.mixed, (unsigned long long)additions.full,
             s->plan.scratch_bytes, verdict(s->o, wrong));
    report(s->o, s->group == GROUP_G1 ? "msm_g1" : "msm_g2", sum_ms, more);
}

static void upload_operands(struct sum *s, const void *points, const uint64_t *scalars,
                            size_t point_bytes)
{
    struct operations *o = s->o;
    s->scalars = gpu_allocate(o->gpu, o->count * FR_WORDS * sizeof(uint64_t));
    s->points = gpu_allocate(o->gpu, o->count * point_bytes);
    s->scratch = gpu_allocate(o->gpu, s->plan.scratch_bytes);
    s->result = gpu_allocate(o->gpu, s->plan.result_bytes);
    gpu_write(o->gpu, s->scalars, scalars, o->count * FR_WORDS * sizeof(uint64_t));
    gpu_write(o->gpu, s->points, points, o->count * point_bytes);
}

static void free_operands(struct sum *s)
{
    gpu_free(s->o->gpu, s->scalars);
    gpu_free(s->o->gpu, s->points);
    gpu_free(s->o->gpu, s->scratch);
    gpu_free(s->o->gpu, s->result);
}

/* What a gpu-worker would leave for it, more or less. */
static size_t scratch_most(const struct operations *o)
{
    size_t free_bytes = 0, total_bytes = 0;
    gpu_check(o->gpu, o->gpu->driver.cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo");
    return free_bytes / 2;
}

static int measure_sum(struct operations *o, enum group group)
{
    size_t point_bytes = group == GROUP_G1 ? o->curve->g1_bytes : o->curve->g2_bytes;
    struct sum s = {.o = o, .group = group};
    if (msm_cuda_plan_make(&s.plan, o->curve, o->count, o->queue, scratch_most(o)))
        return 1;
    void *points = malloc(o->count * point_bytes);
    uint64_t *scalars = malloc(o->count * FR_WORDS * sizeof(uint64_t));
    if (!points || !scalars)
        abort();
    random_points(points, o->curve, group, o->count, 6);
    random_scalars(scalars, o->count, 7);
    upload_operands(&s, points, scalars, point_bytes);
    double sort_ms = gpu_time_ms(o->gpu, run_sort, &s, o->options->runs);
    double sum_ms = gpu_time_ms(o->gpu, run_sum, &s, o->options->runs);
    int wrong = o->options->check && sum_differs(&s, points, scalars);
    describe_sum(&s, sort_ms, sum_ms, wrong);
    free_operands(&s);
    free(points);
    free(scalars);
    return wrong || o->error;
}

int check_operations(const struct check_options *options, struct gpu *gpu)
{
    int bad = 0;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_by_id(id);
        struct operations o = {.options = options,
                               .gpu = gpu,
                               .curve = curve,
                               .queue = gpu_queue_of(gpu, curve),
                               .count = (size_t)1 << options->log2};
        bad |= measure_quotient(&o);
        bad |= measure_sum(&o, GROUP_G1);
        bad |= measure_sum(&o, GROUP_G2);
    }
    return bad;
}
