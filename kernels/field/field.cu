/*
 * Module `field`: operations by themselves, for tests, microbenchmarks and counts of instructions.
 * field_kernels_cuda.h says what each kernel does. Nothing outlives a launch.
 */
#include "kernels/curve/xyzz_cuda.h"
#include "kernels/field/field_kernels_cuda.h"

#define KERNEL extern "C" __global__ void __launch_bounds__(256, 1)

GPU_FN uint64_t thread_number()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

GPU_FN uint64_t thread_count()
{
    return (uint64_t)gridDim.x * blockDim.x;
}

GPU_FN char *element(gpu_pointer base, uint64_t index, size_t bytes)
{
    return (char *)base + index * bytes;
}

/* ---- fields ---- */

#define FIELD_KERNELS(field)                                                                       \
    KERNEL field_##field##_products(struct field_cuda_operands o)                                  \
    {                                                                                              \
        struct gpu_##field a, b;                                                                   \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##field##_load(&a, element(o.a, i, sizeof(a)));                                    \
            gpu_##field##_load(&b, element(o.b, i, sizeof(b)));                                    \
            GPU_ONCE                                                                               \
            for (uint32_t k = 0; k < o.repeat; k++)                                                \
                gpu_##field##_mul(&a, &a, &b);                                                     \
            gpu_##field##_store(element(o.out, i, sizeof(a)), &a);                                 \
        }                                                                                          \
    }                                                                                              \
    KERNEL field_##field##_squares(struct field_cuda_operands o)                                   \
    {                                                                                              \
        struct gpu_##field a;                                                                      \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##field##_load(&a, element(o.a, i, sizeof(a)));                                    \
            GPU_ONCE                                                                               \
            for (uint32_t k = 0; k < o.repeat; k++)                                                \
                gpu_##field##_square(&a, &a);                                                      \
            gpu_##field##_store(element(o.out, i, sizeof(a)), &a);                                 \
        }                                                                                          \
    }                                                                                              \
    KERNEL cost_##field##_product(struct field_cuda_operands o)                                    \
    {                                                                                              \
        struct gpu_##field a, b;                                                                   \
        gpu_##field##_load(&a, (void *)o.a);                                                       \
        gpu_##field##_load(&b, (void *)o.b);                                                       \
        gpu_##field##_mul(&a, &a, &b);                                                             \
        gpu_##field##_store((void *)o.out, &a);                                                    \
    }                                                                                              \
    KERNEL cost_##field##_square(struct field_cuda_operands o)                                     \
    {                                                                                              \
        struct gpu_##field a;                                                                      \
        gpu_##field##_load(&a, (void *)o.a);                                                       \
        gpu_##field##_square(&a, &a);                                                              \
        gpu_##field##_store((void *)o.out, &a);                                                    \
    }

#define SUMS_KERNEL(field)                                                                         \
    KERNEL field_##field##_sums(struct field_cuda_operands o)                                      \
    {                                                                                              \
        struct gpu_##field a, b, sum[FIELD_SUMS];                                                  \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##field##_load(&a, element(o.a, i, sizeof(a)));                                    \
            gpu_##field##_load(&b, element(o.b, i, sizeof(b)));                                    \
            gpu_##field##_add(&sum[0], &a, &b);                                                    \
            gpu_##field##_sub(&sum[1], &a, &b);                                                    \
            gpu_##field##_double(&sum[2], &a);                                                     \
            gpu_##field##_neg(&sum[3], &a);                                                        \
            gpu_##field##_to_montgomery(&sum[4], &a);                                              \
            gpu_##field##_from_montgomery(&sum[5], &a);                                            \
            GPU_UNROLL                                                                             \
            for (uint32_t k = 0; k < FIELD_SUMS; k++)                                              \
                gpu_##field##_store(element(o.out, i *FIELD_SUMS + k, sizeof(a)), &sum[k]);        \
        }                                                                                          \
    }

FIELD_KERNELS(fr)
FIELD_KERNELS(fq)
FIELD_KERNELS(fq2)
SUMS_KERNEL(fr)
SUMS_KERNEL(fq)

KERNEL field_fq_differences(struct field_cuda_operands o)
{
    struct gpu_fq a, b;
    for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {
        gpu_fq_load(&a, element(o.a, i, sizeof(a)));
        gpu_fq_load(&b, element(o.b, i, sizeof(b)));
        gpu_fq_mul_sub(&a, &a, &b, &b, &b);
        gpu_fq_store(element(o.out, i, sizeof(a)), &a);
    }
}

/* ---- groups ---- */

#define GROUP_KERNELS(group)                                                                       \
    KERNEL curve_##group##_mixed_adds(struct field_cuda_operands o)                                \
    {                                                                                              \
        struct gpu_##group##_xyzz sum;                                                             \
        struct gpu_##group##_affine point;                                                         \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##group##_xyzz_load(&sum, element(o.a, i, sizeof(sum)));                           \
            gpu_##group##_affine_load(&point, element(o.b, i, sizeof(point)));                     \
            GPU_ONCE                                                                               \
            for (uint32_t k = 0; k < o.repeat; k++)                                                \
                gpu_##group##_xyzz_add_affine(&sum, &point, o.negate);                             \
            gpu_##group##_xyzz_store(element(o.out, i, sizeof(sum)), &sum);                        \
        }                                                                                          \
    }                                                                                              \
    KERNEL curve_##group##_full_adds(struct field_cuda_operands o)                                 \
    {                                                                                              \
        struct gpu_##group##_xyzz sum, point;                                                      \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##group##_xyzz_load(&sum, element(o.a, i, sizeof(sum)));                           \
            gpu_##group##_xyzz_load(&point, element(o.b, i, sizeof(point)));                       \
            GPU_ONCE                                                                               \
            for (uint32_t k = 0; k < o.repeat; k++)                                                \
                gpu_##group##_xyzz_add(&sum, &point);                                              \
            gpu_##group##_xyzz_store(element(o.out, i, sizeof(sum)), &sum);                        \
        }                                                                                          \
    }                                                                                              \
    KERNEL curve_##group##_doubles(struct field_cuda_operands o)                                   \
    {                                                                                              \
        struct gpu_##group##_xyzz sum;                                                             \
        for (uint64_t i = thread_number(); i < o.count; i += thread_count()) {                     \
            gpu_##group##_xyzz_load(&sum, element(o.a, i, sizeof(sum)));                           \
            GPU_ONCE                                                                               \
            for (uint32_t k = 0; k < o.repeat; k++)                                                \
                gpu_##group##_xyzz_double(&sum);                                                   \
            gpu_##group##_xyzz_store(element(o.out, i, sizeof(sum)), &sum);                        \
        }                                                                                          \
    }

GROUP_KERNELS(g1)
GROUP_KERNELS(g2)

/* ---- rates: eight chains that do not wait for each other ---- */

#define RATE_CHAINS 8

KERNEL rate_wide(struct field_cuda_rate o)
{
    uint64_t sum[RATE_CHAINS];
    uint32_t any = 0;
    GPU_UNROLL
    for (uint32_t c = 0; c < RATE_CHAINS; c++)
        sum[c] = thread_number() + c;
    GPU_ONCE
    for (uint32_t k = 0; k < o.repeat; k++) {
        GPU_UNROLL
        for (uint32_t m = 0; m < RATE_MULTIPLIES; m++)
            sum[m % RATE_CHAINS] += (uint64_t)(uint32_t)sum[m % RATE_CHAINS] * o.factor;
    }
    GPU_UNROLL
    for (uint32_t c = 0; c < RATE_CHAINS; c++)
        any ^= (uint32_t)(sum[c] >> 32) ^ (uint32_t)sum[c];
    ((uint32_t *)o.out)[thread_number()] = any;
}

KERNEL rate_low(struct field_cuda_rate o)
{
    uint32_t sum[RATE_CHAINS], any = 0;
    GPU_UNROLL
    for (uint32_t c = 0; c < RATE_CHAINS; c++)
        sum[c] = (uint32_t)thread_number() + c;
    GPU_ONCE
    for (uint32_t k = 0; k < o.repeat; k++) {
        GPU_UNROLL
        for (uint32_t m = 0; m < RATE_MULTIPLIES; m++)
            sum[m % RATE_CHAINS] = sum[m % RATE_CHAINS] * o.factor + k;
    }
    GPU_UNROLL
    for (uint32_t c = 0; c < RATE_CHAINS; c++)
        any ^= sum[c];
    ((uint32_t *)o.out)[thread_number()] = any;
}

/* the shape of a field product: chains of N / 2 with a carry, N = 8 */
KERNEL rate_chain(struct field_cuda_rate o)
{
    uint32_t sum[8], factor[8], any = 0;
    GPU_UNROLL
    for (uint32_t c = 0; c < 8; c++) {
        sum[c] = (uint32_t)thread_number() + c;
        factor[c] = o.factor + c;
    }
    GPU_ONCE
    for (uint32_t k = 0; k < o.repeat; k++) {
        GPU_UNROLL
        for (uint32_t m = 0; m < RATE_MULTIPLIES; m += 4)
            gpu_fr_chain(sum, factor, k + m, 8);
    }
    GPU_UNROLL
    for (uint32_t c = 0; c < 8; c++)
        any ^= sum[c];
    ((uint32_t *)o.out)[thread_number()] = any;
}
