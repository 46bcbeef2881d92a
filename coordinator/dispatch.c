/*
 * Dispatch: the step. One event changes tasks and slab words; then one pass hands out what can be
 * handed out: credits to synth-workers, filled slabs to gpu-workers. The contract stands in
 * dispatch.h, the parts in dispatch_internal.h.
 *
 * Workers are not trusted: a message is looked up by its assignment and its seat, and one that fits
 * nothing is dropped and counted. A SIGKILL leaves nothing of this.
 */
#include "coordinator/dispatch_internal.h"

#include <stdlib.h>

#include "shm/credit.h"

void actions_clear(struct actions *actions)
{
    actions->count = 0;
}

void actions_free(struct actions *actions)
{
    free(actions->list);
    *actions = (struct actions){0};
}

struct dispatch *dispatch_create(struct control *control, const struct dispatch_limits *limits)
{
    struct dispatch *dispatch = calloc(1, sizeof(*dispatch));

    if (!dispatch)
        return NULL;
    dispatch->slab_task = calloc(SLABS_MAX, sizeof(*dispatch->slab_task));
    if (!dispatch->slab_task) {
        free(dispatch);
        return NULL;
    }
    dispatch->control = control;
    TAILQ_INIT(&dispatch->tasks);
    dispatch_set_limits(dispatch, limits);
    return dispatch;
}

void dispatch_destroy(struct dispatch *dispatch)
{
    struct task *task;

    if (!dispatch)
        return;
    while ((task = TAILQ_FIRST(&dispatch->tasks))) {
        TAILQ_REMOVE(&dispatch->tasks, task, link);
        free(task);
    }
    free(dispatch->slab_task);
    free(dispatch);
}

void dispatch_set_limits(struct dispatch *dispatch, const struct dispatch_limits *limits)
{
    dispatch->limits = *limits;
    seats_plan_credits(dispatch);
}

static void drop_message(struct dispatch *dispatch)
{
    dispatch->counters.dropped_messages_total++;
}

/* FILLED .. RELEASED: the assignment that the message is about. */
static uint64_t event_assignment(const struct dispatch_event *event)
{
    switch (event->type) {
    case EVENT_FILLED:
        return event->filled.assignment;
    case EVENT_PROVED:
        return event->proved.assignment;
    case EVENT_FAILED:
        return event->failed.assignment;
    default:
        return event->step.assignment;
    }
}

typedef void (*message_function)(struct dispatch *, struct task *, const struct dispatch_event *);

/* Who may send what: NULL where the role may not. */
static const message_function message_functions[][3] = {
    [EVENT_FILLED] = {NULL, synth_filled, NULL},
    [EVENT_STARTED] = {NULL, NULL, prove_started},
    [EVENT_COMPUTED] = {NULL, NULL, prove_computed},
    [EVENT_PROVED] = {NULL, NULL, prove_proved},
    [EVENT_FAILED] = {NULL, synth_failed, prove_failed},
    [EVENT_RELEASED] = {NULL, synth_released, prove_released},
};

static void take_message(struct dispatch *dispatch, const struct dispatch_event *event)
{
    message_function function = message_functions[event->type][dispatch->seats[event->seat].role];
    struct task *task = task_held(dispatch, event->seat, event_assignment(event));

    if (function && task)
        function(dispatch, task, event);
    else
        drop_message(dispatch);
}

static void seat_ready(struct dispatch *dispatch, struct seat *seat)
{
    seat->ready = true;
    if (seat->role == ROLE_GPU && !seat->fallback)
        prove_recall_fallbacks(dispatch);
}

static void take_seat_event(struct dispatch *dispatch, const struct dispatch_event *event)
{
    struct seat *seat;

    if (event->seat >= SEATS_MAX) {
        drop_message(dispatch);
        return;
    }
    seat = &dispatch->seats[event->seat];
    if (event->type == EVENT_ATTACHED)
        seat_attached(dispatch, event);
    else if (event->type == EVENT_DIED)
        end_seat(dispatch, event);
    else if (seat->role == ROLE_NONE)
        drop_message(dispatch);
    else if (event->type == EVENT_READY)
        seat_ready(dispatch, seat);
    else if (event->type == EVENT_LEAVING)
        seat->leaving = true;
    else
        take_message(dispatch, event);
}

static void tick(struct dispatch *dispatch)
{
    for (uint32_t lane = 0; lane < dispatch->control->header->lane_count; lane++)
        credit_check(dispatch->control, lane);
    seats_plan_credits(dispatch);
    prove_check_devices(dispatch);
}

/* A failed partition fails its job: nothing of it may be handed out in the pass that follows, for
 * its witnesses go with the first ACTION_FAIL. */
static void end_failed_jobs(struct dispatch *dispatch, uint32_t first_action)
{
    for (uint32_t i = first_action; i < dispatch->actions->count; i++)
        if (dispatch->actions->list[i].type == ACTION_FAIL)
            end_job(dispatch, dispatch->actions->list[i].job);
}

void dispatch_step(struct dispatch *dispatch, const struct dispatch_event *event,
                   struct actions *actions)
{
    uint32_t first_action = actions->count;

    if (event->now_ns > dispatch->now_ns) /* spans rely on a clock that never goes back */
        dispatch->now_ns = event->now_ns;
    dispatch->actions = actions;
    switch (event->type) {
    case EVENT_CLAIMED:
        task_claimed(dispatch, event);
        break;
    case EVENT_JOB_ENDED:
        end_job(dispatch, event->job.job);
        break;
    case EVENT_COMMITTED:
        end_committed(dispatch, event->job.job, event->job.partition);
        break;
    case EVENT_HOLD:
    case EVENT_REPLANNED:
        dispatch->held = event->type == EVENT_HOLD;
        if (!dispatch->held)
            seats_replanned(dispatch);
        seats_plan_credits(dispatch);
        break;
    case EVENT_TICK:
        tick(dispatch);
        break;
    default:
        take_seat_event(dispatch, event);
    }
    end_failed_jobs(dispatch, first_action);
    seats_count_loads(dispatch);
    synth_pass(dispatch);
    prove_pass(dispatch);
    dispatch->actions = NULL;
}

uint32_t dispatch_wants(const struct dispatch *dispatch, uint32_t lane)
{
    const struct task *task;
    uint64_t able, waiting = 0;

    if (lane >= dispatch->control->header->lane_count)
        return 0;
    able = seats_idle_synth(dispatch);
    if (able > credit_available(dispatch->control, lane))
        able = credit_available(dispatch->control, lane);
    TAILQ_FOREACH (task, &dispatch->tasks, link)
        waiting += task->lane == lane && task_waits(task);
    return able > waiting ? (uint32_t)(able - waiting) : 0;
}

uint32_t dispatch_lane_turn(const struct dispatch *dispatch, uint32_t i)
{
    uint32_t lanes = dispatch->control->header->lane_count;

    /* The lane before which i others come. */
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t before = 0;
        for (uint32_t other = 0; other < lanes; other++) {
            uint64_t mine = dispatch->last_grant[lane], its = dispatch->last_grant[other];
            before += its < mine || (its == mine && other < lane);
        }
        if (before == i)
            return lane;
    }
    return 0;
}

void dispatch_counters(const struct dispatch *dispatch, struct dispatch_counters *out)
{
    *out = dispatch->counters;
}

int dispatch_has_work(const struct dispatch *dispatch, uint32_t seat)
{
    const struct seat_load *load = &dispatch->loads[seat];

    return load->filling + load->assigned + load->proving + load->finalizing > 0;
}

int dispatch_set_aside(const struct dispatch *dispatch, uint32_t seat)
{
    return seat < SEATS_MAX && dispatch->seats[seat].set_aside;
}

uint32_t dispatch_tasks(const struct dispatch *dispatch)
{
    const struct task *task;
    uint32_t count = 0;

    TAILQ_FOREACH (task, &dispatch->tasks, link)
        count += !task->ended;
    return count;
}
