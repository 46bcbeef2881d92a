/*
 * How long a proof's stages would take on an H200, from what was counted in the code: predictions,
 * to be compared with what tests/gpu/run measures there. No state.
 *
 * A stage's time is that of its multiply-adds, or of all its instructions where that is longer;
 * every multiprocessor is busy and nothing waits for memory. Of an H200: 132 multiprocessors
 * at 1.98 GHz; 64 multiply-adds of 32 bits a clock in each (93 % of that rate has been measured on
 * one), half as many wide ones (inferred: a measured multiply-add of 64 bits takes five times as
 * long); 128 instructions a clock; 55 GB/s from pinned memory. Module field's rate_wide and
 * rate_low measure the first two.
 *
 * Stages of a domain of N = 2^k, 0.75 N wires and as many rows, dense scalars: A, B1 and C in G1
 * over the wires, H over N; B2 in G2 over the wires (additions by the plan:
 * msm_cuda_count_additions); (3 k + 1) N products in the transforms, scaling and a b - c
 * (ntt/quotient); rows with three entries each in A and B.
 */
#ifndef PAWL_TESTS_KERNELS_COST_PREDICTION_CUDA_H
#define PAWL_TESTS_KERNELS_COST_PREDICTION_CUDA_H

#include "kernels/msm/msm_cuda.h"
#include "tests/kernels/cubin_cuda.h"

#define H200_MULTIPROCESSORS 132
#define H200_CLOCKS_A_S 1.98e9
#define H200_UPLOAD_BYTES_A_S 55e9

static inline const struct kernel_cost *cost_of(const struct kernel_costs *costs, const char *curve,
                                                unsigned arch, const char *name)
{
    struct kernel_cost like = {.arch = arch};
    snprintf(like.name, sizeof(like.name), "%s", name);
    snprintf(like.curve, sizeof(like.curve), "%s", curve);
    const struct kernel_cost *cost = costs_find(costs, &like);
    if (!cost)
        fprintf(stderr, "no kernel %s for %s on sm_%u\n", name, curve, arch);
    assert(cost);
    return cost;
}

/* Functions of Fq2 that an operation calls once each; a compiler may write down a call twice. */
static inline unsigned products_called(const char *kernel)
{
    return strstr(kernel, "_mixed_add")  ? 8
           : strstr(kernel, "_full_add") ? 12
           : strstr(kernel, "_doubles")  ? 6
                                         : strstr(kernel, "fq2_product") != NULL;
}

static inline unsigned squares_called(const char *kernel)
{
    return strstr(kernel, "curve_") ? 2 : strstr(kernel, "fq2_square") != NULL;
}

/* One operation of a kernel of module field that makes one, or one in its loop. */
static inline struct instruction_counts operation_counts(const struct kernel_cost *cost)
{
    const unsigned products = products_called(cost->name), squares = squares_called(cost->name);
    struct instruction_counts sum = cost->body;
    sum.all += products * cost->product.all + squares * cost->square.all;
    sum.wide += products * cost->product.wide + squares * cost->square.wide;
    sum.low += products * cost->product.low + squares * cost->square.low;
    return sum;
}

/* seconds of a whole H200 for one operation */
static inline double h200_seconds(const struct kernel_costs *costs, const char *curve,
                                  const char *name)
{
    const struct instruction_counts c = operation_counts(cost_of(costs, curve, 90, name));
    const double multiplies = (2.0 * c.wide + c.low) / 64, issue = c.all / 128.0;
    return (multiplies > issue ? multiplies : issue) / H200_CLOCKS_A_S / H200_MULTIPROCESSORS;
}

static inline double msm_seconds(const struct kernel_costs *costs, const struct curve *curve,
                                 enum group group, size_t count)
{
    const struct gpu_queue queue = {.multiprocessors = H200_MULTIPROCESSORS,
                                    .shared_bytes_most = 227 << 10};
    const int g2 = group == GROUP_G2;
    struct msm_cuda_plan plan;
    assert(msm_cuda_plan_make(&plan, curve, count, &queue, (size_t)64 << 30) == 0);
    const struct msm_cuda_additions n = msm_cuda_count_additions(&plan);
    const char *name = curve->id == CURVE_BN254 ? "bn254" : "bls12381";
    return (double)n.mixed *
               h200_seconds(costs, name, g2 ? "curve_g2_mixed_adds" : "curve_g1_mixed_adds") +
           (double)n.full *
               h200_seconds(costs, name, g2 ? "curve_g2_full_adds" : "curve_g1_full_adds") +
           (double)n.doublings *
               h200_seconds(costs, name, g2 ? "curve_g2_doubles" : "curve_g1_doubles");
}

/* One line of the table, in milliseconds. */
static inline void prediction_print(const struct kernel_costs *costs, const struct curve *curve,
                                    unsigned k)
{
    const char *name = curve->id == CURVE_BN254 ? "bn254" : "bls12381";
    const size_t n = (size_t)1 << k, wires = n / 4 * 3;
    const double product = h200_seconds(costs, name, "cost_fr_product");
    const double g1 =
        3 * msm_seconds(costs, curve, GROUP_G1, wires) + msm_seconds(costs, curve, GROUP_G1, n);
    const double g2 = msm_seconds(costs, curve, GROUP_G2, wires);
    const double ntt = (double)(3 * k + 1) * (double)n * product;
    const double rows = 6.0 * (double)wires * product;
    const double upload = 32.0 * (double)wires / H200_UPLOAD_BYTES_A_S;
    printf("| %s | %u | %.2f | %.2f | %.2f | %.3f | %.2f | %.2f |\n", name, k, 1e3 * g1, 1e3 * g2,
           1e3 * ntt, 1e3 * rows, 1e3 * (g1 + g2 + ntt + rows), 1e3 * upload);
}

#endif
