/*
 * A few pinned pieces of memory in a ring, through which bytes that the driver cannot reach by
 * itself go to a GPU: for keys, for slabs that cannot be registered. Made once at the start, of a
 * fixed size; whoever fills it faster than the GPU empties it waits.
 *
 * Used by cuda_pinning.c, by one thread at a time. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_RING_H
#define PAWL_GPU_WORKER_CUDA_RING_H

#include <stddef.h>

#include "gpu-worker/cuda_driver.h"
#include "kernels/gpu_queue.h"

#define CUDA_RING_SLOT_BYTES ((size_t)1 << 20)
#define CUDA_RING_SLOTS 4
#define CUDA_RING_DEADLINE_MS 60000 /* a slot takes a millisecond; longer than this is a hang */

struct seat_page;

struct cuda_ring {
    const struct cuda_driver *driver;
    char *memory;                    /* the slots, one behind the other */
    CUevent passed[CUDA_RING_SLOTS]; /* the copy out of a slot is over */
    int in_use[CUDA_RING_SLOTS];     /* `passed` was recorded */
    unsigned next;
};

/* With the context current: 0, or a code of the driver; then nothing is left. seat: as in
 * cuda_pinned.h. */
CUresult cuda_ring_create(struct cuda_ring *ring, const struct cuda_driver *driver,
                          struct seat_page *seat);
/* No copy is under way; harmless for one that is all zero. */
void cuda_ring_destroy(struct cuda_ring *ring);

/* The bytes have been taken when it returns. 0, a code of the driver (> 0), or -ETIMEDOUT. */
int cuda_ring_upload(struct cuda_ring *ring, gpu_pointer to, const void *from, size_t bytes,
                     CUstream stream);

#endif
