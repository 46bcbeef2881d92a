/*
 * The job store: every accepted job and its results. One interface, so that where jobs are kept is
 * a matter of configuration: store_memory.c keeps them in memory, store_sqlite.c in a database.
 *
 * All calls come from the loop's thread and none of them waits. An answer comes through a callback
 * on that thread, during the call or later; what it points to is valid during the callback. A
 * job's bytes (its inputs) belong to the store from `accept` on.
 *
 * Times are CLOCK_MONOTONIC; what outlives the process is kept as CLOCK_REALTIME.
 */
#ifndef PAWL_COORDINATOR_STORE_H
#define PAWL_COORDINATOR_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/dispatch.h"
#include "coordinator/spool.h"

#define STORE_NAME_BYTES 65    /* a circuit's or lane's name */
#define STORE_PROGRAM_BYTES 65 /* a witness program's, in hex; "": none */
#define STORE_KEY_BYTES 129    /* an idempotency key; "": none */

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED };
enum input_kind { INPUT_WTNS, INPUT_JSON };

/* Times in ms for `pawl job`, negative where not known. */
struct partition_times {
    double queue, witness, rows, ready, upload, ntt, msm, prove, finalize, verify, store;
};

/* One partition's bytes, as accepted. */
struct store_input {
    enum input_kind kind;
    char name[SPOOL_NAME_BYTES]; /* the file in the spool; "": none, it is witness_fd */
    uint8_t sha256[32];
    uint64_t bytes;
    char label[WIRE_LABEL_BYTES]; /* for error texts, e.g. the user's file name */
};

struct store_partition {
    enum partition_state state;
    uint32_t attempts, deaths;
    enum wire_fault fault; /* 0: none */
    char *error;           /* NULL: none */
    char *proof, *publics; /* JSON texts of result.h, NULL until done; one malloc'd block at
                              `proof`. Only `fetch` promises them */
    struct partition_times ms;
    int witness_fd; /* read-only; -1 where the input is a file, and once the job is final */
    struct store_input input;
};

struct store_job {
    uint64_t id;    /* never 0; shown as 16 hex digits */
    uint64_t order; /* of acceptance: 1, 2, 3 ... */
    char circuit[STORE_NAME_BYTES];
    uint32_t circuit_number; /* the circuit set's number, pinned at acceptance */
    uint8_t hash[HASH_BYTES];
    char program[STORE_PROGRAM_BYTES];
    char lane_name[LANE_NAME_BYTES]; /* that its client named; "": none */
    uint32_t lane;
    enum priority priority;
    enum job_state state;
    uint64_t accepted_ns, deadline_ns, final_ns; /* deadline 0: none */
    enum wire_fault fault;
    char *error;
    uint32_t partition_count;
    struct store_partition *partitions; /* NULL in lists */
};

/* What `accept` needs; the inputs (fds and spool files) become the store's, whatever it answers. */
struct store_spec {
    char circuit[STORE_NAME_BYTES];
    uint32_t circuit_number;
    uint8_t hash[HASH_BYTES];
    char program[STORE_PROGRAM_BYTES];
    char lane_name[LANE_NAME_BYTES];
    char key[STORE_KEY_BYTES];
    uint32_t lane;
    enum priority priority;
    uint64_t now_ns, deadline_ns;
    uint32_t partition_count;
    const struct store_spec_partition {
        int witness_fd; /* -1 where input.name is given */
        struct store_input input;
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
    uint64_t uncommitted; /* changes that the disk does not have yet */
};

struct store_claim {
    uint64_t job;
    uint32_t partition, circuit_number;
    uint8_t hash[HASH_BYTES];
    enum priority priority;
    uint32_t attempts, deaths; /* so far */
};

/* How long commits took: of the last ones, a ring; and how many there were. */
#define STORE_COMMITS_KEPT 1024u
struct store_commits {
    uint64_t total, failed_total;
    uint64_t ns[STORE_COMMITS_KEPT];
};

/* error: 0, -ENOENT, -EIO, -ENOMEM, -EBUSY (ask again later). job: NULL but for 0; with its
 * results. */
typedef void store_fetched(void *arg, int error, const struct store_job *job);

/* One implementation. `self` is the implementation's own. */
struct store {
    void *self;
    int is_durable; /* jobs outlive the process */
    void (*destroy)(struct store *store);
    /*
     * 0 and the id, once the job is as durable as the store makes it. With a key that a job has
     * which still answers: 0 and that job's id where the bytes are the same (store_digest), else
     * -EEXIST and its id. -ENOSPC beyond a limit; -EIO: cannot be stored now, see `trouble`;
     * -errno.
     */
    void (*accept)(struct store *store, const struct store_spec *spec,
                   void (*done)(void *arg, int error, uint64_t job), void *arg);
    /* Up to n queued partitions of the lane, by priority aged by waiting time, then order; marks
     * them claimed. How many; none while there is trouble. */
    uint32_t (*claim)(struct store *store, uint32_t lane, uint32_t n, uint64_t now_ns,
                      struct store_claim *out);
    /* A claimed partition that is not executed after all: queued again. */
    void (*release)(struct store *store, uint64_t job, uint32_t partition);
    /* The state of a claimed partition has changed; counters for `pawl job`. */
    void (*note)(struct store *store, uint64_t job, uint32_t partition, enum partition_state state,
                 uint32_t attempts, uint32_t deaths);
    /* The bytes of a partition of a job that is not final: a read-only fd, the caller's, whose
     * position nobody shares; -errno. */
    int (*open_input)(struct store *store, uint64_t job, uint32_t partition);
    /* The result of a partition; proof is the block of result_read and becomes the store's.
     * Callback after the commit; it always comes, also for a job that has ended (its result is
     * then thrown away). publics points into proof's block. */
    void (*complete)(struct store *store, uint64_t job, uint32_t partition, char *proof,
                     char *publics, const struct partition_times *ms, uint64_t now_ns,
                     void (*committed)(void *arg, uint64_t job, uint32_t partition), void *arg);
    /* The partition has failed for good, and so has its job; its other partitions become cancelled.
     */
    void (*fail)(struct store *store, uint64_t job, uint32_t partition, enum wire_fault fault,
                 const char *error, uint64_t now_ns);
    /* Cancelled by a client, or past its deadline (fault says which): final once it is committed.
     * 0, -ENOENT, -EALREADY where it has ended. */
    int (*end)(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
               uint64_t now_ns);
    /* A job that is not final, and perhaps one that is: what is in memory. NULL where there is
     * none. Borrowed until the next call on the store. */
    const struct store_job *(*find)(struct store *store, uint64_t job);
    /* Any job that still answers, whole. The callback always comes, once. */
    void (*fetch)(struct store *store, uint64_t job, store_fetched *fetched, void *arg);
    /* Calls each job, newest first, from `before` (an order number; 0: the newest) on, at most n;
     * then end, once. error as for fetch. */
    void (*list)(struct store *store, uint64_t before, uint32_t n,
                 void (*each)(void *arg, const struct store_job *job),
                 void (*end)(void *arg, int error), void *arg);
    /* Calls each job that is not final, also before `resolve`, during the call; each calls nothing
     * of the store. */
    void (*each_active)(struct store *store, void (*each)(void *arg, const struct store_job *job),
                        void *arg);
    /* How many partitions would be claimed before the job's first: 1 for the next one; 0 where it
     * is not queued. */
    uint64_t (*position)(struct store *store, uint64_t job, uint64_t now_ns);
    /* The next job past its deadline at now_ns that has not ended, or 0. Called at each tick. */
    uint64_t (*overdue)(struct store *store, uint64_t now_ns);
    /* Jobs that are not final and use that circuit number. */
    uint64_t (*uses_circuit)(struct store *store, uint32_t circuit_number);
    void (*counts)(struct store *store, struct store_counts *out);
    /* NULL where nothing is committed to a disk. */
    const struct store_commits *(*commits)(struct store *store);
    /* 1 and one line in text while nothing can be committed (a full disk); 0. */
    int (*trouble)(struct store *store, char *text, size_t bytes);
    /* New limits; what is over them stays. */
    void (*set_limits)(struct store *store, const struct store_limits *limits);
    /* Where and with what a job that was accepted before is worked on from now on; called once for
     * each such job, before the first claim. resolve sets circuit_number and lane and returns 0, or
     * an enum wire_fault that the job fails with, and why. NULL where no job outlives the process.
     */
    void (*resolve)(struct store *store,
                    int (*resolve)(void *arg, struct store_job *job, char *why, size_t bytes),
                    void *arg);
    /* A job has ended otherwise than done: nothing of it is to be worked on any more. Set by the
     * owner, as is the next. */
    void (*on_ended)(void *arg, uint64_t job);
    /* A job is final, for good, and everybody may see it. Its results need not be there. */
    void (*on_final)(void *arg, const struct store_job *job);
    void *on_final_arg; /* of both */
};

/* Jobs in memory: gone with the process. NULL when memory is short. */
struct store *store_memory_create(const struct store_limits *limits);

/*
 * What makes two requests with one idempotency key the same: circuit, image, program, and of each
 * partition kind, length and SHA-256, in order. 0 or -ENOMEM.
 */
int store_digest(const struct store_spec *spec, uint8_t digest[32]);

const char *job_state_name(enum job_state state);
const char *partition_state_name(enum partition_state state);
const char *priority_name(enum priority priority);
int priority_parse(const char *text); /* enum priority, or -EINVAL */

#endif
