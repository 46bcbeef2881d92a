/*
 * Fr and Fq of one curve for CUDA kernels; compiled as C they are the host model that tests run.
 *
 * Elements are those of fields.h, as words of 32 bits: Montgomery form, R = 2^256 or, for
 * BLS12-381's Fq, 2^384; so memory holds the same bytes. They are canonical (below p) in memory and
 * in every argument and result here, but where a bound says otherwise. With gpu_fr_ or gpu_fq_ in
 * front:
 *
 *     add sub mul (out, a, b)    neg double square to_montgomery from_montgomery (out, a)
 *     is_zero (a)  equal (a, b)  set_zero (out)  set_one (out)
 *     load (out, global)         store (global, a)    global memory, aligned to 16 bytes
 *
 * and gpu_fq_mul_sub (out, a, b, c, d): a b - c d by one reduction.
 * `out` may be any of the operands. No branch depends on values.
 *
 * How (field_template_cuda.h): a product is N rows of 4 chains, each of N / 2 wide multiply-adds
 * that carry from one to the next: 2 N^2 in all, 128 or 288. A square has N (N + 1) / 2 + N^2.
 *
 * The curve is PAWL_CURVE's (curve_select.h). No state; nothing here outlives a launch.
 */
#ifndef PAWL_KERNELS_FIELD_FIELD_CUDA_H
#define PAWL_KERNELS_FIELD_FIELD_CUDA_H

#include "kernels/field/carry_cuda.h"
#include "kernels/field/curve_select.h"

#if CURVE_NUMBER == 1
#include "kernels/field/constants_cuda_bn254.h"
#else
#include "kernels/field/constants_cuda_bls12381.h"
#endif

#ifndef __CUDACC__
#include <string.h>
#endif

struct gpu_fr {
    uint32_t limb[GPU_FR_WORDS];
} __attribute__((aligned(16)));
struct gpu_fq {
    uint32_t limb[GPU_FQ_WORDS];
} __attribute__((aligned(16)));

/* `words`, a multiple of four, from and to global memory, 16 bytes at a time */
GPU_FN void gpu_words_load(uint32_t *out, const void *global, int words)
{
#ifdef __CUDACC__
    __builtin_assume(__isGlobal(global));
    GPU_UNROLL
    for (int i = 0; i < words; i += 4) {
        const uint4 four = ((const uint4 *)global)[i / 4];
        out[i] = four.x;
        out[i + 1] = four.y;
        out[i + 2] = four.z;
        out[i + 3] = four.w;
    }
#else
    memcpy(out, global, (size_t)words * sizeof(*out));
#endif
}

GPU_FN void gpu_words_store(void *global, const uint32_t *a, int words)
{
#ifdef __CUDACC__
    __builtin_assume(__isGlobal(global));
    GPU_UNROLL
    for (int i = 0; i < words; i += 4)
        ((uint4 *)global)[i / 4] = make_uint4(a[i], a[i + 1], a[i + 2], a[i + 3]);
#else
    memcpy(global, a, (size_t)words * sizeof(*a));
#endif
}

#define GPU_FIELD fr
#define GPU_WORDS GPU_FR_WORDS
#define GPU_MODULUS GPU_FR_MODULUS
#define GPU_NEGATIVE_INVERSE GPU_FR_NEGATIVE_INVERSE
#define GPU_ONE GPU_FR_ONE
#define GPU_R_SQUARED GPU_FR_R_SQUARED
#include "kernels/field/field_template_cuda.h"

#define GPU_FIELD fq
#define GPU_WORDS GPU_FQ_WORDS
#define GPU_MODULUS GPU_FQ_MODULUS
#define GPU_NEGATIVE_INVERSE GPU_FQ_NEGATIVE_INVERSE
#define GPU_ONE GPU_FQ_ONE
#define GPU_R_SQUARED GPU_FQ_R_SQUARED
#include "kernels/field/field_template_cuda.h"

/* out = a b - c d = a b + (p - c) d: canonical but for p - 0 = p, which the bounds have room for */
GPU_FN void gpu_fq_mul_sub(struct gpu_fq *out, const struct gpu_fq *a, const struct gpu_fq *b,
                           const struct gpu_fq *c, const struct gpu_fq *d)
{
    const uint32_t p[GPU_FQ_WORDS] = GPU_FQ_MODULUS;
    uint32_t negated[GPU_FQ_WORDS];
    gpu_fq_sub_raw(negated, p, c->limb);
    gpu_fq_mul_add_raw(out, a->limb, b->limb, negated, d->limb);
}

#endif
