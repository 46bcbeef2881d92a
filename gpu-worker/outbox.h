/*
 * Messages to the coordinator, sent in the order posted by a thread of their own: whoever posts
 * never blocks on the socket.
 *
 * Where the coordinator has gone, the process ends at once (EXIT_CAPACITY). A SIGKILL loses what
 * was not sent; the coordinator reads the socket to its end and reclaims the rest.
 */
#ifndef PAWL_GPU_WORKER_OUTBOX_H
#define PAWL_GPU_WORKER_OUTBOX_H

#include "shm/wire.h"

struct outbox;

/* The socket stays the caller's. NULL with errno set. */
struct outbox *outbox_create(int socket);
/* Copies the message; `fd` (or -1) is the outbox's from now on. */
void outbox_post(struct outbox *outbox, const union wire_message *message, enum wire_type type,
                 int fd);
/* With `count` fds (at most WIRE_FDS_MAX), all of them the outbox's from now on. */
void outbox_post_fds(struct outbox *outbox, const union wire_message *message, enum wire_type type,
                     const int *fds, unsigned count);
/* Sends what is left, and ends. */
void outbox_destroy(struct outbox *outbox);

/* Logs `why` and ends the process with EXIT_CAPACITY: the coordinator has gone. */
void outbox_end_orphaned(const char *why) __attribute__((noreturn));

#endif
