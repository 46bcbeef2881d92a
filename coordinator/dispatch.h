/*
 * Dispatch: who works on what. A pure step function: dispatch_step(state, event) changes the state
 * and the slab words and appends actions; it makes no system call, reads no clock (events carry the
 * time) and never blocks, so that tests drive it with plain memory and seeded events.
 *
 * The slab words in control are the truth about slabs; a task knows which slab is its own, and no
 * more. The credit counter is all that decides whether a synthesis may start.
 *
 * A SIGKILL of the coordinator ends everything here; workers end with it and the store has every
 * accepted job.
 */
#ifndef PAWL_COORDINATOR_DISPATCH_H
#define PAWL_COORDINATOR_DISPATCH_H

#include <stdint.h>

#include "shm/control.h"
#include "shm/slab.h"
#include "shm/wire.h"

enum priority { PRIORITY_LOW, PRIORITY_NORMAL, PRIORITY_HIGH, PRIORITY_CRITICAL, PRIORITIES };
/* Devices are told apart by number: a partition remembers which had no memory for it. */
#define DISPATCH_DEVICES_MAX 64u
/* How long such a partition waits for another device that was here before, and is not now. */
#define DISPATCH_DEVICE_PATIENCE_NS (UINT64_C(10) * 1000000000)
#define PRIORITY_AGEING_NS (UINT64_C(60) * 1000000000)
/* The priority after waiting that long: one more each ageing_ns (0: PRIORITY_AGEING_NS), but never
 * critical, so that no backlog, however old, stands before an urgent job. */
enum priority priority_aged(enum priority priority, uint64_t waited_ns, uint64_t ageing_ns);

/* As pawl job shows it. */
enum partition_state {
    PARTITION_QUEUED,
    PARTITION_FILLING,
    PARTITION_READY,
    PARTITION_PROVING,
    PARTITION_DONE,
    PARTITION_FAILED,
    PARTITION_CANCELLED
};

enum event_type {
    EVENT_CLAIMED,  /* a partition came from the store */
    EVENT_ATTACHED, /* a worker has its seat */
    EVENT_READY,    /* ... and says that it can work */
    EVENT_FILLED,   /* messages of workers, as in wire.h */
    EVENT_STARTED,
    EVENT_COMPUTED,
    EVENT_PROVED,
    EVENT_FAILED,
    EVENT_RELEASED,
    EVENT_LEAVING,   /* the seat gets no new work */
    EVENT_DIED,      /* the seat's pidfd is readable and its socket is read to the end */
    EVENT_JOB_ENDED, /* failed, cancelled or past its deadline: drop its tasks */
    EVENT_COMMITTED, /* the store has the result of one partition for good */
    EVENT_HOLD,      /* no slab is granted until REPLANNED: all become FREE */
    EVENT_REPLANNED, /* other slabs, all FREE: each worker gets work once it is READY again */
    EVENT_TICK       /* ageing, credit limits, the credit check */
};

struct dispatch_event {
    enum event_type type;
    uint64_t now_ns; /* CLOCK_MONOTONIC */
    uint32_t seat;   /* ATTACHED .. DIED */
    union {
        struct {
            uint64_t job;
            uint32_t partition, lane,
                circuit; /* circuit: the caller's number, handed back in actions */
            uint8_t hash[HASH_BYTES];
            enum priority priority;
            uint32_t attempts, deaths; /* those that the store remembers */
        } claimed;
        struct {
            enum worker_role role;
            uint32_t device; /* gpu: below DISPATCH_DEVICES_MAX, the same for all its workers */
            int fallback;    /* gets work only where no other device can do it */
        } attached;
        struct wire_filled filled;
        struct wire_step step; /* STARTED, COMPUTED, RELEASED */
        struct wire_proved proved;
        struct wire_failed failed;
        struct {
            const char *obituary; /* signal or exit code, stage, last words: one line, borrowed */
            int left;             /* in order: what it was given then, it never began */
            uint64_t assignment;  /* that it said it worked on; 0: none. Only charged by it */
        } died;
        struct {
            uint64_t job;
            uint32_t partition; /* COMMITTED only */
        } job;
    };
};

enum action_type {
    ACTION_FILL,   /* send FILL to seat */
    ACTION_PROVE,  /* send PROVE to seat */
    ACTION_CANCEL, /* send CANCEL to seat */
    ACTION_STATE,  /* the partition's state has changed (not to a final one) */
    ACTION_RESULT, /* take over the result that came with this event and queue its commit */
    ACTION_FAIL    /* the partition, and so its job, has failed for good: fault and text */
};

struct action {
    enum action_type type;
    uint32_t seat, slab;
    uint64_t assignment, generation;
    uint64_t job;
    uint32_t partition, circuit, lane;
    enum partition_state state;
    uint32_t attempts, deaths;  /* STATE, FAIL, RESULT: so far */
    uint8_t digest[HASH_BYTES]; /* PROVE */
    enum wire_fault fault;      /* FAIL */
    char text[WIRE_TEXT_BYTES]; /* FAIL */
    uint64_t ready_ns,
        queue_ns; /* RESULT: time spent READY or ASSIGNED, and waiting for a synth-worker */
    uint64_t witness_ns, rows_ns; /* RESULT: of the filling that was proved */
};

/* A growing list of actions, emptied by the caller. */
struct actions {
    struct action *list;
    uint32_t count, room;
};
void actions_clear(struct actions *actions);
void actions_free(struct actions *actions);

struct dispatch_limits {
    uint32_t staged;   /* ASSIGNED slabs a gpu-worker holds beside the one PROVING and the one
                          FINALIZING */
    uint32_t attempts; /* a partition's tries that ended in an internal failure, at most */
    uint32_t deaths;   /* deaths of workers while they executed a partition, at most */
    uint32_t uncommitted_results; /* results waiting for the disk before slabs stay FINALIZING */
    uint32_t device_charges;      /* charges in a row that set a device aside */
    uint32_t fixed_credits[LANES_MAX]; /* 0: computed (credit_plan.h) */
    uint64_t ageing_ns; /* waiting this long is worth one priority; 0: PRIORITY_AGEING_NS */
};

struct dispatch; /* opaque */

/* Control is borrowed. NULL when memory is short. */
struct dispatch *dispatch_create(struct control *control, const struct dispatch_limits *limits);
void dispatch_destroy(struct dispatch *dispatch);
void dispatch_set_limits(struct dispatch *dispatch, const struct dispatch_limits *limits);
/* The use of the device on that seat has changed; what is staged there stays. */
void dispatch_set_fallback(struct dispatch *dispatch, uint32_t seat, int fallback);

/*
 * Appends to actions; they are to be carried out in order, after the step. A message that fits
 * nothing is dropped and counted. Each ACTION_RESULT is to be answered by one EVENT_COMMITTED, also
 * where its job has ended meanwhile. Aborts when memory is short.
 */
void dispatch_step(struct dispatch *dispatch, const struct dispatch_event *event,
                   struct actions *actions);

/*
 * How many more partitions of this lane dispatch could start right now (idle synth-workers and
 * credits, less tasks already claimed and waiting): what the caller may claim from the store.
 */
uint32_t dispatch_wants(const struct dispatch *dispatch, uint32_t lane);
/* The lane to claim for in the i-th place (i < lane_count): those that were granted a slab the
 * longest ago come first, so that lanes share synth-workers fairly. Ask for all before claiming. */
uint32_t dispatch_lane_turn(const struct dispatch *dispatch, uint32_t i);

/* For status: what a seat works on (0 where nothing); counters. */
struct dispatch_counters {
    uint64_t reclaims_total; /* slabs taken back from dead workers */
    uint64_t retries_synth_total, retries_prove_total, dropped_messages_total;
    uint64_t device_charges_total, set_aside_total; /* gpu-workers that get no more work */
};
void dispatch_counters(const struct dispatch *dispatch, struct dispatch_counters *out);
/* Whether the seat's gpu-worker was charged device_charges times in a row and gets no more work,
 * until another worker sits there. */
int dispatch_set_aside(const struct dispatch *dispatch, uint32_t seat);
/* Whether the seat's worker holds a slab that it is to do something with. */
int dispatch_has_work(const struct dispatch *dispatch, uint32_t seat);
/* Tasks that dispatch holds (claimed and neither failed nor committed), so that a drain knows when
 * it is done. Those of ended jobs do not count. */
uint32_t dispatch_tasks(const struct dispatch *dispatch);

#endif
