/*
 * Who is at the other end of a unix socket: uid, pid, and a pidfd of exactly that process.
 */
#ifndef PAWL_COORDINATOR_PEER_H
#define PAWL_COORDINATOR_PEER_H

#include <stdint.h>

struct config;

struct peer {
    int32_t pid;
    uint32_t uid;
    int pidfd; /* owned; -1 after peer_close */
    /* 1: the kernel gave the pidfd for the socket itself. 0: it was opened by number, so the first
     * message must come with that pid's credentials (the socket has SO_PASSCRED then). */
    int certain;
};

/* Fills everything; 0 or -errno. */
int peer_read(struct peer *peer, int socket);
void peer_close(struct peer *peer);
/* Credentials alone, for HTTP. 0 or -errno. */
int peer_read_uid(int socket, uint32_t *uid);
/* The process behind the pidfd has ended. */
int peer_is_dead(int pidfd);
/* The uid may attach: root, the coordinator's own, or one of allow_uids. */
int peer_is_allowed(const struct config *config, uint32_t uid);
/* Sends a signal through the pidfd: 0 or -errno. */
int peer_signal(int pidfd, int number);

#endif
