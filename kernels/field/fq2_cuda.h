/*
 * Fq2 = Fq[u] / (u^2 + 1) for CUDA kernels; fields.h has the mathematics, field_cuda.h the terms.
 *
 *     gpu_fq2_ add sub mul (out, a, b)   neg double square (out, a)   is_zero (a)   equal (a, b)
 *     set_zero set_one (out)   load (out, global)   store (global, a)          c0 | c1 in memory
 *
 * `out` may be any of the operands. mul and square are functions that are called, not inlined:
 * a G2 addition with its ten products inlined takes five times as long to compile and spills.
 * Operands and result go by value, so that they stay in registers.
 */
#ifndef PAWL_KERNELS_FIELD_FQ2_CUDA_H
#define PAWL_KERNELS_FIELD_FQ2_CUDA_H

#include "kernels/field/field_cuda.h"

struct gpu_fq2 {
    struct gpu_fq c0, c1;
};

GPU_FN void gpu_fq2_add(struct gpu_fq2 *out, const struct gpu_fq2 *a, const struct gpu_fq2 *b)
{
    gpu_fq_add(&out->c0, &a->c0, &b->c0);
    gpu_fq_add(&out->c1, &a->c1, &b->c1);
}

GPU_FN void gpu_fq2_sub(struct gpu_fq2 *out, const struct gpu_fq2 *a, const struct gpu_fq2 *b)
{
    gpu_fq_sub(&out->c0, &a->c0, &b->c0);
    gpu_fq_sub(&out->c1, &a->c1, &b->c1);
}

GPU_FN void gpu_fq2_neg(struct gpu_fq2 *out, const struct gpu_fq2 *a)
{
    gpu_fq_neg(&out->c0, &a->c0);
    gpu_fq_neg(&out->c1, &a->c1);
}

GPU_FN void gpu_fq2_double(struct gpu_fq2 *out, const struct gpu_fq2 *a)
{
    gpu_fq2_add(out, a, a);
}

GPU_FN int gpu_fq2_is_zero(const struct gpu_fq2 *a)
{
    return gpu_fq_is_zero(&a->c0) & gpu_fq_is_zero(&a->c1);
}

GPU_FN int gpu_fq2_equal(const struct gpu_fq2 *a, const struct gpu_fq2 *b)
{
    return gpu_fq_equal(&a->c0, &b->c0) & gpu_fq_equal(&a->c1, &b->c1);
}

GPU_FN void gpu_fq2_set_zero(struct gpu_fq2 *out)
{
    gpu_fq_set_zero(&out->c0);
    gpu_fq_set_zero(&out->c1);
}

GPU_FN void gpu_fq2_set_one(struct gpu_fq2 *out)
{
    gpu_fq_set_one(&out->c0);
    gpu_fq_set_zero(&out->c1);
}

GPU_FN void gpu_fq2_load(struct gpu_fq2 *out, const void *global)
{
    gpu_fq_load(&out->c0, global);
    gpu_fq_load(&out->c1, (const char *)global + sizeof(struct gpu_fq));
}

GPU_FN void gpu_fq2_store(void *global, const struct gpu_fq2 *a)
{
    gpu_fq_store(global, &a->c0);
    gpu_fq_store((char *)global + sizeof(struct gpu_fq), &a->c1);
}

/* t (2 N words) -= s; all ones where that is negative, else 0 */
GPU_FN uint32_t gpu_fq_wide_sub(uint32_t *t, const uint32_t *s)
{
    t[0] = gpu_sub_cc(t[0], s[0]);
    GPU_UNROLL
    for (int k = 1; k < 2 * GPU_FQ_WORDS; k++)
        t[k] = gpu_subc_cc(t[k], s[k]);
    return gpu_subc(0, 0);
}

/*
 * Karatsuba on wide products, so three products and two reductions. Sums of two canonical elements
 * are below 2p and their product below 4 p^2 <= p R; what is subtracted from it leaves
 * a0 b1 + a1 b0 >= 0; and a0 b0 - a1 b1, p R added where it is negative, is in [0, p R).
 */
GPU_OUT_OF_LINE struct gpu_fq2 gpu_fq2_product(struct gpu_fq2 a, struct gpu_fq2 b)
{
    struct gpu_fq2 out;
    uint32_t low[2 * GPU_FQ_WORDS], high[2 * GPU_FQ_WORDS], cross[2 * GPU_FQ_WORDS];
    uint32_t sum_a[GPU_FQ_WORDS], sum_b[GPU_FQ_WORDS];
    gpu_fq_add_raw(sum_a, a.c0.limb, a.c1.limb);
    gpu_fq_add_raw(sum_b, b.c0.limb, b.c1.limb);
    gpu_fq_wide_mul(low, a.c0.limb, b.c0.limb);
    gpu_fq_wide_mul(high, a.c1.limb, b.c1.limb);
    gpu_fq_wide_mul(cross, sum_a, sum_b);
    gpu_fq_wide_sub(cross, low);
    gpu_fq_wide_sub(cross, high);
    gpu_fq_wide_reduce(&out.c1, cross);
    gpu_fq_add_modulus(low + GPU_FQ_WORDS, gpu_fq_wide_sub(low, high));
    gpu_fq_wide_reduce(&out.c0, low);
    return out;
}

/* (a0 + a1)(a0 - a1 + p) and (2 a0) a1: factors below 2p */
GPU_OUT_OF_LINE struct gpu_fq2 gpu_fq2_squared(struct gpu_fq2 a)
{
    struct gpu_fq2 out;
    uint32_t sum[GPU_FQ_WORDS], twice[GPU_FQ_WORDS];
    struct gpu_fq difference;
    gpu_fq_add_raw(sum, a.c0.limb, a.c1.limb);
    gpu_fq_sub(&difference, &a.c0, &a.c1);
    gpu_fq_add_raw(twice, a.c0.limb, a.c0.limb);
    gpu_fq_mul_raw(&out.c0, sum, difference.limb);
    gpu_fq_mul_raw(&out.c1, twice, a.c1.limb);
    return out;
}

GPU_FN void gpu_fq2_mul(struct gpu_fq2 *out, const struct gpu_fq2 *a, const struct gpu_fq2 *b)
{
    *out = gpu_fq2_product(*a, *b);
}

GPU_FN void gpu_fq2_square(struct gpu_fq2 *out, const struct gpu_fq2 *a)
{
    *out = gpu_fq2_squared(*a);
}

/* out = a b - c d */
GPU_FN void gpu_fq2_mul_sub(struct gpu_fq2 *out, const struct gpu_fq2 *a, const struct gpu_fq2 *b,
                            const struct gpu_fq2 *c, const struct gpu_fq2 *d)
{
    const struct gpu_fq2 subtracted = gpu_fq2_product(*c, *d);
    *out = gpu_fq2_product(*a, *b);
    gpu_fq2_sub(out, out, &subtracted);
}

#endif
