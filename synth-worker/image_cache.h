/*
 * The folder of circuit images:
 *
 *     HASH.image                                     an image, whole (made aside, synced, renamed)
 *     by-file/DEV-INODE-SIZE-MTIME-CTIME             a link to the image of the key file that had
 *                                                    these numbers: saves hashing the key again
 *     .tmp-PID-NUMBER                                an image in the making, locked by its maker
 *
 * Many processes may use the folder at once. An image that does not pass image_map, whose header
 * names another hash, or that belongs to another user (not root) is as good as absent. A SIGKILL
 * leaves at most a .tmp file without a lock, which the next image_cache_open removes.
 */
#ifndef PAWL_SYNTH_WORKER_IMAGE_CACHE_H
#define PAWL_SYNTH_WORKER_IMAGE_CACHE_H

#include <stdint.h>
#include <sys/stat.h>

#include "shm/image.h"

struct complaint;

#define IMAGE_CACHE_NAME_BYTES 80

struct image_cache {
    int folder_fd;
    const char *folder; /* for texts; borrowed */
    int checks_bodies;  /* set by the caller: one without its checksum is as good as absent too */
};

/* Opens the folder, made with its parents where it is not there (0700), and sweeps it. 0 or
 * -errno. */
int image_cache_open(struct image_cache *cache, const char *folder, struct complaint *complaint);
void image_cache_close(struct image_cache *cache);

/* "HASH.image". */
void image_cache_name(char out[IMAGE_CACHE_NAME_BYTES], const uint8_t hash[IMAGE_HASH_BYTES]);
/* The image with that hash and at least these flags: 1 with its header, else 0. */
int image_cache_find(const struct image_cache *cache, const uint8_t hash[IMAGE_HASH_BYTES],
                     uint32_t flags, struct image_header *header);
/* The same by what stat says of the key file. */
int image_cache_find_file(const struct image_cache *cache, const struct stat *key, uint32_t flags,
                          struct image_header *header);
/*
 * Remembers that the key file `key` has the image `hash`. Not for a file that changed within the
 * last two seconds: its times may not tell it from what it is changed to next. Failure costs a
 * hash, no more, and is not reported.
 */
void image_cache_link_file(const struct image_cache *cache, const struct stat *key,
                           const uint8_t hash[IMAGE_HASH_BYTES]);

/* A file in the making. */
struct image_draft {
    int fd;
    char name[IMAGE_CACHE_NAME_BYTES];
};
int image_cache_draft(const struct image_cache *cache, struct image_draft *draft,
                      struct complaint *complaint);
/* Syncs the draft and gives it the name of its hash, in place of an older one. The draft is closed
 * and gone after either. 0 or -errno. */
int image_cache_publish(const struct image_cache *cache, struct image_draft *draft,
                        const uint8_t hash[IMAGE_HASH_BYTES], struct complaint *complaint);
void image_cache_discard(const struct image_cache *cache, struct image_draft *draft);

#endif
