/*
 * A gpu_queue (kernels/gpu_queue.h) over a stream of a GPU, for one curve: its modules are loaded
 * whole when it is opened, and local memory reserved for the greediest of their kernels, so that no
 * proof waits for code or allocates. Module `field`, which no proof uses, is loaded when a kernel
 * of it is launched.
 *
 * Called by the CUDA device, from the prover's thread. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_QUEUE_H
#define PAWL_GPU_WORKER_CUDA_QUEUE_H

#include "gpu-worker/cuda_fault.h"
#include "kernels/curves.h"
#include "kernels/gpu_queue.h"

#define CUDA_QUEUE_MODULES 16
#define CUDA_QUEUE_FUNCTIONS 64

struct cuda_function {
    const char *name; /* as the plan gave it: static text */
    CUfunction function;
    uint32_t shared_bytes; /* dynamic, that it has been allowed so far */
};

struct cuda_queue {
    struct gpu_queue queue; /* first: the calls cast back */
    const struct cuda_fault *fault;
    CUstream stream;
    enum curve_id curve;
    int has_tests; /* module `field` is loaded too */
    unsigned modules, functions;
    CUmodule module[CUDA_QUEUE_MODULES];
    struct cuda_function function[CUDA_QUEUE_FUNCTIONS];
};

/*
 * Loads the curve's modules and asks the device what a plan wants to know. The context is current;
 * the stream stays the caller's. 0; -ENOMEM; -ENOENT where this build has none for the curve.
 */
int cuda_queue_open(struct cuda_queue *queue, const struct cuda_fault *fault, CUdevice device,
                    CUstream stream, enum curve_id curve);
/* Nothing is in the stream. */
void cuda_queue_close(struct cuda_queue *queue);

#endif
