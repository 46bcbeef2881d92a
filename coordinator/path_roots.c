/*
 * Files below path_roots; see the header. Called by key_open.c and inputs.c. The kernel keeps
 * the whole way below the root, so nothing can be exchanged between a check and the use.
 */
#include "coordinator/path_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "coordinator/config.h"

/* O_NONBLOCK: a FIFO must not stop us. */
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

const char *path_roots_find(const struct config *config, const char *path, const char **rest)
{
    for (uint32_t i = 0; i < config->path_root_count; i++) {
        *rest = below(path, config->path_roots[i]);
        if (*rest)
            return config->path_roots[i];
    }
    return NULL;
}

static int open_below(const char *root, const char *rest, uint64_t resolve)
{
    struct open_how how = {.flags = OPEN_FLAGS,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int fd = (int)syscall(SYS_openat2, folder, rest, &how, sizeof(how));
    int error = fd < 0 ? -errno : 0;
    close(folder);
    return error ? error : fd;
}

/* Files that the kernel makes up are regular only by name. */
static int check_regular(int fd)
{
    struct stat status;
    struct statfs system;
    if (fstat(fd, &status) || fstatfs(fd, &system))
        return -errno;
    if (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC)
        return -EINVAL;
    return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

int path_roots_open(const char *root, const char *rest, uint64_t resolve)
{
    int fd = open_below(root, rest, resolve);
    if (fd < 0)
        return fd;
    int error = check_regular(fd);
    if (!error)
        return fd;
    close(fd);
    return error;
}
