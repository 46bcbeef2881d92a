/*
 * Jobs in memory by id, order and turn: who is claimed next, how many there are, what room is left.
 * Both stores decide claims with it. Not for others than store_*.c.
 */
#ifndef PAWL_COORDINATOR_STORE_INDEX_H
#define PAWL_COORDINATOR_STORE_INDEX_H

#include "coordinator/store_entry.h"

#define INDEX_BUCKETS 1024u /* a power of two */

TAILQ_HEAD(entry_queue, entry);
LIST_HEAD(entry_bucket, entry);

struct store_index {
    struct store_limits limits;
    struct entry_queue all, active, final; /* oldest first */
    struct entry_bucket buckets[INDEX_BUCKETS];
    struct store_counts counts;
    uint64_t active_count, final_count, last_order;
};

void index_init(struct store_index *index, const struct store_limits *limits);
/* Frees all entries. */
void index_free(struct store_index *index);
/* NULL where there is none. */
struct entry *index_find(const struct store_index *index, uint64_t id);
/* The spec's job with an id and its order, queued. 0, -EINVAL, -ENOSPC beyond a limit, -errno: the
 * inputs are still the caller's. */
int index_add(struct store_index *index, const struct store_spec *spec, struct entry **entry);
/* A job that was kept; its id and order are set. */
void index_put(struct store_index *index, struct entry *entry);
/* Nothing of it is to be worked on any more: not claimed again, inputs closed. */
void index_stop(struct entry *entry);
/* It is final: from the active to the final ones. */
void index_finish(struct store_index *index, struct entry *entry, enum job_state state,
                  uint64_t now_ns);
/* Takes it out and frees it. */
void index_drop(struct store_index *index, struct entry *entry);

/* As in store.h. */
uint32_t index_claim(struct store_index *index, uint32_t lane, uint32_t n, uint64_t now_ns,
                     struct store_claim *out);
void index_release(struct store_index *index, uint64_t job, uint32_t partition);
/* Whether attempts or deaths are others than before: *entry and the return value; NULL else. */
struct store_partition *index_note(struct store_index *index, uint64_t job, uint32_t partition,
                                   enum partition_state state, uint32_t attempts, uint32_t deaths);
/* The claimed partition whose result has not come, of a job that has not ended; or NULL. */
struct store_partition *index_find_claimed(struct store_index *index, uint64_t job,
                                           uint32_t partition, struct entry **entry);
/* Its result has come. 1: it was the job's last. */
int index_take_result(struct entry *entry, uint32_t partition);
uint64_t index_position(const struct store_index *index, uint64_t job, uint64_t now_ns);
uint64_t index_overdue(const struct store_index *index, uint64_t now_ns);
uint64_t index_uses_circuit(const struct store_index *index, uint32_t circuit_number);
void index_each_active(const struct store_index *index,
                       void (*each)(void *arg, const struct store_job *job), void *arg);

#endif
