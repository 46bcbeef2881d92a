/*
 * The circuit images that a synth-worker has mapped, by hash. Mapped at their IMAGE message, once;
 * unmapped at FORGET, or, while one is in use, at the end of that use.
 */
#ifndef PAWL_SYNTH_WORKER_SYNTH_IMAGES_H
#define PAWL_SYNTH_WORKER_SYNTH_IMAGES_H

#include <stdint.h>

#include "shm/image.h"

struct synth_image {
    uint8_t hash[IMAGE_HASH_BYTES];
    struct image image;
    int forgotten; /* unmap when its use ends */
};

struct synth_images {
    struct synth_image **image; /* each allocated on its own, so that pointers stay */
    uint32_t count;
    const struct synth_image *used;
};

/* Maps the image behind `fd` (stays the caller's) and checks that its header has that hash. 0 (also
 * where it is mapped already), or -errno with *what naming what is wrong. */
int synth_images_add(struct synth_images *images, const uint8_t hash[IMAGE_HASH_BYTES], int fd,
                     const char **what);
/* The image with that hash, in use until synth_images_release; NULL where there is none. */
const struct image *synth_images_use(struct synth_images *images,
                                     const uint8_t hash[IMAGE_HASH_BYTES]);
void synth_images_release(struct synth_images *images);
void synth_images_forget(struct synth_images *images, const uint8_t hash[IMAGE_HASH_BYTES]);

#endif
