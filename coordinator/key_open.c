/*
 * Keys by path; see the header. Called by http_circuits.c. A SIGKILL leaves nothing.
 */
#include "coordinator/key_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/path_roots.h"

/* O_NONBLOCK: a FIFO must not stop the loop. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_for_others(const struct config *config, const char *path)
{
    const char *rest, *root = path_roots_find(config, path, &rest);
    return root ? path_roots_open(root, rest, 0) : -EPERM;
}

static int check_regular(int fd)
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

static int fail(int error, const char *path, char *why, size_t bytes)
{
    if (error == -EPERM)
        snprintf(why, bytes, "%s: not below path_roots in [pawl]", path);
    else if (error == -EINVAL)
        snprintf(why, bytes, "%s: not a regular file", path);
    else
        snprintf(why, bytes, "%s: %s", path, strerror(-error));
    return error;
}

int key_open(const struct config *config, uint32_t uid, const char *path, char *why, size_t bytes)
{
    int fd;
    if (path[0] != '/') {
        snprintf(why, bytes, "%s: not an absolute path", path);
        return -EINVAL;
    }
    if (uid == 0 || uid == geteuid()) {
        fd = open(path, OPEN_FLAGS);
        fd = fd < 0 ? -errno : fd;
    } else {
        fd = open_for_others(config, path);
    }
    if (fd < 0)
        return fail(fd, path, why, bytes);
    int error = check_regular(fd);
    if (error) {
        close(fd);
        return fail(error, path, why, bytes);
    }
    return fd;
}
