/*
 * Makes images appear whole or not at all, and sweeps what killed makers left. Called by compile.c
 * through image_cache.h. A draft is locked (flock) while its maker lives: the lock, not the pid in
 * its name, says whether it may be removed. A SIGKILL leaves an unlocked draft for the next sweep.
 */
#include "synth-worker/image_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/folder.h"

#define DRAFT_PREFIX ".tmp-"
#define DRAFT_TRIES 100u

static void sweep_one(void *arg, int folder_fd, const char *name)
{
    (void)arg;
    if (!strncmp(name, DRAFT_PREFIX, strlen(DRAFT_PREFIX)))
        folder_unlink_unlocked(folder_fd, name);
}

int image_cache_open(struct image_cache *cache, const char *folder, struct complaint *complaint)
{
    *cache = (struct image_cache){.folder_fd = folder_open_made(folder), .folder = folder};
    if (cache->folder_fd < 0)
        return complain_system(complaint, EXIT_OUTPUT, -cache->folder_fd,
                               "%.700s: cannot be used as the folder of circuit images", folder);
    folder_each(cache->folder_fd, ".", sweep_one, NULL);
    return 0;
}

void image_cache_close(struct image_cache *cache)
{
    if (cache->folder_fd >= 0)
        close(cache->folder_fd);
    cache->folder_fd = -1;
}

/* Between making and locking a sweep may have taken the file: then the name is gone. */
static int lock_draft(int fd)
{
    struct stat status;
    if (flock(fd, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? -EEXIST : -errno;
    if (fstat(fd, &status))
        return -errno;
    return status.st_nlink ? 0 : -EEXIST;
}

static int try_draft(const struct image_cache *cache, struct image_draft *draft, unsigned number)
{
    snprintf(draft->name, sizeof draft->name, DRAFT_PREFIX "%d-%u", (int)getpid(), number);
    draft->fd = openat(cache->folder_fd, draft->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (draft->fd < 0)
        return -errno;
    int status = lock_draft(draft->fd);
    if (status)
        close(draft->fd);
    return status;
}

int image_cache_draft(const struct image_cache *cache, struct image_draft *draft,
                      struct complaint *complaint)
{
    int status = -EEXIST;
    for (unsigned number = 0; number < DRAFT_TRIES && status == -EEXIST; number++)
        status = try_draft(cache, draft, number);
    if (!status)
        return 0;
    draft->fd = -1;
    return complain_system(complaint, EXIT_OUTPUT, -status,
                           "%.700s: cannot make a circuit image there", cache->folder);
}

static int sync_and_rename(const struct image_cache *cache, const struct image_draft *draft,
                           const char *name)
{
    if (fdatasync(draft->fd) || fchmod(draft->fd, 0400))
        return -errno;
    if (renameat(cache->folder_fd, draft->name, cache->folder_fd, name))
        return -errno;
    return fsync(cache->folder_fd) ? -errno : 0;
}

int image_cache_publish(const struct image_cache *cache, struct image_draft *draft,
                        const uint8_t hash[IMAGE_HASH_BYTES], struct complaint *complaint)
{
    char name[IMAGE_CACHE_NAME_BYTES];
    image_cache_name(name, hash);
    int status = sync_and_rename(cache, draft, name);
    image_cache_discard(cache, draft);
    if (status)
        return complain_system(complaint, EXIT_OUTPUT, -status, "%.600s/%s: cannot be written",
                               cache->folder, name);
    return 0;
}

void image_cache_discard(const struct image_cache *cache, struct image_draft *draft)
{
    if (draft->fd < 0)
        return;
    unlinkat(cache->folder_fd, draft->name, 0); /* ENOENT once it is renamed */
    close(draft->fd);
    draft->fd = -1;
}
