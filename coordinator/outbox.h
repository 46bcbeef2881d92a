/*
 * Messages to a worker: sent at once, kept in order where its socket is full. Bounded: a worker
 * that does not read for OUTBOX_MESSAGES_MAX messages is hung.
 */
#ifndef PAWL_COORDINATOR_OUTBOX_H
#define PAWL_COORDINATOR_OUTBOX_H

#include <stdint.h>

#include "shm/wire.h"

#define OUTBOX_MESSAGES_MAX 256u

struct outbox_entry;
struct outbox {
    struct outbox_entry *first, *last;
    uint32_t count;
};

/*
 * Sends or keeps (duplicating the fds, which stay the caller's). 0: sent; 1: kept, flush when the
 * socket is writable; -ENOBUFS beyond the bound; -errno of the socket.
 */
int outbox_send(struct outbox *outbox, int socket, union wire_message *message, enum wire_type type,
                const int *fds, unsigned fd_count);
/* Sends what was kept. 0: all; 1: the socket is full again; -errno. */
int outbox_flush(struct outbox *outbox, int socket);
void outbox_clear(struct outbox *outbox);

#endif
