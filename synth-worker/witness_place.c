/*
 * Folders for witness programs; see the header. Called by witness_program.c and synth.c. A SIGKILL
 * leaves what the header says.
 */
#include "synth-worker/witness_place.h"

#include <dirent.h>
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

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 8

static void remove_tree(int parent, const char *name, int depth);

static void empty_folder(int fd, int depth)
{
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            remove_tree(fd, entry->d_name, depth);
    closedir(folder);
}

static void remove_tree(int parent, const char *name, int depth)
{
    int fd = depth ? openat(parent, name, FOLDER_FLAGS) : -1;
    if (fd < 0) {
        unlinkat(parent, name, 0);
        return;
    }
    fchmod(fd, 0700);
    empty_folder(fd, depth - 1);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- the folder of all ---- */

/* Made by us, or ours already: nobody else can put anything there. */
static int open_base(struct complaint *complaint)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/pawl-programs-%u", tmp && *tmp == '/' ? tmp : "/tmp",
             (unsigned)geteuid());
    if (mkdir(path, 0700) && errno != EEXIST)
        return complain_system(complaint, EXIT_MACHINE, errno, "%.700s: cannot be made", path);
    int fd = open(path, FOLDER_FLAGS);
    if (fd >= 0 && !fstat(fd, &status) && status.st_uid == geteuid() && !(status.st_mode & 077))
        return fd;
    if (fd >= 0)
        close(fd);
    return complain_system(complaint, EXIT_MACHINE, EPERM,
                           "%.700s: not a folder of ours: remove it or set TMPDIR", path);
}

static void sweep_one(int base_fd, const char *name)
{
    int fd = openat(base_fd, name, FOLDER_FLAGS);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB))
        remove_tree(base_fd, name, DEPTH_MAX);
    close(fd);
}

static void sweep(int base_fd)
{
    int fd = openat(base_fd, ".", FOLDER_FLAGS);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            sweep_one(base_fd, entry->d_name);
    closedir(folder);
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
    sweep(place->base_fd);
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
    remove_tree(place->worker_fd, "run", DEPTH_MAX);
}

void witness_place_close(struct witness_place *place)
{
    if (place->worker_fd < 0)
        return;
    remove_tree(place->base_fd, place->name, DEPTH_MAX);
    close(place->worker_fd);
    close(place->base_fd);
    place->worker_fd = place->base_fd = -1;
}
