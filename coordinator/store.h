/*
 * The job store: every accepted job and its results. One interface, so that where jobs are kept is
 * a matter of configuration; store_memory.c keeps them in memory.
 *
 * All calls come from the loop's thread. An answer comes through a callback on that thread, during
 * the call or later; what it points to is valid during the callback. A job's bytes (its witnesses)
 * belong to the store from `accept` on.
 */
#ifndef PAWL_COORDINATOR_STORE_H
#define PAWL_COORDINATOR_STORE_H

#include <stdint.h>

#include "coordinator/dispatch.h"

#define STORE_NAME_BYTES 65 /* a circuit's or lane's name */

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED };

/* Times in ms for `pawl job`, negative where not known. */
struct partition_times {
    double queue, witness, rows, ready, upload, ntt, msm, prove, finalize, verify, store;
};

struct store_partition {
    enum partition_state state;
    uint32_t attempts, deaths;
    enum wire_fault fault; /* 0: none */
    char *error;           /* NULL: none */
    char *proof,
        *publics; /* JSON texts of result.h, NULL until done; one malloc'd block at `proof` */
    struct partition_times ms;
    int witness_fd; /* read-only; -1 once the job is final */
    uint64_t bytes; /* of the witness */
    char label[WIRE_LABEL_BYTES];
};

struct store_job {
    uint64_t id;    /* never 0; shown as 16 hex digits */
    uint64_t order; /* of acceptance: 1, 2, 3 ... */
    char circuit[STORE_NAME_BYTES];
    uint32_t circuit_number; /* the circuit set's number, pinned at acceptance */
    uint8_t hash[HASH_BYTES];
    uint32_t lane;
    enum priority priority;
    enum job_state state;
    uint64_t accepted_ns, deadline_ns, final_ns; /* CLOCK_MONOTONIC; deadline 0: none */
    enum wire_fault fault;
    char *error;
    uint32_t partition_count;
    struct store_partition *partitions;
};

/* What `accept` needs; the witness fds become the store's, whatever it answers. */
struct store_spec {
    char circuit[STORE_NAME_BYTES];
    uint32_t circuit_number;
    uint8_t hash[HASH_BYTES];
    uint32_t lane;
    enum priority priority;
    uint64_t now_ns, deadline_ns;
    uint32_t partition_count;
    const struct store_spec_partition {
        int witness_fd;
        uint64_t bytes;
        char label[WIRE_LABEL_BYTES];
    } * partitions;
};

struct store_limits {
    uint64_t queued_jobs, queued_bytes; /* of jobs that are not final */
    uint32_t kept_jobs;                 /* final jobs that still answer */
    uint64_t kept_ns;                   /* ... and for how long at most; 0: no such limit */
    uint64_t ageing_ns; /* waiting this long is worth one priority; 0: PRIORITY_AGEING_NS */
};

struct store_counts {
    uint64_t queued, running, done_total, failed_total, cancelled_total, queued_bytes;
};

struct store_claim {
    uint64_t job;
    uint32_t partition, circuit_number;
    uint8_t hash[HASH_BYTES];
    enum priority priority;
};

/* One implementation. `self` is the implementation's own. */
struct store {
    void *self;
    void (*destroy)(struct store *store);
    /* 0 and the id, -ENOSPC beyond a limit, -errno; durable when the callback says 0. */
    void (*accept)(struct store *store, const struct store_spec *spec,
                   void (*done)(void *arg, int error, uint64_t job), void *arg);
    /* Up to n queued partitions of the lane, by priority aged by waiting time, then order; marks
     * them claimed. How many. */
    uint32_t (*claim)(struct store *store, uint32_t lane, uint32_t n, uint64_t now_ns,
                      struct store_claim *out);
    /* A claimed partition that is not executed after all: queued again. */
    void (*release)(struct store *store, uint64_t job, uint32_t partition);
    /* The state of a claimed partition has changed; counters for `pawl job`. */
    void (*note)(struct store *store, uint64_t job, uint32_t partition, enum partition_state state,
                 uint32_t attempts, uint32_t deaths);
    /* The result of a partition; proof is the block of result_read and becomes the store's.
     * Callback after the commit; it always comes, also for a job that is final (its result is
     * then thrown away). publics points into proof's block. */
    void (*complete)(struct store *store, uint64_t job, uint32_t partition, char *proof,
                     char *publics, const struct partition_times *ms, uint64_t now_ns,
                     void (*committed)(void *arg, uint64_t job, uint32_t partition), void *arg);
    /* The partition has failed for good, and so has its job; its other partitions become cancelled.
     */
    void (*fail)(struct store *store, uint64_t job, uint32_t partition, enum wire_fault fault,
                 const char *error, uint64_t now_ns);
    /* Cancelled by a client, or past its deadline (fault says which). 0, -ENOENT, -EALREADY where
     * it is final. */
    int (*end)(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
               uint64_t now_ns);
    /* NULL where there is none. Borrowed until the next call on the store. */
    const struct store_job *(*find)(struct store *store, uint64_t job);
    /* Calls each job, newest first, from `before` (an order number; 0: the newest) on, at most n.
     */
    void (*list)(struct store *store, uint64_t before, uint32_t n,
                 void (*each)(void *arg, const struct store_job *job), void *arg);
    /* How many partitions would be claimed before the job's first: 1 for the next one; 0 where it
     * is not queued. */
    uint64_t (*position)(struct store *store, uint64_t job, uint64_t now_ns);
    /* The next job past its deadline at now_ns that is not final, or 0. */
    uint64_t (*overdue)(struct store *store, uint64_t now_ns);
    /* Jobs that are not final and use that circuit number. */
    uint64_t (*uses_circuit)(struct store *store, uint32_t circuit_number);
    void (*counts)(struct store *store, struct store_counts *out);
    /* New limits; what is over them stays. */
    void (*set_limits)(struct store *store, const struct store_limits *limits);
    /* Called after a job became final; set by the owner. */
    void (*on_final)(void *arg, const struct store_job *job);
    void *on_final_arg;
};

/* Jobs in memory: gone with the process. NULL when memory is short. */
struct store *store_memory_create(const struct store_limits *limits);

const char *job_state_name(enum job_state state);
const char *partition_state_name(enum partition_state state);
const char *priority_name(enum priority priority);
int priority_parse(const char *text); /* enum priority, or -EINVAL */

#endif
