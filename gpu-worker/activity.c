/*
 * One mutex makes of the threads the single writer that a seat page wants.
 */
#include "gpu-worker/activity.h"

#include <pthread.h>
#include <stdlib.h>

#include "shm/wire.h"
#include "shm/worker_start.h"

struct side {
    int busy;
    enum worker_stage stage;
    uint64_t assignment, job;
    uint32_t partition;
};

struct activity {
    pthread_mutex_t mutex;
    struct seat_page *page;
    struct side side[SIDES];
    uint64_t counted_until_ns;
};

struct activity *activity_create(struct seat_page *page)
{
    struct activity *activity = calloc(1, sizeof(*activity));
    if (!activity)
        return NULL;
    pthread_mutex_init(&activity->mutex, NULL);
    activity->page = page;
    activity->counted_until_ns = worker_now_ns();
    return activity;
}

void activity_destroy(struct activity *activity)
{
    pthread_mutex_destroy(&activity->mutex);
    free(activity);
}

/* The span that ends now is counted before what it was changes. */
static void count_span(struct activity *activity)
{
    uint64_t now = worker_now_ns(), span = now - activity->counted_until_ns;
    int busy = activity->side[SIDE_PROVER].busy || activity->side[SIDE_FINALIZER].busy;
    seat_add(activity->page, busy ? span : 0, busy ? 0 : span, 0);
    activity->counted_until_ns = now;
}

static void show(struct activity *activity)
{
    for (int i = 0; i < SIDES; i++) {
        const struct side *side = &activity->side[i];
        if (side->busy) {
            seat_enter(activity->page, side->stage, side->assignment, side->job, side->partition);
            return;
        }
    }
    seat_enter(activity->page, STAGE_IDLE, 0, 0, 0);
}

static void change(struct activity *activity, enum activity_side which, struct side side)
{
    pthread_mutex_lock(&activity->mutex);
    count_span(activity);
    activity->side[which] = side;
    show(activity);
    pthread_mutex_unlock(&activity->mutex);
}

void activity_enter(struct activity *activity, enum activity_side side, enum worker_stage stage,
                    const struct wire_prove *order)
{
    change(activity, side,
           (struct side){1, stage, order->assignment, order->job, order->partition});
}

void activity_rest(struct activity *activity, enum activity_side side)
{
    change(activity, side, (struct side){0});
}

void activity_progress(struct activity *activity)
{
    pthread_mutex_lock(&activity->mutex);
    seat_progress(activity->page);
    pthread_mutex_unlock(&activity->mutex);
}

void activity_count_done(struct activity *activity)
{
    seat_add(activity->page, 0, 0, 1);
}
