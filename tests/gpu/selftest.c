/*
 * The field and the groups on a GPU, against the CPU's portable form. See checks.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/field/field_kernels_cuda.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/random.h"

enum { REPEAT = 2 };

struct selftest {
    struct gpu *gpu;
    const struct curve *curve;
    struct gpu_queue *queue;
    size_t count;
};

static int run_kernel(struct selftest *test, const char *kernel, gpu_pointer out, gpu_pointer a,
                      gpu_pointer b, unsigned repeat)
{
    struct field_cuda_operands operands = {
        .out = out, .a = a, .b = b, .count = test->count, .repeat = repeat};
    struct gpu_launch launch = {.kernel = kernel,
                                .blocks = (uint32_t)((test->count + 63) / 64),
                                .threads = 64,
                                .arguments = &operands,
                                .argument_bytes = sizeof(operands)};
    int error = test->queue->launch(test->queue, &launch);
    gpu_wait(test->gpu);
    return error;
}

static int report(const struct selftest *test, const char *what, size_t wrong)
{
    printf(
        "{\"check\":\"selftest\",\"curve\":\"%s\",\"what\":\"%s\",\"count\":%zu,\"wrong\":%zu}\n",
        test->curve->name, what, test->count, wrong);
    return wrong != 0;
}

/* ---- Fr: out = a b^2 ---- */

static size_t count_wrong_products(const struct selftest *test, const uint64_t *out,
                                   const uint64_t *a, const uint64_t *b)
{
    size_t wrong = 0;
    uint64_t product[FR_WORDS];
    for (size_t i = 0; i < test->count * FR_WORDS; i += FR_WORDS) {
        test->curve->fr_multiply(product, a + i, b + i);
        for (int k = 1; k < REPEAT; k++)
            test->curve->fr_multiply(product, product, b + i);
        wrong += memcmp(product, out + i, sizeof(product)) != 0;
    }
    return wrong;
}

static int test_products(struct selftest *test)
{
    size_t bytes = test->count * FR_WORDS * sizeof(uint64_t);
    uint64_t *a = malloc(3 * bytes), *b = a + test->count * FR_WORDS,
             *out = b + test->count * FR_WORDS;
    gpu_pointer at = gpu_allocate(test->gpu, 3 * bytes);
    if (!a)
        abort();
    random_scalars(a, 2 * test->count, 1);
    memset(a, 0, FR_WORDS * sizeof(uint64_t));
    gpu_write(test->gpu, at, a, 2 * bytes);
    int error = run_kernel(test, "field_fr_products", at + 2 * bytes, at, at + bytes, REPEAT);
    gpu_read(test->gpu, out, at + 2 * bytes, bytes);
    int bad =
        report(test, "fr products", error ? test->count : count_wrong_products(test, out, a, b));
    gpu_free(test->gpu, at);
    free(a);
    return bad;
}

/* ---- groups: infinity + P, then P + 2 Q ---- */

/* The point of an XYZZ sum that a GPU made, as the CPU takes it in. */
static int join(const struct selftest *test, enum group group, struct g2 *out, const void *sum)
{
    memset(out, 0, sizeof(*out));
    return test->curve->msm_join_windows(group, out, sum, 1, 1);
}

static void expect_sum(const struct selftest *test, enum group group, struct g2 *out,
                       const char *points, size_t i)
{
    static const uint64_t two[FR_WORDS] = {REPEAT};
    const struct curve *curve = test->curve;
    size_t bytes = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    struct g2 p = {0}, q = {0};
    memset(out, 0, sizeof(*out));
    memcpy(&p, points + i * bytes, bytes);
    memcpy(&q, points + (test->count - 1 - i) * bytes, bytes);
    if (group == GROUP_G1) {
        curve->g1_multiply((struct g1 *)&q, (const struct g1 *)&q, two);
        curve->g1_add((struct g1 *)out, (const struct g1 *)&p, (const struct g1 *)&q);
    } else {
        curve->g2_multiply(&q, &q, two);
        curve->g2_add(out, &p, &q);
    }
}

static size_t count_wrong_sums(const struct selftest *test, enum group group, const char *points,
                               const char *sums)
{
    size_t bytes = group == GROUP_G1 ? test->curve->g1_bytes : test->curve->g2_bytes;
    size_t wrong = 0;
    struct g2 expected, got;
    for (size_t i = 0; i < test->count; i++) {
        expect_sum(test, group, &expected, points, i);
        if (join(test, group, &got, sums + i * 2 * bytes) || memcmp(&expected, &got, bytes) != 0)
            wrong++;
    }
    return wrong;
}

static int test_group(struct selftest *test, enum group group)
{
    size_t point = group == GROUP_G1 ? test->curve->g1_bytes : test->curve->g2_bytes;
    size_t bytes = test->count * point;
    const char *kernel = group == GROUP_G1 ? "curve_g1_mixed_adds" : "curve_g2_mixed_adds";
    char *points = malloc(4 * bytes), *reversed = points + bytes, *sums = reversed + bytes;
    gpu_pointer at = gpu_allocate(test->gpu, 4 * bytes), sums_at = at + 2 * bytes;
    if (!points)
        abort();
    random_points(points, test->curve, group, test->count, 2);
    for (size_t i = 0; i < test->count; i++)
        memcpy(reversed + i * point, points + (test->count - 1 - i) * point, point);
    gpu_write(test->gpu, at, points, 2 * bytes);
    memset(sums, 0, 2 * bytes);
    gpu_write(test->gpu, sums_at, sums, 2 * bytes);
    int error = run_kernel(test, kernel, sums_at, sums_at, at, 1);
    if (!error)
        error = run_kernel(test, kernel, sums_at, sums_at, at + bytes, REPEAT);
    gpu_read(test->gpu, sums, sums_at, 2 * bytes);
    int bad = report(test, group == GROUP_G1 ? "g1 additions" : "g2 additions",
                     error ? test->count : count_wrong_sums(test, group, points, sums));
    gpu_free(test->gpu, at);
    free(points);
    return bad;
}

int check_selftest(const struct check_options *options, struct gpu *gpu)
{
    int bad = 0;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_portable(id);
        /* an odd count: the middle one is P + 2 P */
        struct selftest test = {.gpu = gpu,
                                .curve = curve,
                                .queue = gpu_queue_of(gpu, curve),
                                .count = options->soft ? 33 : 1023};
        bad |= test_products(&test);
        bad |= test_group(&test, GROUP_G1);
        bad |= test_group(&test, GROUP_G2);
    }
    return bad;
}
