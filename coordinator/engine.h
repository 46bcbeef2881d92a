/*
 * The engine: events into dispatch, its actions out to workers and store. dispatch.h decides; this
 * carries out.
 *
 * Events are taken one after another: what an action causes (a commit, a job's end) is queued
 * behind. When the queue is empty, as many partitions are claimed from the store as dispatch can
 * start.
 */
#ifndef PAWL_COORDINATOR_ENGINE_H
#define PAWL_COORDINATOR_ENGINE_H

#include <stdint.h>

#include "coordinator/dispatch.h"
#include "coordinator/store.h"
#include "coordinator/workers.h"

struct circuits;
struct control;
struct engine_entry;

struct engine {
    struct dispatch *dispatch;
    struct store *store;
    struct workers *workers;
    struct circuits *circuits;
    const struct control *control;
    struct actions actions;
    struct engine_entry *queue; /* a ring */
    uint32_t first, count, room;
    int running;
    uint64_t malformed_results_total;
    /* A job became final. Set by the owner. */
    void (*on_job_final)(void *arg, uint64_t job);
    void *arg;
};

/* Sets the callbacks of store and workers. All are borrowed. */
void engine_init(struct engine *engine, struct dispatch *dispatch, struct store *store,
                 struct workers *workers, struct circuits *circuits, const struct control *control);
void engine_free(struct engine *engine);
/* After a job was accepted: starts what can start. */
void engine_claim(struct engine *engine);
/* The configuration has changed: each device's use is read from it again. */
void engine_read_uses(struct engine *engine);
/* Ends jobs past their deadline; lets dispatch age and check. */
void engine_tick(struct engine *engine, uint64_t now_ns);

#endif
