/*
 * The bars of cost_cuda_test.c, for BN254 and BLS12-381, over every architecture: what a change of
 * a kernel, or another nvcc, may not pass unnoticed. Raise one only with the reason in the commit.
 */
#ifndef PAWL_TESTS_KERNELS_COST_BARS_CUDA_H
#define PAWL_TESTS_KERNELS_COST_BARS_CUDA_H

/* wide multiplies of one operation: 2 N^2 a product, N (N + 1) / 2 + N^2 a square */
struct operation_bar {
    const char *kernel;
    unsigned wide[2];
};

static const struct operation_bar operation_bars[] = {
    {"cost_fr_product", {128, 128}},       {"cost_fr_square", {100, 100}},
    {"cost_fq_product", {128, 288}},       {"cost_fq_square", {100, 222}},
    {"cost_fq2_product", {320, 720}},      /* three products, two reductions */
    {"cost_fq2_square", {256, 576}},       /* two products */
    {"curve_g1_mixed_adds", {1170, 2620}}, /* 8 products, 2 squares, one reduction saved; and
                                              addresses */
    {"msm_g1_accumulate", {1200, 2650}},   /* the same, and the search for the bucket */
    {"curve_g2_mixed_adds", {3082, 6922}}, /* 8 products, 2 squares; and addresses */
};

#define REGISTERS_MOST                                                                             \
    128 /* of a kernel that is not listed, which has no stack and spills nothing */

/* most of any architecture; spills are stores and loads together */
struct resource_bar {
    const char *kernel;
    unsigned registers[2], stack_bytes[2], spill_bytes[2];
};

static const struct resource_bar resource_bars[] = {
    {.kernel = "cost_fq2_product", .registers = {128, 160}},
    {.kernel = "field_fq2_products", .registers = {128, 168}},
    {.kernel = "curve_g1_doubles", .registers = {144, 208}},
    {.kernel = "curve_g1_full_adds", .registers = {192, 255}},
    {.kernel = "curve_g1_mixed_adds", .registers = {168, 216}},
    {"curve_g2_doubles", {232, 255}, {0, 320}, {0, 1024}},
    {"curve_g2_full_adds", {255, 255}, {256, 1024}, {1024, 4096}},
    {"curve_g2_mixed_adds", {255, 255}, {128, 768}, {512, 2560}},
    {.kernel = "msm_g1_accumulate", .registers = {128, 168}},
    /* these call a full addition, with its operands on the stack */
    {.kernel = "msm_g1_merge", .registers = {128, 168}, .stack_bytes = {256, 384}},
    {.kernel = "msm_g1_weigh", .registers = {128, 168}, .stack_bytes = {384, 576}},
    {.kernel = "msm_g1_gather", .registers = {128, 168}, .stack_bytes = {256, 384}},
    {"msm_g2_accumulate", {255, 255}, {0, 640}, {0, 2048}},
    {"msm_g2_merge", {208, 255}, {512, 960}, {0, 512}},
    {"msm_g2_weigh", {208, 255}, {768, 1280}, {0, 512}},
    {"msm_g2_gather", {208, 255}, {512, 896}, {0, 512}},
};

#endif
