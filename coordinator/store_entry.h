/*
 * A job in the memory store, with what the store alone knows of it. Not for others than
 * store_memory.c, which keeps the lists.
 */
#ifndef PAWL_COORDINATOR_STORE_ENTRY_H
#define PAWL_COORDINATOR_STORE_ENTRY_H

#include <stdbool.h>
#include <sys/queue.h>

#include "coordinator/store.h"

struct entry {
    struct store_job job;
    TAILQ_ENTRY(entry) by_order; /* of all jobs */
    TAILQ_ENTRY(entry) by_state; /* of the active, or of the final ones */
    LIST_ENTRY(entry) same_bucket;
    bool *claimed;            /* by partition */
    uint32_t unclaimed;       /* how many dispatch has not got */
    uint32_t first_unclaimed; /* none before it */
    uint32_t done;
    uint64_t bytes;
};

/* The job of the spec, queued; id, order and lists are the caller's. Its witness fds are the
 * entry's from now on. NULL when memory is short: then they are still the caller's. */
struct entry *entry_create(const struct store_spec *spec);
/* Closes the fds that are still open. */
void entry_free(struct entry *entry);
bool entry_is_final(const struct entry *entry);
/* Whether a is claimed before b: by aged priority, then in the order of acceptance. */
bool entry_before(const struct entry *a, const struct entry *b, uint64_t now_ns,
                  uint64_t ageing_ns);
/* The partitions that are not done share the job's end. */
void entry_cancel_rest(struct entry *entry, enum wire_fault fault);
/* The job's error text, malloc'd, for a partition's; NULL when memory is short. */
char *entry_job_error(const struct entry *entry, uint32_t partition, const char *error);

#endif
