/*
 * Images that nobody needs; see the header. Called by compile.c, so by each compile. A SIGKILL
 * leaves a folder that the next one trims on; links to an image that is gone are as good as none.
 */
#include "synth-worker/image_trim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "synth-worker/folder.h"
#include "synth-worker/image_cache.h"

#define SUFFIX ".image"
#define NAMES "names"
#define NAME_PREFIX "../"

struct candidate {
    char name[IMAGE_CACHE_NAME_BYTES];
    struct timespec used;
    uint64_t bytes;
};

struct trimming {
    const char *kept;
    struct candidate *candidates;
    size_t count, room;
    uint64_t bytes; /* of all */
};

static int is_image(const char *name)
{
    size_t length = strlen(name), suffix = strlen(SUFFIX);
    return length > suffix && length < IMAGE_CACHE_NAME_BYTES &&
           !strcmp(name + length - suffix, SUFFIX);
}

static void add_image(void *arg, int fd, const char *name)
{
    struct trimming *trimming = arg;
    struct stat status;
    if (!is_image(name) || fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(status.st_mode))
        return;
    trimming->bytes += (uint64_t)status.st_size;
    if (!strcmp(name, trimming->kept))
        return;
    if (trimming->count == trimming->room) {
        size_t room = trimming->room ? 2 * trimming->room : 64;
        void *more = realloc(trimming->candidates, room * sizeof(*trimming->candidates));
        if (!more)
            return; /* it stays until the next compile */
        trimming->candidates = more;
        trimming->room = room;
    }
    struct candidate *candidate = &trimming->candidates[trimming->count++];
    *candidate = (struct candidate){.used = status.st_mtim, .bytes = (uint64_t)status.st_size};
    strcpy(candidate->name, name);
}

/* An image that a name leads to. */
static void spare_named(void *arg, int fd, const char *link)
{
    struct trimming *trimming = arg;
    char target[IMAGE_CACHE_NAME_BYTES + sizeof NAME_PREFIX];
    ssize_t length = readlinkat(fd, link, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    if (strncmp(target, NAME_PREFIX, strlen(NAME_PREFIX)))
        return;
    for (size_t i = 0; i < trimming->count; i++) {
        if (!strcmp(trimming->candidates[i].name, target + strlen(NAME_PREFIX))) {
            trimming->candidates[i] = trimming->candidates[--trimming->count];
            return;
        }
    }
}

static int compare_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct candidate *)left)->used;
    const struct timespec *b = &((const struct candidate *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

void image_cache_touch(const struct image_cache *cache, const uint8_t hash[IMAGE_HASH_BYTES])
{
    char name[IMAGE_CACHE_NAME_BYTES];
    image_cache_name(name, hash);
    if (utimensat(cache->folder_fd, name, NULL, AT_SYMLINK_NOFOLLOW))
        return; /* see the header */
}

void image_cache_trim(const struct image_cache *cache, uint64_t bytes_max,
                      const uint8_t kept[IMAGE_HASH_BYTES])
{
    char name[IMAGE_CACHE_NAME_BYTES];
    image_cache_name(name, kept);
    struct trimming trimming = {.kept = name};
    if (!bytes_max)
        return;
    folder_each(cache->folder_fd, ".", add_image, &trimming);
    if (trimming.bytes > bytes_max) {
        folder_each(cache->folder_fd, NAMES, spare_named, &trimming);
        qsort(trimming.candidates, trimming.count, sizeof(*trimming.candidates), compare_use);
    }
    for (size_t i = 0; i < trimming.count && trimming.bytes > bytes_max; i++) {
        if (folder_unlink_unlocked(cache->folder_fd, trimming.candidates[i].name))
            trimming.bytes -= trimming.candidates[i].bytes;
    }
    free(trimming.candidates);
}
