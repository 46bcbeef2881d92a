/*
 * Blocks of a GPU's memory. Where the device has virtual memory management a block is memory of its
 * own (cuMemCreate), mapped at an address: it can be made read-only for kernels, and exported as an
 * fd that keeps it while this process dies. Elsewhere it is plain memory (cuMemAlloc).
 *
 * Called by the CUDA device when it loads and drops keys, never in a proof. A SIGKILL frees all
 * that nobody else holds by an fd.
 */
#ifndef PAWL_GPU_WORKER_CUDA_MEMORY_H
#define PAWL_GPU_WORKER_CUDA_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "gpu-worker/cuda_fault.h"
#include "kernels/gpu_queue.h"

struct cuda_memory {
    const struct cuda_fault *fault;
    CUdevice device;
    int has_vmm, can_export;
    size_t granularity;       /* of VMM */
    uint64_t release_wait_ns; /* until then an exported block's memory may come back: below */
};

struct cuda_block {
    gpu_pointer at; /* 0: none */
    size_t bytes;   /* as asked for */
    size_t mapped_bytes;
    CUmemGenericAllocationHandle memory;
    int exported;
};

/* With the device's context current. */
void cuda_memory_open(struct cuda_memory *memory, const struct cuda_fault *fault, CUdevice device);

/* What may be had now, by the driver's count; blocks that others are about to let go of are not in
 * it. */
size_t cuda_memory_free_bytes(const struct cuda_memory *memory);

/*
 * `bytes` > 0 of writable memory, aligned to 256, contents undefined. 0 or -ENOMEM. Memory of an
 * exported block that was freed comes back when its last fd is closed, by another process: where
 * it is short within a second of such a free, this waits for it.
 */
int cuda_block_make(struct cuda_memory *memory, struct cuda_block *block, size_t bytes);
/* Frees it; nothing uses it any more. A block that is none: nothing. */
void cuda_block_free(struct cuda_memory *memory, struct cuda_block *block);
/* Kernels may only read it from now on, where the device has that. 0 or -errno. */
int cuda_block_protect(struct cuda_memory *memory, struct cuda_block *block);
/* An fd (O_CLOEXEC, the caller's) that holds the memory. 0, -ENOTSUP, or -errno. */
int cuda_block_export(struct cuda_memory *memory, struct cuda_block *block, int *fd);
/* Maps the memory behind such an fd, which stays the caller's, read-only. 0; -ESTALE where it
 * cannot be had, or not in that length. */
int cuda_block_import(struct cuda_memory *memory, struct cuda_block *block, int fd, size_t bytes);

#endif
