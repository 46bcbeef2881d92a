/*
 * The CUDA kernels that this program carries: fatbins that nvcc made, embedded when it was built.
 * None where it was built without nvcc or with CUDA=0.
 *
 * Called by whoever loads kernels into a device or asks what a device must be able to run. Constant
 * data; a SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_MODULES_H
#define PAWL_GPU_WORKER_CUDA_MODULES_H

#include <stddef.h>

#include "kernels/curves.h"

struct cuda_module {
    const char *name; /* of the .cu: "ntt" */
    enum curve_id curve;
    const void *image; /* a fatbin, aligned to 16 */
    size_t bytes;
};

/* How many there are, over both curves; 0: built without CUDA kernels. */
unsigned cuda_modules_count(void);
/* number < cuda_modules_count() */
const struct cuda_module *cuda_modules_at(unsigned number);

#endif
