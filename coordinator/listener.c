/*
 * Sockets that listen; see the header. A SIGKILL leaves the names, and the next start replaces
 * them.
 */
#include "coordinator/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_BACKLOG 256

static int open_folder(const char *path, const char **name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof(folder)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, path, length);
    folder[length] = 0;
    return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Through the folder's fd, because a name beside a long path might be too long for sun_path. */
static int bind_aside(int fd, int folder, const char *aside)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unlinkat(folder, aside, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, aside);
    return bind(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
}

static int publish(int fd, int folder, const char *name, mode_t mode, gid_t group)
{
    char aside[64];
    snprintf(aside, sizeof(aside), ".pawl-%d", (int)getpid());
    int error = bind_aside(fd, folder, aside);
    if (error)
        return error;
    if ((group != (gid_t)-1 && fchownat(folder, aside, (uid_t)-1, group, 0)) ||
        fchmodat(folder, aside, mode, 0) || listen(fd, LISTEN_BACKLOG) ||
        renameat(folder, aside, folder, name)) {
        error = -errno;
        unlinkat(folder, aside, 0);
    }
    return error;
}

int listener_open(const char *path, int type, mode_t mode, gid_t group)
{
    const char *name;
    int folder = open_folder(path, &name);
    if (folder < 0)
        return -errno;
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? -errno : publish(fd, folder, name, mode, group);
    close(folder);
    if (error && fd >= 0)
        close(fd);
    return error ? error : fd;
}

void listener_close(const char *path, int fd)
{
    if (fd < 0)
        return;
    unlink(path);
    close(fd);
}
