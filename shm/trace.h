/*
 * The trace ring: what happened lately, for `pawl trace`. One writer, the coordinator; it lies in
 * control, so a worker or a post-mortem can read it. Old events are overwritten; the reader takes a
 * slot only where its number still fits.
 */
#ifndef PAWL_SHM_TRACE_H
#define PAWL_SHM_TRACE_H

#include <stdatomic.h>
#include <stdint.h>

enum trace_kind {
    TRACE_SYNTH = 1, /* complete events: from start_ns, for duration_ns */
    TRACE_READY,
    TRACE_UPLOAD,
    TRACE_PROVE,
    TRACE_FINALIZE,
    TRACE_VERIFY,
    TRACE_STORE,
    TRACE_CREDIT_TAKE = 32, /* instants: one sequence for all three */
    TRACE_CREDIT_RETURN,
    TRACE_CREDIT_LIMIT,
};

struct trace_event {
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t duration_ns;
    uint64_t job;
    uint32_t partition;
    uint16_t kind; /* enum trace_kind */
    uint16_t lane;
    uint32_t slab; /* UINT32_MAX in credit events: a credit belongs to a lane */
    uint16_t seat; /* SEAT_NONE where no worker did it */
    uint16_t reserved;
    uint32_t limit, available; /* credit events: after the event */
    uint64_t seq;              /* credit events: 1, 2, 3 ... */
};
_Static_assert(sizeof(struct trace_event) == 56, "trace event layout");

struct trace_slot {
    /* of the event it holds, counted from 1; stored last; 0 while being written */
    _Atomic uint64_t number;
    /* the event's bytes, as words: a reader may look while the writer comes round again */
    _Atomic uint64_t words[sizeof(struct trace_event) / sizeof(uint64_t)];
};
_Static_assert(sizeof(struct trace_slot) == 64, "trace slot layout");

struct trace_ring {
    _Alignas(64) _Atomic uint64_t written; /* events so far */
    uint64_t credit_seq;                   /* the writer's: last seq given */
    _Alignas(64) struct trace_slot slots[];
};

struct control;

/* Appends; for credit kinds seq is given here. */
void trace_add(struct control *control, const struct trace_event *event);
/* Copies the event with that number (1 .. written) out: 1, or 0 where it has been overwritten. */
int trace_read(const struct control *control, uint64_t number, struct trace_event *out);
uint64_t trace_written(const struct control *control);
const char *trace_kind_name(unsigned kind); /* "synth", "credit_take" ... */

#endif
