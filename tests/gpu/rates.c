/*
 * How many multiply-adds, field products and additions of points a GPU makes in a second: what the
 * floors of tests/gpu/run are made of. See checks.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/field/field_kernels_cuda.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/random.h"

enum { THREADS = 256, BLOCKS_A_PROCESSOR = 8 };

struct rate {
    struct gpu *gpu;
    struct gpu_queue *queue;
    const char *kernel;
    uint32_t blocks, threads;
    const void *arguments;
    size_t argument_bytes;
};

static void put_in(void *arg)
{
    const struct rate *rate = arg;
    struct gpu_launch launch = {.kernel = rate->kernel,
                                .blocks = rate->blocks,
                                .threads = rate->threads,
                                .arguments = rate->arguments,
                                .argument_bytes = rate->argument_bytes};
    if (rate->queue->launch(rate->queue, &launch)) {
        fprintf(stderr, "gpu-check: %s cannot be launched\n", rate->kernel);
        exit(70);
    }
}

static void report(const struct rate *rate, const char *curve, double units, double ms)
{
    printf("{\"check\":\"rate\",\"curve\":\"%s\",\"what\":\"%s\",\"units\":%.0f,\"ms\":%.6g,"
           "\"per_s\":%.6g}\n",
           curve, rate->kernel, units, ms, ms > 0 ? units / ms * 1e3 : 0);
    fflush(stdout);
}

static uint32_t grid(const struct check_options *options, const struct rate *rate)
{
    return options->soft ? 1 : rate->queue->multiprocessors * BLOCKS_A_PROCESSOR;
}

/* ---- multiply-adds ---- */

static void measure_multiplies(const struct check_options *options, struct gpu *gpu)
{
    static const char *const kernels[] = {"rate_wide", "rate_low", "rate_chain"};
    struct rate rate = {.gpu = gpu,
                        .queue = gpu_queue_of(gpu, curve_portable(CURVE_BN254)),
                        .threads = options->soft ? 32 : THREADS};
    rate.blocks = grid(options, &rate);
    uint64_t threads = (uint64_t)rate.blocks * rate.threads;
    struct field_cuda_rate arguments = {.out = gpu_allocate(gpu, threads * 4),
                                        .repeat = options->soft ? 1 : 2000,
                                        .factor = 0x9e3779b9};
    rate.arguments = &arguments;
    rate.argument_bytes = sizeof(arguments);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        rate.kernel = kernels[i];
        double ms = gpu_time_ms(gpu, put_in, &rate, options->runs);
        report(&rate, "any", (double)threads * arguments.repeat * RATE_MULTIPLIES, ms);
    }
    gpu_free(gpu, arguments.out);
}

/* ---- products and additions ---- */

struct operation {
    const char *kernel;
    unsigned repeat; /* so that one run takes about a millisecond */
};

static void measure_operation(const struct check_options *options, struct rate *rate,
                              const struct curve *curve, const struct operation *operation,
                              gpu_pointer at, size_t operand_bytes)
{
    uint64_t count = (uint64_t)rate->blocks * rate->threads;
    struct field_cuda_operands arguments = {.out = at + 2 * operand_bytes,
                                            .a = at,
                                            .b = at + operand_bytes,
                                            .count = count,
                                            .repeat = options->soft ? 1 : operation->repeat};
    rate->kernel = operation->kernel;
    rate->arguments = &arguments;
    rate->argument_bytes = sizeof(arguments);
    double ms = gpu_time_ms(rate->gpu, put_in, rate, options->runs);
    report(rate, curve->name, (double)count * arguments.repeat, ms);
}

/* a: words that any element may be made of; b: points, two for each thread, for a sum is as long as
 * two; out. None is infinity, whose addition would be free. */
static gpu_pointer make_operands(struct gpu *gpu, const struct curve *curve, enum group group,
                                 uint64_t count, size_t operand_bytes)
{
    gpu_pointer at = gpu_allocate(gpu, 3 * operand_bytes);
    char *points = calloc(1, operand_bytes);
    if (!points)
        abort();
    random_points(points, curve, group, 2 * count, 3);
    gpu_write(gpu, at + operand_bytes, points, operand_bytes);
    random_words((uint64_t *)points, operand_bytes / sizeof(uint64_t), 4);
    gpu_write(gpu, at, points, operand_bytes);
    free(points);
    return at;
}

static void measure_group(const struct check_options *options, struct gpu *gpu,
                          const struct curve *curve, enum group group,
                          const struct operation *operations, unsigned count)
{
    struct rate rate = {
        .gpu = gpu, .queue = gpu_queue_of(gpu, curve), .threads = options->soft ? 32 : THREADS};
    rate.blocks = grid(options, &rate);
    uint64_t threads = (uint64_t)rate.blocks * rate.threads;
    size_t point = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    size_t operand_bytes = threads * 2 * point;
    gpu_pointer at = make_operands(gpu, curve, group, threads, operand_bytes);
    for (unsigned i = 0; i < count; i++)
        measure_operation(options, &rate, curve, &operations[i], at, operand_bytes);
    gpu_free(gpu, at);
}

int check_rates(const struct check_options *options, struct gpu *gpu)
{
    static const struct operation in_g1[] = {
        {"field_fr_products", 2000}, {"field_fr_squares", 2000},   {"field_fq_products", 2000},
        {"field_fq_squares", 2000},  {"curve_g1_mixed_adds", 200}, {"curve_g1_full_adds", 100}};
    static const struct operation in_g2[] = {
        {"field_fq2_products", 500}, {"curve_g2_mixed_adds", 60}, {"curve_g2_full_adds", 40}};
    measure_multiplies(options, gpu);
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_portable(id);
        measure_group(options, gpu, curve, GROUP_G1, in_g1, sizeof(in_g1) / sizeof(in_g1[0]));
        measure_group(options, gpu, curve, GROUP_G2, in_g2, sizeof(in_g2) / sizeof(in_g2[0]));
    }
    return 0;
}
