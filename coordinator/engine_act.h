/*
 * One action of dispatch, carried out.
 */
#ifndef PAWL_COORDINATOR_ENGINE_ACT_H
#define PAWL_COORDINATOR_ENGINE_ACT_H

#include "coordinator/engine.h"
#include "coordinator/result_take.h"

/* An event that waits, with what came with it. */
struct engine_entry {
    struct dispatch_event event;
    struct result_texts result; /* PROVED: owned until an ACTION_RESULT hands it to the store */
};

/* entry: the event that led to the action. */
void engine_act(struct engine *engine, const struct action *action, struct engine_entry *entry);
/* Queues an event behind those that wait; engine.c. */
void engine_queue(struct engine *engine, const struct dispatch_event *event);

#endif
