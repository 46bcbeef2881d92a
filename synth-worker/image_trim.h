/*
 * The bound on the folder of images: what is in it beyond so many bytes goes, least recently used
 * first.
 */
#ifndef PAWL_SYNTH_WORKER_IMAGE_TRIM_H
#define PAWL_SYNTH_WORKER_IMAGE_TRIM_H

#include <stdint.h>

#include "shm/image.h"

struct image_cache;

#define IMAGES_MAX_BYTES (UINT64_C(64) << 30) /* where nobody names another bound */

/* Marks the image as used now. Failure (another user's image) costs it its rank, no more. */
void image_cache_touch(const struct image_cache *cache, const uint8_t hash[IMAGE_HASH_BYTES]);
/*
 * Removes images until all that are left have at most bytes_max together (0: no bound). Never one
 * that is in use: whoever serves an image holds a shared lock (flock) on it, and a link in names/
 * keeps the one that it leads to; nor `kept`. So more than bytes_max may be left.
 */
void image_cache_trim(const struct image_cache *cache, uint64_t bytes_max,
                      const uint8_t kept[IMAGE_HASH_BYTES]);

#endif
