/*
 * Folders for witness programs; see the header. Called by witness_program.c and synth.c. A SIGKILL
 * leaves what the header says.
 */
#include "synth-worker/witness_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/folder.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* ---- the folder of all ---- */

/* Made by us, or ours already: nobody else can put anything there. -EPERM: not ours. */
static int open_below(const char *folder, char path[PATH_MAX])
{
    struct stat status;
    snprintf(path, PATH_MAX, "%s/pawl-programs-%u", folder, (unsigned)geteuid());
    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    int fd = open(path, FOLDER_FLAGS);
    if (fd >= 0 && !fstat(fd, &status) && status.st_uid == geteuid() && !(status.st_mode & 077))
        return fd;
    if (fd >= 0)
        close(fd);
    return -EPERM;
}

/* As for the private folder of pawl: where TMPDIR cannot be used, /tmp. */
static int open_base(struct complaint *complaint)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd = tmp && *tmp == '/' ? open_below(tmp, path) : -ENOENT;
    if (fd < 0)
        fd = open_below("/tmp", path);
    if (fd >= 0)
        return fd;
    return complain_system(complaint, EXIT_MACHINE, -fd, "%.700s: %s", path,
                           fd == -EPERM ? "not a folder of ours: remove it or set TMPDIR"
                                        : "cannot be made: set TMPDIR");
}

/* ---- the worker's own ---- */

/* Between making and locking a sweep may have taken the folder: then its name is gone. */
static int try_worker(struct witness_place *place)
{
    uint64_t number;
    struct stat ours, named;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return -EIO;
    snprintf(place->name, sizeof place->name, "%016llx", (unsigned long long)number);
    if (mkdirat(place->base_fd, place->name, 0700))
        return -errno;
    place->worker_fd = openat(place->base_fd, place->name, FOLDER_FLAGS);
    if (place->worker_fd >= 0 && !flock(place->worker_fd, LOCK_EX | LOCK_NB) &&
        !fstat(place->worker_fd, &ours) &&
        !fstatat(place->base_fd, place->name, &named, AT_SYMLINK_NOFOLLOW) &&
        named.st_ino == ours.st_ino)
        return 0;
    if (place->worker_fd >= 0)
        close(place->worker_fd);
    place->worker_fd = -1;
    return -EEXIST;
}

int witness_place_open(struct witness_place *place, struct complaint *complaint)
{
    int status = -EEXIST;
    if (place->worker_fd >= 0)
        return 0;
    place->base_fd = open_base(complaint);
    if (place->base_fd < 0)
        return place->base_fd;
    folder_sweep_unlocked(place->base_fd, "");
    for (int tries = 0; tries < 100 && status == -EEXIST; tries++)
        status = try_worker(place);
    if (!status)
        return 0;
    close(place->base_fd);
    place->base_fd = -1;
    return complain_system(complaint, EXIT_MACHINE, -status, "a folder for witness programs");
}

int witness_place_enter(const struct witness_place *place, struct complaint *complaint)
{
    witness_place_leave(place);
    int fd =
        mkdirat(place->worker_fd, "run", 0700) ? -1 : openat(place->worker_fd, "run", FOLDER_FLAGS);
    if (fd >= 0)
        return fd;
    return complain_system(complaint, EXIT_MACHINE, errno, "a folder for a witness program");
}

void witness_place_leave(const struct witness_place *place)
{
    folder_remove(place->worker_fd, "run");
}

void witness_place_close(struct witness_place *place)
{
    if (place->worker_fd < 0)
        return;
    folder_remove(place->base_fd, place->name);
    close(place->worker_fd);
    close(place->base_fd);
    place->worker_fd = place->base_fd = -1;
}
