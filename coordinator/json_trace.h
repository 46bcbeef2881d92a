/*
 * The trace ring as Chrome Trace Event JSON, in pieces, so that the loop is never away for long.
 *
 * Three groups of tracks ("processes"): workers by seat (synth, upload, prove, finalize, verify),
 * slabs by number (ready, store), and the credits (instants). Times are CLOCK_MONOTONIC in
 * microseconds.
 */
#ifndef PAWL_COORDINATOR_JSON_TRACE_H
#define PAWL_COORDINATOR_JSON_TRACE_H

#include <stdint.h>

#include "coordinator/json_writer.h"

struct control;
struct workers;

struct json_trace {
    struct json_writer json;
    const struct control *control;
    uint64_t next, end; /* numbers of ring events: [next, end) are still to be written */
    uint64_t since_ns;  /* older events are left out */
};

/* Begins the text in json.out: the events that the ring has now. workers may be NULL. */
void json_trace_start(struct json_trace *trace, struct evbuffer *out, const struct control *control,
                      const struct workers *workers, uint64_t since_ns);
/* Looks at up to `most` further events. 1: there are more; 0: all is written, and closed. */
int json_trace_continue(struct json_trace *trace, uint32_t most);

#endif
