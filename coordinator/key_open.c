/*
 * Keys by path; see the header. Called by http_circuits.c. A SIGKILL leaves nothing.
 */
#include "coordinator/key_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coordinator/config.h"

/* O_NONBLOCK: a FIFO must not stop the loop. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* What of path comes below root, or NULL. */
static const char *below(const char *path, const char *root)
{
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/')
        length--;
    if (strncmp(path, root, length) != 0 || (length > 1 && path[length] != '/'))
        return NULL;
    path += length;
    while (*path == '/')
        path++;
    return *path ? path : NULL;
}

static int open_below(const char *root, const char *rest)
{
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int fd = (int)syscall(SYS_openat2, folder, rest, &how, sizeof(how));
    int error = fd < 0 ? -errno : 0;
    close(folder);
    return error ? error : fd;
}

static int open_for_others(const struct config *config, const char *path)
{
    for (uint32_t i = 0; i < config->path_root_count; i++) {
        const char *rest = below(path, config->path_roots[i]);
        if (rest)
            return open_below(config->path_roots[i], rest);
    }
    return -EPERM;
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
