/*
 * Listening unix sockets that replace a stale one: bound under another name and renamed, so that
 * a client finds either the old socket or one that listens. The caller holds the run lock.
 */
#ifndef PAWL_COORDINATOR_LISTENER_H
#define PAWL_COORDINATOR_LISTENER_H

#include <sys/types.h>

/*
 * type: SOCK_SEQPACKET or SOCK_STREAM (non-blocking, close-on-exec are added). group: (gid_t)-1:
 * unchanged. The fd, or -errno.
 */
int listener_open(const char *path, int type, mode_t mode, gid_t group);
/* Removes the socket's name and closes the fd. */
void listener_close(const char *path, int fd);

#endif
