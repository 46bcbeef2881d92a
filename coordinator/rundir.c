/*
 * Folders and the lock; see the header. Called at start and at the end.
 */
#include "coordinator/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/config.h"

static int make_one(const char *path, mode_t mode)
{
    struct stat status;
    if (mkdir(path, mode) == 0)
        return chmod(path, mode) ? -errno : 0; /* whatever the umask is */
    if (errno != EEXIST)
        return -errno;
    if (stat(path, &status))
        return -errno;
    return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

int rundir_make(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof(part))
        return -ENAMETOOLONG;
    for (size_t i = 1; i < length; i++) {
        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        int error = make_one(part, mode);
        if (error)
            return error;
    }
    return make_one(path, mode);
}

int rundir_make_folders(const struct config *config, const char **what)
{
    int shared = config->allow_uid_count > 0 || config->http_group[0];
    int error = rundir_make(*what = config->run_dir, shared ? 0711 : 0700);
    if (!error)
        error = rundir_make(*what = config->state_dir, 0700);
    if (!error)
        error = rundir_make(*what = config->images_dir, 0700);
    return error;
}

static int32_t read_holder(int fd)
{
    char text[32] = "";
    ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
    return bytes > 0 ? (int32_t)strtol(text, NULL, 10) : 0;
}

/* The file that was locked is still the one that the path names: its last holder may have removed
 * it in between. */
static int is_current(int fd, const char *path)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino &&
           mine.st_dev == named.st_dev;
}

/* 1: locked; 0: try again; -errno. */
static int lock_once(struct rundir *rundir, int32_t *holder)
{
    int fd = open(rundir->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int error = errno == EWOULDBLOCK ? -EALREADY : -errno;
        *holder = read_holder(fd);
        close(fd);
        return error;
    }
    if (!is_current(fd, rundir->lock_path)) {
        close(fd);
        return 0;
    }
    rundir->lock_fd = fd;
    return 1;
}

static int write_pid(int fd)
{
    char text[32];
    int bytes = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)bytes, 0) != bytes)
        return errno ? -errno : -EIO;
    return 0;
}

int rundir_lock(struct rundir *rundir, const char *run_dir, int32_t *holder)
{
    int got = 0;
    *holder = 0;
    rundir->lock_fd = -1;
    if (snprintf(rundir->lock_path, sizeof(rundir->lock_path), "%s/coordinator.lock", run_dir) >=
        (int)sizeof(rundir->lock_path))
        return -ENAMETOOLONG;
    while (got == 0)
        got = lock_once(rundir, holder);
    if (got < 0)
        return got;
    int error = write_pid(rundir->lock_fd);
    if (error)
        rundir_unlock(rundir);
    return error;
}

void rundir_unlock(struct rundir *rundir)
{
    if (rundir->lock_fd < 0)
        return;
    unlink(rundir->lock_path);
    close(rundir->lock_fd);
    rundir->lock_fd = -1;
}
