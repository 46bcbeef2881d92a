/*
 * The credit counter of a lane: the right to start syntheses. One writer, the coordinator.
 *
 * A start is paid for by a finished proof: a synthesis starts only by taking a credit, and a credit
 * returns only when its slab becomes FREE. The counter is what dispatch reads; the slab words are
 * the truth behind it (credit_check: available = max(0, limit - slabs that are not FREE)). Each
 * change appends its instant to the trace ring.
 */
#ifndef PAWL_SHM_CREDIT_H
#define PAWL_SHM_CREDIT_H

#include <stdint.h>

struct control;

/* 0, or -EAGAIN when none is available. Called by ledger_grant alone. */
int credit_take(struct control *control, uint32_t lane);
/* Adds one, or nothing while more are out than the limit. Called by the ledger's edges to FREE
 * alone. */
void credit_return(struct control *control, uint32_t lane);
/* A lower limit takes effect by not granting again; a higher one at once. At most the lane's slab
 * count. */
void credit_set_limit(struct control *control, uint32_t lane, uint64_t limit);
/* Keeps the most grants that one dispatch step made in this lane (starts_at_once_max). */
void credit_note_starts(struct control *control, uint32_t lane, uint64_t starts);
uint64_t credit_available(const struct control *control, uint32_t lane);
uint64_t credit_limit(const struct control *control, uint32_t lane);

/* All counters of a lane, for the status. */
struct credit_view {
    uint64_t available, limit, taken_total, returned_total, grants_total, starts_at_once_max;
};
void credit_read(const struct control *control, uint32_t lane, struct credit_view *view);

/* Recomputes the counter from the slab words and aborts where they differ
 * (also where taken_total - returned_total is not the slabs that are out). */
void credit_check(const struct control *control, uint32_t lane);

#endif
