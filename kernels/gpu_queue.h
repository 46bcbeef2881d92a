/*
 * How the plans of CUDA kernels (*_cuda.c) reach a GPU, so that kernels/ knows no driver: whoever
 * owns the device fills in the calls. A queue belongs to one curve and one stream; what is put into
 * it runs in order and asynchronously. Addresses are the device's and are not dereferenced here.
 *
 * Kernels are extern "C", named for their operation, and take one structure by value, declared in
 * the header that the .cu and the plan share. Their modules are compiled once a curve.
 */
#ifndef PAWL_KERNELS_GPU_QUEUE_H
#define PAWL_KERNELS_GPU_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpu_pointer; /* 0: none; what buffers begin with is aligned to 256 bytes */

struct gpu_launch {
    const char *kernel;
    uint32_t blocks, threads; /* of a block */
    uint32_t shared_bytes;    /* dynamic, beside what the kernel declares */
    const void *arguments;    /* the one structure; copied before launch returns */
    size_t argument_bytes;
};

struct gpu_queue {
    /* 0, or -errno: what was put in before still runs. An error that a kernel meets shows later. */
    int (*launch)(struct gpu_queue *self, const struct gpu_launch *launch);
    int (*clear)(struct gpu_queue *self, gpu_pointer at, size_t bytes); /* to zero */
    uint32_t multiprocessors;                                           /* at least 1 */
    uint32_t shared_bytes_most;                                         /* dynamic, of a block */
};

#endif
