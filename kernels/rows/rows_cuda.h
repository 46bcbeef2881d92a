/*
 * Rows of a sparse matrix times a witness, on a GPU: what rows_evaluate of struct curve gives
 * (kernels/curves.h), bit for bit. Called by whoever owns the queue, which fixes the curve. No
 * state; a SIGKILL leaves what it leaves of the device's memory.
 */
#ifndef PAWL_KERNELS_ROWS_ROWS_CUDA_H
#define PAWL_KERNELS_ROWS_ROWS_CUDA_H

#include <stddef.h>

#include "kernels/gpu_queue.h"

/* struct sparse_matrix in the device's memory: arrays aligned to what they hold, values to 16
 * bytes. index_bytes: 0 where each entry has a value of its own, and index is not looked at. */
struct rows_cuda_matrix {
    gpu_pointer row_start, wire, value, index;
    uint32_t rows, index_bytes;
};

/*
 * out[i] = row i of the matrix times the witness (plain), Montgomery, i < domain; 32 bytes an
 * element; zero for i >= rows. 0, or -errno of the queue, or -EINVAL where the domain is more than
 * 2^32 rows, index_bytes is none of 0, 1, 2, 4, or index is missing.
 */
int rows_cuda_evaluate(struct gpu_queue *queue, gpu_pointer out,
                       const struct rows_cuda_matrix *matrix, gpu_pointer witness, size_t domain);

#endif
