/*
 * One slab as a gpu-worker has it: in a file that the checks fill through one mapping and the
 * device reads through another, which is read-only.
 */
#ifndef PAWL_TESTS_GPU_SLAB_H
#define PAWL_TESTS_GPU_SLAB_H

#include <stdint.h>

#include "gpu-worker/device.h"
#include "shm/image.h"

struct check_slab {
    void *writable;
    uint64_t bytes;
    struct device_slabs slabs; /* for slabs_attach; base: the read-only mapping */
};

/* Room for this image's witness and rows. Aborts where memory is short. */
void check_slab_open(struct check_slab *slab, const struct image *image);
void check_slab_close(struct check_slab *slab);
/* 0, or -1 having said on stderr what is wrong with the witness. */
int check_slab_fill(struct check_slab *slab, const struct image *image, const char *witness,
                    int with_rows);
struct device_work check_slab_work(const struct check_slab *slab);

/* The device with the slab attached where it wants to know of slabs. NULL having said why. */
struct device *check_device_open(const char *name, const struct check_slab *slab);
void check_device_close(struct device *device);
/* A watch that neither listens nor cancels. */
extern struct device_watch check_watch;

#endif
