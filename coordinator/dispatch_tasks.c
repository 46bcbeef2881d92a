/*
 * The tasks of dispatch: claimed partitions, which slab is whose, in which order they are worked
 * on, and how they fail. Called by the other files of dispatch. A SIGKILL leaves nothing: what was
 * claimed is in the store.
 */
#include "coordinator/dispatch_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm/ledger.h"

enum priority priority_aged(enum priority priority, uint64_t waited_ns, uint64_t ageing_ns)
{
    uint64_t steps = waited_ns / (ageing_ns ? ageing_ns : PRIORITY_AGEING_NS);

    if (priority >= PRIORITY_HIGH)
        return priority;
    return steps >= (uint64_t)(PRIORITY_HIGH - priority) ? PRIORITY_HIGH : priority + (int)steps;
}

struct task *task_find(struct dispatch *dispatch, uint64_t job, uint32_t partition)
{
    struct task *task;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->job == job && task->partition == partition)
            return task;
    }
    return NULL;
}

struct task *task_held(struct dispatch *dispatch, uint32_t seat, uint64_t assignment)
{
    struct task *task;

    if (!assignment)
        return NULL;
    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->assignment == assignment && task->slab != SLAB_NONE)
            return task_word(dispatch, task).seat == seat ? task : NULL;
    }
    return NULL;
}

void task_claimed(struct dispatch *dispatch, const struct dispatch_event *event)
{
    struct task *task;

    /* A partition whose job ended while a worker holds it may not be claimed anew meanwhile. */
    if (event->claimed.lane >= dispatch->control->header->lane_count ||
        task_find(dispatch, event->claimed.job, event->claimed.partition)) {
        dispatch->counters.dropped_messages_total++;
        return;
    }
    task = calloc(1, sizeof(*task));
    assert(task && "memory for a claimed partition");
    task->job = event->claimed.job;
    task->partition = event->claimed.partition;
    task->lane = event->claimed.lane;
    task->circuit = event->claimed.circuit;
    task->priority = event->claimed.priority;
    task->attempts = event->claimed.attempts;
    task->deaths = event->claimed.deaths;
    task->claimed_ns = dispatch->now_ns;
    task->slab = SLAB_NONE;
    TAILQ_INSERT_TAIL(&dispatch->tasks, task, link);
}

void task_drop(struct dispatch *dispatch, struct task *task)
{
    if (task->slab != SLAB_NONE)
        dispatch->slab_task[task->slab] = NULL;
    TAILQ_REMOVE(&dispatch->tasks, task, link);
    free(task);
}

bool task_before(const struct dispatch *dispatch, const struct task *a, const struct task *b)
{
    uint64_t now = dispatch->now_ns, ageing = dispatch->limits.ageing_ns;
    uint64_t a_waited = now > a->claimed_ns ? now - a->claimed_ns : 0;
    uint64_t b_waited = now > b->claimed_ns ? now - b->claimed_ns : 0;
    enum priority a_aged = priority_aged(a->priority, a_waited, ageing);
    enum priority b_aged = priority_aged(b->priority, b_waited, ageing);

    /* Equal ones stay in the order of the list, which is that of the claims. */
    return a_aged != b_aged ? a_aged > b_aged : a_waited > b_waited;
}

bool task_waits(const struct task *task)
{
    return task->slab == SLAB_NONE && !task->proved;
}

struct slab_word task_word(const struct dispatch *dispatch, const struct task *task)
{
    return slab_word_load(dispatch->control, task->slab);
}

void task_take_back(struct dispatch *dispatch, struct task *task)
{
    struct slab_word word = task_word(dispatch, task);
    int error = 0;

    if (word.state == SLAB_ASSIGNED)
        error = ledger_unassign(dispatch->control, task->slab, word.seat, word.generation);
    else if (word.state != SLAB_READY)
        error = ledger_reprove(dispatch->control, task->slab, word.seat, word.generation);
    assert(!error && "an edge from the present word");
    task->assignment = 0;
    task->cancelled = false;
}

void task_free_slab(struct dispatch *dispatch, struct task *task)
{
    struct slab_word word = task_word(dispatch, task);
    int error;

    if (word.state == SLAB_ASSIGNED) {
        task_take_back(dispatch, task);
        word = task_word(dispatch, task);
    }
    error = ledger_abandon(dispatch->control, task->slab, word.seat, word.generation);
    assert(!error && "an edge from the present word");
    dispatch->slab_task[task->slab] = NULL;
    task->slab = SLAB_NONE;
    task->assignment = 0;
    task->cancelled = false;
}

static struct action *actions_add(struct actions *actions)
{
    if (actions->count == actions->room) {
        uint32_t room = actions->room ? 2 * actions->room : 16;
        void *list = realloc(actions->list, room * sizeof(*actions->list));
        assert(list && "memory for actions");
        actions->list = list;
        actions->room = room;
    }
    actions->list[actions->count] = (struct action){0};
    return &actions->list[actions->count++];
}

struct action *task_act(struct dispatch *dispatch, const struct task *task, enum action_type type)
{
    struct action *action = actions_add(dispatch->actions);

    action->type = type;
    action->seat = SEAT_NONE;
    action->slab = task->slab;
    if (task->slab != SLAB_NONE) {
        struct slab_word word = task_word(dispatch, task);
        action->seat = word.seat;
        action->generation = word.generation;
    }
    action->assignment = task->assignment;
    action->job = task->job;
    action->partition = task->partition;
    action->circuit = task->circuit;
    action->lane = task->lane;
    action->attempts = task->attempts;
    action->deaths = task->deaths;
    return action;
}

void task_say_state(struct dispatch *dispatch, const struct task *task, enum partition_state state)
{
    task_act(dispatch, task, ACTION_STATE)->state = state;
}

void task_cancel(struct dispatch *dispatch, struct task *task)
{
    if (task->cancelled)
        return;
    task->cancelled = true;
    task_act(dispatch, task, ACTION_CANCEL);
}

void task_fail(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
               const char *format, ...)
{
    struct action *action = task_act(dispatch, task, ACTION_FAIL);
    va_list arguments;

    action->fault = fault;
    va_start(arguments, format);
    vsnprintf(action->text, sizeof(action->text), format, arguments);
    va_end(arguments);
    if (task->slab != SLAB_NONE)
        task_free_slab(dispatch, task);
    task_drop(dispatch, task);
}

bool task_charge_attempt(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
                         const char *why)
{
    task->attempts++;
    if (task->attempts < dispatch->limits.attempts)
        return false;
    task_fail(dispatch, task, fault == FAULT_CAPACITY ? FAULT_CAPACITY : FAULT_INTERNAL,
              "failed %u times, the last time: %s", task->attempts, why);
    return true;
}

bool task_charge_death(struct dispatch *dispatch, struct task *task, const char *obituary)
{
    task->deaths++;
    if (task->deaths <= dispatch->limits.deaths)
        return false;
    task_fail(dispatch, task, FAULT_INTERNAL, "killed its worker %u times: %s", task->deaths,
              obituary);
    return true;
}

void task_requeue(struct dispatch *dispatch, struct task *task)
{
    if (task->slab != SLAB_NONE)
        task_free_slab(dispatch, task);
    dispatch->counters.retries_synth_total++;
    task_say_state(dispatch, task, PARTITION_QUEUED);
}
