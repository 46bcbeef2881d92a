/*
 * A circuit image (shm/image.h) made from a proving key in memory: everything that a reader will
 * index with is validated here, once.
 */
#ifndef PAWL_SYNTH_WORKER_IMAGE_BUILD_H
#define PAWL_SYNTH_WORKER_IMAGE_BUILD_H

#include <stdint.h>

#include "shm/image.h"
#include "synth-worker/coefficients.h"
#include "synth-worker/zkey.h"

struct binfile_source;
struct complaint;
struct parallel;

/* What an image of a key will be. */
struct image_plan {
    struct zkey zkey;
    struct coefficient_counts counts;
    struct image_header header; /* whole but for IMAGE_SUBGROUPS_CHECKED */
};

/*
 * Checks the key's structure (sections, lengths, coefficients) and lays the image out. `key` is in
 * memory (source.bytes) and must outlive the plan; `hash` is the SHA-256 of its bytes. 0 or -errno.
 */
int image_plan(struct image_plan *plan, const struct binfile_source *key,
               const uint8_t hash[IMAGE_HASH_BYTES], struct complaint *complaint);
/*
 * Builds the image into `out`: header.file_bytes zeroed bytes, 64-byte aligned. Checks all points;
 * with `subgroups`, their subgroups too, and flags it in the header. 0 or -errno; after an error
 * `out` holds no image.
 */
int image_build(const struct image_plan *plan, void *out, int subgroups, struct parallel *parallel,
                struct complaint *complaint);
/*
 * Both, into the empty file behind `fd` (a file or a memfd): the space is allocated first, so that
 * a full disk is an error and no SIGBUS. *header gets a copy of the image's. The file is not
 * synced.
 */
int image_build_file(int fd, const struct binfile_source *key, const uint8_t hash[IMAGE_HASH_BYTES],
                     int subgroups, struct parallel *parallel, struct image_header *header,
                     struct complaint *complaint);

#endif
