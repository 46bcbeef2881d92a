/*
 * A gpu_queue over the PTX interpreter, for tests of kernels and their plans: no driver between.
 * It loads every $BUILD_DIR/cuda/kernels/<operation>/<name>.<curve>.fatbin (BUILD_DIR: "build"
 * where unset). A launch runs before it returns; a fault in it prints one line with the kernel,
 * the line of PTX and the address, is kept in `fault`, and the launch returns -EFAULT, as does
 * every one after it.
 */
#ifndef PAWL_TESTS_SOFTCUDA_SOFT_QUEUE_H
#define PAWL_TESTS_SOFTCUDA_SOFT_QUEUE_H

#include "kernels/gpu_queue.h"
#include "tests/softcuda/ptx.h"

struct soft_queue {
    struct gpu_queue queue; /* first: a plan's queue is the soft_queue's address */
    uint64_t seed;          /* of the next launch; each launch changes it */
    uint64_t launches;
    struct ptx_fault fault; /* the first one */
    bool quiet;             /* prints no line for a fault: for tests that want one */
    struct soft_queue_state *state;
};

/* `curve`: "bn254" or "bls12381". Ends the program where modules cannot be loaded. */
struct soft_queue *soft_queue_open(const char *curve, uint64_t seed);
void soft_queue_close(struct soft_queue *queue); /* frees all that was allocated */

/*
 * Memory of the device, poisoned, aligned to 256 bytes, with a gap after it that faults. What was
 * never written may not be read by a kernel.
 */
gpu_pointer soft_queue_allocate(struct soft_queue *queue, size_t bytes);
void soft_queue_free(struct soft_queue *queue, gpu_pointer at);

/* Both assert that the bytes lie in one allocation. */
void soft_queue_write(struct soft_queue *queue, gpu_pointer to, const void *from, size_t bytes);
void soft_queue_read(struct soft_queue *queue, void *to, gpu_pointer from, size_t bytes);

#endif
