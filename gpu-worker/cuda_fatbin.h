/*
 * What code a fatbin holds, so that a GPU which cannot run it is known before a context is made.
 *
 * The format is nvcc's, without compression: a header {magic, version, header bytes, bytes of all
 * entries}, then entries {kind: 1 PTX, 2 machine code; header bytes; bytes}, with the version of
 * PTX and the architecture (90: compute capability 9.0) in each. Pure; reads nothing outside of
 * the image.
 */
#ifndef PAWL_GPU_WORKER_CUDA_FATBIN_H
#define PAWL_GPU_WORKER_CUDA_FATBIN_H

#include <stddef.h>

enum fatbin_fit {
    FATBIN_UNFIT, /* 0 */
    FATBIN_CODE,
    FATBIN_PTX /* only that: the driver compiles it when a module is loaded, which takes a while */
};

/*
 * Whether a device of this compute capability (90: 9.0) under a driver of this version (13010: CUDA
 * 13.1) can run what is in the image: machine code of the same major and no higher minor number
 * (of 8.7, an embedded GPU, its own alone), or PTX for no higher capability in a version that the
 * driver can compile. Where it cannot, why[bytes] is a line that says what the image has and what
 * to do.
 */
enum fatbin_fit cuda_fatbin_fits(const void *image, size_t image_bytes, int capability,
                                 int driver_version, char *why, size_t why_bytes);

#endif
