/*
 * A circuit image (shm/image.h) made from a proving key in memory: everything that a reader will
 * index with is validated here, once.
 */
#ifndef PAWL_SYNTH_WORKER_IMAGE_BUILD_H
#define PAWL_SYNTH_WORKER_IMAGE_BUILD_H

#include <stdint.h>

#include "shm/image.h"

struct binfile_source;
struct complaint;
struct parallel;

/*
 * Checks the key (`key` is in memory, source.bytes; `hash` is the SHA-256 of its bytes) and builds
 * its image into the empty file behind `fd` (a file or a memfd). The space is allocated first, so
 * that a full disk is an error and no SIGBUS. With `subgroups`, the points' subgroups are checked
 * as well, and the header says so. *header gets a copy of the image's. The file is not synced. 0 or
 * -errno; after an error the file holds no image.
 */
int image_build_file(int fd, const struct binfile_source *key, const uint8_t hash[IMAGE_HASH_BYTES],
                     int subgroups, struct parallel *parallel, struct image_header *header,
                     struct complaint *complaint);

/*
 * The same with the constraints of the circuit: the image gets C, and the key's A and B must be the
 * r1cs's. `r1cs` is in memory as well, or NULL; *repeated gets the number of combinations that list
 * a wire twice.
 */
int image_build_file_r1cs(int fd, const struct binfile_source *key,
                          const struct binfile_source *r1cs, const uint8_t hash[IMAGE_HASH_BYTES],
                          int subgroups, struct parallel *parallel, struct image_header *header,
                          uint32_t *repeated, struct complaint *complaint);

#endif
