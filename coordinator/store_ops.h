/*
 * Changes of the job store on their way to the database: made on the loop, written on the disk
 * thread in batches, and back on the loop answered. Not for others than store_*.c.
 */
#ifndef PAWL_COORDINATOR_STORE_OPS_H
#define PAWL_COORDINATOR_STORE_OPS_H

#include <sys/queue.h>

#include "coordinator/store.h"

struct spool;
struct store_db;

enum op_type { OP_ACCEPT, OP_NOTE, OP_RESULT, OP_END, OP_REMOVE };
#define OP_WHOLE_JOB UINT32_MAX

struct op_names {
    char (*names)[SPOOL_NAME_BYTES];
    uint32_t count, room;
};

struct store_op {
    STAILQ_ENTRY(store_op) next;
    enum op_type type;
    uint64_t job, order;      /* the job's id and number */
    uint32_t partition;       /* END: the one that failed, or OP_WHOLE_JOB */
    uint64_t posted_ns;       /* CLOCK_MONOTONIC */
    struct op_names removals; /* files that go once it is committed; REMOVE: in any case */
    union {
        struct {
            const struct store_job *details; /* borrowed: nobody changes it before the answer */
            const char *key;                 /* likewise; NULL: none */
            const uint8_t *digest;           /* likewise */
            uint64_t accepted_real_ns, deadline_real_ns;
            void (*done)(void *arg, int error, uint64_t job);
            void *arg;
            int error;         /* out: 0, -EALREADY (the same request), -EEXIST, -EIO */
            uint64_t existing; /* out: the job that has the key */
        } accept;
        struct {
            uint32_t attempts, deaths;
        } note;
        struct {
            char *proof, *publics; /* one block, at proof */
            struct partition_times ms;
            int is_last; /* the job is done with it */
            uint64_t final_real_ns;
            void (*committed)(void *arg, uint64_t job, uint32_t partition);
            void *arg;
        } result;
        struct {
            enum job_state state;
            enum wire_fault fault;
            char *error, *job_error;
            uint64_t final_real_ns;
        } end;
    };
};
STAILQ_HEAD(op_list, store_op);

/* Zeroed; aborts when memory is short, for a change cannot be dropped. */
struct store_op *store_op_create(enum op_type type, uint64_t job, uint64_t order,
                                 uint32_t partition);
void store_op_free(struct store_op *op);
/* Aborts when memory is short. */
void op_names_add(struct op_names *names, const char *name);
void op_names_add_inputs(struct op_names *names, const struct store_job *job);

/* What goes to the thread and comes back. */
struct store_batch {
    struct op_list ops;
    struct store_db *db;
    const struct spool *spool; /* NULL: no files */
    uint32_t kept_jobs;
    uint64_t kept_ns, now_real_ns;
    int error; /* out: 0 or -errno: nothing of it is written */
    char trouble[256];
    uint64_t commit_ns; /* out: how long it took */
};

/* On the thread: writes the batch in one transaction, drops old jobs with it, and removes files. */
void store_batch_write(struct store_batch *batch);

/* On the thread, or at the start. The job with its partitions, and with its results if asked for;
 * cleared by store_job_clear. Times in it are CLOCK_REALTIME. 0, -ENOENT, -errno. */
int store_db_read(struct store_db *db, uint64_t id, int with_results, struct store_job *job);
/* At most n jobs before that number (0: the newest), without partitions. How many, or -errno. */
int64_t store_db_list(struct store_db *db, uint64_t before, uint32_t n, struct store_job *jobs);
/* Calls each for every job that is not final, whole but for results, oldest first; each takes it
 * over and returns 0 or -errno, which ends the calls. 0 or -errno. */
int store_db_active(struct store_db *db, int (*each)(void *arg, struct store_job *job), void *arg);

#endif
