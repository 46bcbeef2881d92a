/*
 * What the kernels of module `ntt` take: shared by ntt.cu, which nvcc compiles once a curve, and by
 * the plan in ntt_cuda.c. Plain layouts; no state.
 */
#ifndef PAWL_KERNELS_NTT_NTT_KERNELS_CUDA_H
#define PAWL_KERNELS_NTT_NTT_KERNELS_CUDA_H

#include <assert.h>
#include <stdint.h>

#include "kernels/gpu_queue.h"

/* An element of Fr in memory; two of them follow the table's 2^log2_domain roots: 1 / n, in
 * Montgomery form and plain. */
enum { NTT_ELEMENT_BYTES = 32, NTT_ARRAYS = 3, NTT_AFTER_ROOTS = 2 };
enum { NTT_INVERSE_SIZE, NTT_INVERSE_SIZE_PLAIN };
enum { NTT_THREADS_MOST = 768 };

/* ntt_table_roots (one thread), ntt_table_edges, ntt_table_fill */
struct ntt_table_arguments {
    gpu_pointer table;
    uint32_t log2_domain;
    uint32_t log2_low; /* indices split into so many low bits and the rest */
};
static_assert(sizeof(struct ntt_table_arguments) == 16, "as the kernels see it");

/*
 * ntt_forward, ntt_middle, ntt_backward: `depth` levels from level `level` on, on tiles of the
 * arrays a, b and c, each 2^(depth + log2_columns) elements of 2^log2_domain.
 */
struct ntt_pass_arguments {
    gpu_pointer array[NTT_ARRAYS];
    gpu_pointer table;
    uint32_t log2_domain, level, depth, log2_columns;
};
static_assert(sizeof(struct ntt_pass_arguments) == 48, "as the kernels see it");

#endif
