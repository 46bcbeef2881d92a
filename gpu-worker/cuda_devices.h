/*
 * Which GPUs the driver shows, what they are, and whether the kernels of this program can run on
 * them. The driver honours CUDA_VISIBLE_DEVICES, so what it shows is what may be used.
 *
 * Called by whoever lists devices or opens one, with an open driver. Makes no context and takes no
 * memory of a device. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_DEVICES_H
#define PAWL_GPU_WORKER_CUDA_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include "gpu-worker/cuda_driver.h"

#define CUDA_MODEL_BYTES 64
#define CUDA_WHY_BYTES 256
#define CUDA_CAPABILITY_LEAST 80 /* 8.0: Ampere; nothing older is built for or was looked at */

/* The fatbin by which to judge; all modules are built for the same architectures. */
struct cuda_code {
    const void *image; /* NULL: built without CUDA kernels */
    size_t bytes;
};

/* What this program carries. */
struct cuda_code cuda_devices_own_code(void);

struct cuda_facts {
    CUdevice device;
    int ordinal; /* N of cuda:N; counts what CUDA_VISIBLE_DEVICES lets through */
    char uuid[CUDA_UUID_TEXT_BYTES]; /* "GPU-..."; of a part of a GPU "MIG-..." */
    char model[CUDA_MODEL_BYTES];    /* printable ASCII */
    int capability;                  /* 90: 9.0 */
    int multiprocessors;
    uint64_t memory_bytes;
    int shared_by_mps; /* then another client's fault is this one's too: worth a warning */
    int compiles; /* there is PTX for it alone, which takes its driver a while at a first key */
    char why[CUDA_WHY_BYTES]; /* why it is unfit and what to do; "": it is fit */
};

/* Reads the facts of one device, 0 <= ordinal < driver->devices. 0, or the driver's code, with
 * facts->why saying the same in words. */
CUresult cuda_devices_read(const struct cuda_driver *driver, int ordinal,
                           const struct cuda_code *code, struct cuda_facts *facts);

/*
 * The device of a name: "cuda:N", or a UUID in either case, or as much of a UUID's beginning as no
 * other device shares (as in CUDA_VISIBLE_DEVICES). 0: fit for use. -ENODEV: none, or several, of
 * that name; -EOPNOTSUPP: there, with its facts, but unfit; -EIO: the driver fails. Then why[bytes]
 * has a line that says what to do.
 */
int cuda_devices_find(const struct cuda_driver *driver, const char *name,
                      const struct cuda_code *code, struct cuda_facts *facts, char *why,
                      size_t why_bytes);

/* 1 where the name is a GPU's by its form: "cuda:N", "GPU-..." or "MIG-...". */
int cuda_devices_is_name(const char *name);

#endif
