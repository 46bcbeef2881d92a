/*
 * The clients' share of fds; see the header. Called by http.c and uploads.c. Keeps nothing.
 */
#include "coordinator/fd_share.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define RESERVE_MAX 1024u
#define SHARED_MIN 64u /* a limit below this serves one client: there is nothing to share out */

int fd_share_has(enum fd_share share, int fd)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur < SHARED_MIN)
        return 1;
    rlim_t reserve = files.rlim_cur / 4 < RESERVE_MAX ? files.rlim_cur / 4 : RESERVE_MAX;
    if (share == FD_SHARE_UPLOAD)
        reserve *= 2;
    return (rlim_t)fd < files.rlim_cur - reserve;
}

int fd_share_has_room(enum fd_share share, int any)
{
    int fd = fcntl(any, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    close(fd);
    return fd_share_has(share, fd);
}
