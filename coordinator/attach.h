/*
 * The worker socket: who connects, whether it may, its hello, and the seat that it gets.
 *
 * A connection has ATTACH_HELLO_MS for its hello, and at most ATTACH_PENDING_MAX wait at once.
 */
#ifndef PAWL_COORDINATOR_ATTACH_H
#define PAWL_COORDINATOR_ATTACH_H

#include <stdint.h>

#define ATTACH_HELLO_MS 5000
#define ATTACH_PENDING_MAX 64u

struct attach_pending;
struct event;
struct workers;

struct attach {
    struct workers *workers;
    int socket; /* that listens; borrowed */
    int draining;
    struct event *accept_event;
    struct attach_pending *first;
    uint32_t pending_count;
    uint64_t refused_total;
};

/* 0 or -ENOMEM. */
int attach_start(struct attach *attach, struct workers *workers, int socket);
void attach_stop(struct attach *attach);
/* From now on workers are refused. */
void attach_drain(struct attach *attach);
/* Accepts again after a pause for want of fds; called at each tick. */
void attach_tick(struct attach *attach);

#endif
