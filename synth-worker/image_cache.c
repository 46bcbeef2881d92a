/*
 * Finds circuit images by hash and by key file. Called by compile.c. The layout of the folder and
 * what a SIGKILL leaves stand in image_cache.h; making of images is in image_draft.c.
 */
#include "synth-worker/image_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "synth-worker/hash.h"

#define BY_FILE "by-file"
#define LINK_PREFIX "../"
#define SETTLED_S 2

void image_cache_name(char out[IMAGE_CACHE_NAME_BYTES], const uint8_t hash[IMAGE_HASH_BYTES])
{
    char hex[HASH_HEX_BYTES];
    hash_hex(hex, hash);
    snprintf(out, IMAGE_CACHE_NAME_BYTES, "%s.image", hex);
}

/* The header names the file it stands in, so that a renamed image is not taken for another. */
static int read_header(const struct image_cache *cache, int fd, const char *name,
                       struct image_header *header)
{
    struct image image;
    struct stat status;
    const char *what;
    char own_name[IMAGE_CACHE_NAME_BYTES];
    if (fstat(fd, &status) || (status.st_uid != geteuid() && status.st_uid != 0))
        return 0;
    if (image_map(&image, fd, &what))
        return 0;
    *header = *image.header;
    int whole = !cache->checks_bodies || !image_check(&image, NULL, NULL);
    image_unmap(&image);
    image_cache_name(own_name, header->hash);
    return whole && !strcmp(own_name, name);
}

static int find_name(const struct image_cache *cache, const char *name, uint32_t flags,
                     struct image_header *header)
{
    int fd = openat(cache->folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int found = read_header(cache, fd, name, header) && (header->flags & flags) == flags;
    close(fd);
    return found;
}

int image_cache_find(const struct image_cache *cache, const uint8_t hash[IMAGE_HASH_BYTES],
                     uint32_t flags, struct image_header *header)
{
    char name[IMAGE_CACHE_NAME_BYTES];
    image_cache_name(name, hash);
    return find_name(cache, name, flags, header);
}

#define LINK_NAME_BYTES 160

static void link_name(char out[LINK_NAME_BYTES], const struct stat *key)
{
    snprintf(out, LINK_NAME_BYTES,
             BY_FILE "/%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".%lx-%" PRIx64 ".%lx",
             (uint64_t)key->st_dev, (uint64_t)key->st_ino, (uint64_t)key->st_size,
             (uint64_t)key->st_mtim.tv_sec, key->st_mtim.tv_nsec, (uint64_t)key->st_ctim.tv_sec,
             key->st_ctim.tv_nsec);
}

int image_cache_find_file(const struct image_cache *cache, const struct stat *key, uint32_t flags,
                          struct image_header *header)
{
    char name[LINK_NAME_BYTES], target[IMAGE_CACHE_NAME_BYTES + sizeof LINK_PREFIX];
    link_name(name, key);
    ssize_t length = readlinkat(cache->folder_fd, name, target, sizeof target - 1);
    if (length <= (ssize_t)strlen(LINK_PREFIX))
        return 0;
    target[length] = 0;
    const char *image = target + strlen(LINK_PREFIX);
    if (strncmp(target, LINK_PREFIX, strlen(LINK_PREFIX)) || strchr(image, '/'))
        return 0;
    return find_name(cache, image, flags, header);
}

static int is_settled(const struct stat *key)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - key->st_ctim.tv_sec > SETTLED_S;
}

void image_cache_link_file(const struct image_cache *cache, const struct stat *key,
                           const uint8_t hash[IMAGE_HASH_BYTES])
{
    char name[LINK_NAME_BYTES], image[IMAGE_CACHE_NAME_BYTES];
    char target[IMAGE_CACHE_NAME_BYTES + sizeof LINK_PREFIX];
    if (!is_settled(key))
        return;
    link_name(name, key);
    image_cache_name(image, hash);
    snprintf(target, sizeof target, LINK_PREFIX "%s", image);
    mkdirat(cache->folder_fd, BY_FILE, 0700);
    if (symlinkat(target, cache->folder_fd, name) && errno == EEXIST) {
        unlinkat(cache->folder_fd, name, 0);
        if (symlinkat(target, cache->folder_fd, name))
            return; /* somebody else is at it: theirs is as good */
    }
}
