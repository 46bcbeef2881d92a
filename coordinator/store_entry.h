/*
 * A job in memory, with what the stores alone know of it. Not for others than store_*.c;
 * store_index.c keeps the lists.
 */
#ifndef PAWL_COORDINATOR_STORE_ENTRY_H
#define PAWL_COORDINATOR_STORE_ENTRY_H

#include <stdbool.h>
#include <sys/queue.h>

#include "coordinator/store.h"

/* Of a partition. TAKEN: its result has come. */
enum entry_phase { ENTRY_UNCLAIMED, ENTRY_CLAIMED, ENTRY_TAKEN };

struct entry {
    struct store_job job;
    TAILQ_ENTRY(entry) by_order; /* of all jobs */
    TAILQ_ENTRY(entry) by_state; /* of the active, or of the final ones */
    LIST_ENTRY(entry) same_bucket;
    LIST_ENTRY(entry) same_key_bucket; /* the memory store's, where it has a key */
    uint8_t *phases;                   /* by partition */
    uint32_t unclaimed;                /* how many dispatch has not got */
    uint32_t first_unclaimed;          /* none before it */
    uint32_t taken;                    /* results that have come */
    uint64_t bytes;
    bool is_waiting; /* for its acceptance's commit: nobody knows it yet */
    bool is_kept;    /* from before the start, and not resolved yet */
    bool is_ended;   /* nothing more is to be worked on; final, or final once it is committed */
    char *key;       /* NULL: none */
    uint8_t digest[32];
};

/* The job of the spec, queued; id, order and lists are the caller's. Its witness fds are the
 * entry's from now on. NULL when memory is short: then they are still the caller's. */
struct entry *entry_create(const struct store_spec *spec);
/* An entry for a job that was kept: its contents become the entry's, those done stay done. NULL
 * when memory is short: they are still the caller's. */
struct entry *entry_adopt(const struct store_job *job);
/* Closes the fds that are still open. */
void entry_free(struct entry *entry);
/* Errors, texts and partitions of a job that is no entry's. */
void store_job_clear(struct store_job *job);
bool entry_is_final(const struct entry *entry);
/* Whether a is claimed before b: by aged priority, then in the order of acceptance. */
bool entry_before(const struct entry *a, const struct entry *b, uint64_t now_ns,
                  uint64_t ageing_ns);
void entry_close_inputs(struct entry *entry);
/* The partition has failed, the job with it, and those that are not done are cancelled. */
void entry_fail(struct entry *entry, uint32_t partition, enum wire_fault fault, const char *error);
/* The job ends, and the partitions that are not done share its end. */
void entry_end(struct entry *entry, enum wire_fault fault, const char *error);
/* What a job ends as that is ended for that reason. */
enum job_state entry_end_state(enum wire_fault fault);
/* The job's error text, malloc'd, for a partition's; NULL when memory is short. */
char *entry_job_error(uint32_t partition_count, uint32_t partition, const char *error);

#endif
