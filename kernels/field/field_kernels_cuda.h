/*
 * The kernels of module `field` and the structures that they take: for tests, for the self-test and
 * the microbenchmarks of a machine with a GPU, and for the count of instructions by operation. No
 * proof needs them. Compiled for each curve; elements and points as field_cuda.h and xyzz_cuda.h
 * have them in memory.
 *
 * Any number of blocks of at most 256 threads; element i is thread i's, and i + all threads' next.
 * `repeat` may be 0 (out is then a).
 *
 *     field_fr_products field_fq_products field_fq2_products
 *         out = a b^repeat, one by one
 *     field_fr_squares field_fq_squares field_fq2_squares
 *         out = a^(2^repeat); b is not read
 *     field_fr_sums field_fq_sums
 *         FIELD_SUMS elements out for each i: a + b, a - b, 2a, -a, a to Montgomery form, a from it
 *     field_fq_differences
 *         out = a b - b b
 *     curve_g1_mixed_adds curve_g2_mixed_adds
 *         out = a + repeat * (+-b), a in XYZZ and b affine
 *     curve_g1_full_adds curve_g2_full_adds
 *         out = a + repeat * b, both in XYZZ
 *     curve_g1_doubles curve_g2_doubles
 *         out = 2^repeat a; b is not read
 *     rate_wide rate_low rate_chain (struct field_cuda_rate)
 *         each thread makes RATE_MULTIPLIES * repeat multiply-adds of 32 by 32 bits: to 64 bits, to
 *         the low 32, to 64 bits with a carry from one to the next; a word at out + 4 * its number
 *     cost_fr_product cost_fq_product cost_fq2_product cost_fr_square cost_fq_square
 *     cost_fq2_square
 *         one thread, one operation, out = a op b: what a compiler makes of it is counted, as it is
 *         in the additions above (tests/kernels/cost_cuda_test.c)
 */
#ifndef PAWL_KERNELS_FIELD_FIELD_KERNELS_CUDA_H
#define PAWL_KERNELS_FIELD_FIELD_KERNELS_CUDA_H

#include "kernels/gpu_queue.h"

struct field_cuda_operands {
    gpu_pointer out, a, b;
    uint64_t count;
    uint32_t repeat;
    uint32_t negate; /* mixed additions: subtract */
};

struct field_cuda_rate {
    gpu_pointer out;
    uint32_t repeat;
    uint32_t factor; /* odd; unknown to the compiler */
};

enum { FIELD_SUMS = 6, RATE_MULTIPLIES = 128 };

#endif
