/*
 * Shared folders; see the header. Called by program_take.c, witness_place.c, image_draft.c and
 * image_trim.c. A SIGKILL leaves part of what was to be removed.
 */
#include "synth-worker/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 8

int folder_open_made(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (!length || length >= sizeof part)
        return length ? -ENAMETOOLONG : -ENOENT;
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        part[i] = 0;
        if (mkdir(part, 0700) && errno != EEXIST)
            return -errno;
        part[i] = path[i];
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

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

void folder_remove(int parent_fd, const char *name)
{
    remove_tree(parent_fd, name, DEPTH_MAX);
}

void folder_each(int parent_fd, const char *name,
                 void (*each)(void *arg, int folder_fd, const char *name), void *arg)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            each(arg, fd, entry->d_name);
    closedir(folder);
}

int folder_unlink_unlocked(int folder_fd, const char *name)
{
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int removed = !flock(fd, LOCK_EX | LOCK_NB) && !unlinkat(folder_fd, name, 0);
    close(fd);
    return removed;
}

static void sweep_one(void *arg, int folder_fd, const char *name)
{
    const char *prefix = *(const char **)arg;
    int fd = strncmp(name, prefix, strlen(prefix)) ? -1 : openat(folder_fd, name, FOLDER_FLAGS);
    if (fd < 0)
        return;
    if (!flock(fd, LOCK_EX | LOCK_NB))
        folder_remove(folder_fd, name);
    close(fd);
}

void folder_sweep_unlocked(int folder_fd, const char *prefix)
{
    folder_each(folder_fd, ".", sweep_one, &prefix);
}
