/*
 * The peer of a unix socket; see the header. A pid number can be given to another process between
 * two calls; a pidfd cannot, so everything after the hello goes by the pidfd.
 */
#include "coordinator/peer.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coordinator/config.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int read_credentials(int socket, struct ucred *credentials)
{
    socklen_t bytes = sizeof(*credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &bytes))
        return -errno;
    return bytes == sizeof(*credentials) && credentials->pid > 0 ? 0 : -ESRCH;
}

/* Where the kernel has no SO_PEERPIDFD: by number, and the first message must prove it. */
static int open_by_number(struct peer *peer, int socket)
{
    int on = 1;
    peer->certain = 0;
    if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
        return -errno;
    peer->pidfd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
    return peer->pidfd < 0 ? -errno : 0;
}

int peer_read(struct peer *peer, int socket)
{
    struct ucred credentials;
    int pidfd = -1;
    socklen_t bytes = sizeof(pidfd);
    int error = read_credentials(socket, &credentials);
    *peer = (struct peer){.pidfd = -1};
    if (error)
        return error;
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes) || pidfd < 0)
        return errno == ENOPROTOOPT ? open_by_number(peer, socket) : -errno;
    peer->pidfd = pidfd; /* the kernel sets it close-on-exec */
    peer->certain = 1;
    return 0;
}

void peer_close(struct peer *peer)
{
    if (peer->pidfd >= 0)
        close(peer->pidfd);
    peer->pidfd = -1;
}

int peer_read_uid(int socket, uint32_t *uid)
{
    struct ucred credentials;
    int error = read_credentials(socket, &credentials);
    if (!error)
        *uid = credentials.uid;
    return error;
}

int peer_is_dead(int pidfd)
{
    struct pollfd poll_one = {.fd = pidfd, .events = POLLIN};
    return poll(&poll_one, 1, 0) > 0;
}

int peer_is_allowed(const struct config *config, uint32_t uid)
{
    if (uid == 0 || uid == geteuid())
        return 1;
    for (uint32_t i = 0; i < config->allow_uid_count; i++)
        if (config->allow_uids[i] == uid)
            return 1;
    return 0;
}

int peer_signal(int pidfd, int number)
{
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) ? -errno : 0;
}
