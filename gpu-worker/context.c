/*
 * The messages that more than one thread posts, and the watch that both hand to the mathematics.
 */
#include "gpu-worker/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu-worker/desk.h"
#include "gpu-worker/keys.h"
#include "gpu-worker/outbox.h"
#include "shm/wire.h"

static void watch_step(struct device_watch *self, enum worker_stage stage)
{
    struct context_watch *watch = (struct context_watch *)self;
    if (watch->side == SIDE_FINALIZER)
        stage = STAGE_FINALIZE;
    activity_enter(watch->activity, watch->side, stage, &watch->assignment->order);
}

/* It is asked between the steps of long work, so the answer shows progress too. */
static int watch_cancelled(struct device_watch *self)
{
    struct context_watch *watch = (struct context_watch *)self;
    activity_progress(watch->activity);
    return assignment_is_cancelled(watch->assignment);
}

void context_watch_init(struct context_watch *watch, struct context *context,
                        enum activity_side side, struct assignment *assignment)
{
    *watch = (struct context_watch){.watch = {.step = watch_step, .cancelled = watch_cancelled},
                                    .activity = context->activity,
                                    .side = side,
                                    .assignment = assignment};
}

void context_post_step(struct context *context, const struct assignment *assignment, unsigned type)
{
    union wire_message message = {.step = {.assignment = assignment->order.assignment,
                                           .slab = assignment->order.slab,
                                           .generation = assignment->order.generation}};
    outbox_post(context->outbox, &message, type, -1);
}

void context_post_failed(struct context *context, const struct assignment *assignment,
                         unsigned fault, unsigned stage, int device_charged, const char *why)
{
    union wire_message message = {.failed = {.assignment = assignment->order.assignment,
                                             .slab = assignment->order.slab,
                                             .generation = assignment->order.generation,
                                             .fault = fault,
                                             .stage = stage,
                                             .device_charged = device_charged != 0}};
    snprintf(message.failed.why, sizeof(message.failed.why), "%s", why);
    outbox_post(context->outbox, &message, WIRE_FAILED, -1);
}

void context_discard(struct context *context, struct assignment *assignment)
{
    keys_release(context->keys, assignment->key);
    free(assignment);
    desk_wake(context->desk); /* the key may be one to sweep */
}
