/*
 * The workers that have a seat: their sockets, pidfds and seat pages. What they say and that they
 * are dead is handed on; what it means is engine.c's matter.
 *
 * A worker is dead when its pidfd is readable, and only then: not at the end of its socket, not at
 * a timeout. What it still said before is read and handed on first.
 */
#ifndef PAWL_COORDINATOR_WORKERS_H
#define PAWL_COORDINATOR_WORKERS_H

#include <stdint.h>

#include "coordinator/config.h"
#include "coordinator/device_keys.h"
#include "coordinator/dispatch.h"
#include "coordinator/outbox.h"
#include "coordinator/peer.h"
#include "shm/control.h"
#include "shm/wire.h"

struct clock_meter;
struct event;
struct event_base;
struct region;
struct seat_page;
struct workers;

/* How far the ending of a worker that does not end by itself has come. */
enum worker_ending { ENDING_NONE, ENDING_ASKED, ENDING_KILLED, ENDING_LOST };

/* A proof that was asked for: what its result must be about. */
struct worker_task {
    uint64_t assignment, job; /* assignment 0: none */
    uint32_t partition;
};
#define WORKER_TASKS_MAX 16u /* more than dispatch gives one worker at a time */

struct worker {
    struct workers *workers;
    uint32_t seat;
    enum worker_role role;
    uint64_t incarnation;
    int32_t pid;
    int pidfd;
    int socket; /* -1 once it is closed */
    struct seat_page *page;
    char device[WIRE_DEVICE_BYTES];
    uint32_t device_number; /* gpu: the same for all workers of that device */
    struct event *read_event, *write_event, *death_event;
    struct outbox outbox;
    uint8_t (*images)[HASH_BYTES]; /* that it has been sent */
    uint32_t image_count;
    int was_handed_key;                         /* of its device's memory, by an earlier worker */
    struct worker_task tasks[WORKER_TASKS_MAX]; /* those that have not ended, in no order */
    int ready;                                  /* it has said READY, for the present slabs */
    uint64_t generation; /* of the slabs that it said READY for; 0: none yet */
    int leaving;         /* it gets no new work */
    /* the watchdog's */
    uint64_t progress, moved_ns;
    enum worker_ending ending;
    uint64_t ending_ns; /* of the next step */
};

/* What devices' drivers were asked to do with our memory, as the workers tell. */
struct workers_pinning {
    uint64_t registered_bytes, registrations_total, allocations_after_start;
};

struct workers {
    struct event_base *base;
    struct clock_meter *meter;
    struct region *region;
    const struct config *config;
    struct worker *seats[SEATS_MAX];
    uint32_t count;
    uint64_t incarnations;
    uint64_t deaths_total[CONFIG_ROLES];
    char devices[DISPATCH_DEVICES_MAX][WIRE_DEVICE_BYTES]; /* by number; "": none yet */
    struct device_keys device_keys;
    struct workers_pinning pinning; /* of those that are no more */
    /* Set by the owner. The packet's fds are closed after on_packet save those set to -1. */
    void (*on_attached)(void *arg, struct worker *worker);
    void (*on_packet)(void *arg, struct worker *worker, struct wire_packet *packet);
    void (*on_leaving)(void *arg, struct worker *worker);
    /* died: 0 where it left in order. Called before its seat is free. */
    void (*on_dead)(void *arg, struct worker *worker, const char *obituary, int died);
    /* Whether it has been given work that it has not ended. */
    int (*has_work)(void *arg, const struct worker *worker);
    void *arg;
};

void workers_init(struct workers *workers, struct event_base *base, struct clock_meter *meter,
                  struct region *region, const struct config *config);
/* Lets go of all without ending them: they end when their sockets do. */
void workers_free(struct workers *workers);

/*
 * Gives a seat to a process that has said a valid hello; takes `peer` and `socket` over on success
 * and sends WELCOME. 0; -ENOSPC: no seat is free; -EEXIST: its device has a worker; -errno.
 */
int workers_seat(struct workers *workers, struct peer *peer, int socket,
                 const struct wire_hello *hello);

/* Sends, or keeps until the socket takes it; a worker that cannot be reached is ended. */
void worker_send(struct worker *worker, union wire_message *message, enum wire_type type,
                 const int *fds, unsigned fd_count);
/* Sends the image once, after what is kept of its key on the worker's device; later calls do
 * nothing. */
void worker_send_image(struct worker *worker, const uint8_t *hash, int image_fd);
/* Remembers what a proof is about until its assignment has ended; finds it again, or NULL. */
void worker_note_task(struct worker *worker, const struct worker_task *task);
const struct worker_task *worker_find_task(const struct worker *worker, uint64_t assignment);
void worker_forget_task(struct worker *worker, uint64_t assignment);
int worker_has_image(const struct worker *worker, const uint8_t *hash);
/* Tells every worker that has the image to let go of it; nothing of its key is kept on devices. */
void workers_forget_image(struct workers *workers, const uint8_t *hash);
/* REGION to all: the region has other slabs now, for which nobody is ready. */
void workers_send_region(struct workers *workers);
/* Whether all workers have said READY for the present slabs, so that nobody maps others. The dead
 * and the lost are not asked. */
int workers_have_region(const struct workers *workers);
/* LEAVE to all. */
void workers_leave(struct workers *workers);

/* "synth" or "gpu". */
const char *worker_role_name(const struct worker *worker);
/* It gets no new work; handed on once. */
void worker_set_leaving(struct worker *worker);
/* Its socket is closed, at which it ends by itself; the watchdog sees to it that it does. `why` is
 * for the log. */
void worker_condemn(struct worker *worker, const char *why);
/* The end of its socket was seen. */
void worker_hang_up(struct worker *worker);
/* A message could not be sent; `error` is negative. Where the worker's end is closed, what it said
 * before is still read. */
void worker_not_sent(struct worker *worker, int error);
/* Reads one message and hands it on. 1: there was one; 0: none, and the socket may be closed now.
 */
int worker_read_packet(struct worker *worker);
/* Its process has ended: reads what it still said, hands on its obituary, frees the seat. */
void worker_bury(struct worker *worker);
/* A gpu-worker that cannot be ended: what it held is taken from it as at a death, but it keeps seat
 * and device until its process ends. */
void worker_give_up(struct worker *worker);
/* Summed over all workers that there are and were. */
void workers_sum_pinning(const struct workers *workers, struct workers_pinning *sum);
/* How many ready workers of the role there are. */
uint32_t workers_count_ready(const struct workers *workers, enum worker_role role);

#endif
