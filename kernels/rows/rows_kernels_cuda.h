/*
 * What the kernel of module `rows` takes: shared by rows.cu, which nvcc compiles once a curve, and
 * by rows_cuda.c. Plain layout; no state.
 */
#ifndef PAWL_KERNELS_ROWS_ROWS_KERNELS_CUDA_H
#define PAWL_KERNELS_ROWS_ROWS_KERNELS_CUDA_H

#include <assert.h>
#include <stdint.h>

#include "kernels/gpu_queue.h"

enum { ROWS_OF_BLOCK = 256 }; /* and threads */

struct rows_arguments {
    gpu_pointer row_start, wire, value, index;
    gpu_pointer witness, out;
    uint64_t domain; /* rows to be written; those from `rows` on are zero */
    uint32_t rows, index_bytes;
};
static_assert(sizeof(struct rows_arguments) == 64, "as the kernel sees it");

#endif
