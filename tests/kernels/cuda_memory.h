/*
 * Buffers of the software device for kernel tests. Header only; the queue owns the memory.
 */
#ifndef PAWL_TESTS_KERNELS_CUDA_MEMORY_H
#define PAWL_TESTS_KERNELS_CUDA_MEMORY_H

#include "kernels/curves.h"
#include "tests/softcuda/soft_queue.h"

/* The name that fatbins have for a curve. */
static inline const char *cuda_curve_name(uint32_t id)
{
    return id == CURVE_BN254 ? "bn254" : "bls12381";
}

static inline gpu_pointer cuda_upload(struct soft_queue *queue, const void *from, size_t bytes)
{
    gpu_pointer at = soft_queue_allocate(queue, bytes);
    soft_queue_write(queue, at, from, bytes);
    return at;
}

#endif
