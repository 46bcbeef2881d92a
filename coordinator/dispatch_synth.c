/*
 * Dispatch to synth-workers: a start is paid for with a credit, and only here. Their answers: the
 * slab is filled, the filling failed, the slab comes back. A SIGKILL of a synth-worker comes as its
 * death (dispatch_end.c).
 */
#include "coordinator/dispatch_internal.h"

#include <assert.h>
#include <string.h>

#include "shm/credit.h"
#include "shm/ledger.h"

/* The next task over all lanes that have a credit, so that lanes share synth-workers by need. */
static struct task *next_task(const struct dispatch *dispatch)
{
    struct task *task, *next = NULL;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (!task_waits(task) || !credit_available(dispatch->control, task->lane))
            continue;
        if (!next || task_before(dispatch, task, next))
            next = task;
    }
    return next;
}

static void grant(struct dispatch *dispatch, struct task *task, uint32_t seat)
{
    uint32_t preferred = dispatch->seats[seat].last_slab[task->lane];
    int slab = ledger_find_free(dispatch->control, task->lane,
                                preferred == SLAB_NONE ? -1 : (int64_t)preferred);
    uint64_t generation;
    int error;

    assert(slab >= 0 && "where a credit is available, a slab is free");
    error = ledger_grant(dispatch->control, (uint32_t)slab, seat, &generation);
    assert(!error && "a free slab and a credit");
    task->slab = (uint32_t)slab;
    task->assignment = ++dispatch->next_assignment;
    task->cancelled = false;
    task->granted_ns = dispatch->now_ns;
    dispatch->slab_task[slab] = task;
    dispatch->last_grant[task->lane] = task->assignment;
    dispatch->seats[seat].last_slab[task->lane] = (uint32_t)slab;
    dispatch->loads[seat].filling++;
    task_say_state(dispatch, task, PARTITION_FILLING);
    task_act(dispatch, task, ACTION_FILL);
}

void synth_pass(struct dispatch *dispatch)
{
    uint64_t starts[LANES_MAX] = {0};
    struct task *task;

    while ((task = next_task(dispatch))) {
        uint32_t seat = seat_find_synth(dispatch, task->lane);
        if (seat == SEAT_NONE)
            break;
        grant(dispatch, task, seat);
        starts[task->lane]++;
    }
    for (uint32_t lane = 0; lane < dispatch->control->header->lane_count; lane++) {
        if (starts[lane])
            credit_note_starts(dispatch->control, lane, starts[lane]);
    }
}

/* The filling has ended without a use: its slab is FREE again, and another try is made or not. */
static void fill_again(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
                       const char *why)
{
    if (task->ended) {
        task_free_slab(dispatch, task);
        task_drop(dispatch, task);
    } else if (!task_charge_attempt(dispatch, task, fault, why)) {
        task_requeue(dispatch, task);
    }
}

static bool fits_task(const struct dispatch *dispatch, const struct task *task, uint32_t slab,
                      uint64_t generation)
{
    return task->slab == slab && task_word(dispatch, task).generation == generation;
}

static void note_filling(struct dispatch *dispatch, struct task *task, uint32_t seat,
                         const struct wire_filled *filled)
{
    uint64_t start_ns = filled->start_ns, all_ns;

    task->filled_ns = dispatch->now_ns;
    task->witness_ns = filled->witness_ns;
    trace_clamp(task->granted_ns, dispatch->now_ns, &start_ns, &task->witness_ns);
    task->rows_ns = filled->rows_ns;
    uint64_t rows_start_ns = start_ns + task->witness_ns;
    trace_clamp(task->granted_ns, dispatch->now_ns, &rows_start_ns, &task->rows_ns);
    all_ns = task->witness_ns + task->rows_ns;
    trace_task(dispatch, task, TRACE_SYNTH, seat, start_ns, all_ns);
    credit_samples_add(&dispatch->times[task->lane].synth, task->circuit, CREDIT_ANY_DEVICE,
                       all_ns);
}

void synth_filled(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event)
{
    const struct wire_filled *filled = &event->filled;
    int error;

    if (task->ended || !fits_task(dispatch, task, filled->slab, filled->generation)) {
        fill_again(dispatch, task, FAULT_INTERNAL, "the synth-worker filled another slab");
        return;
    }
    note_filling(dispatch, task, event->seat, filled);
    error = ledger_filled(dispatch->control, task->slab, event->seat, filled->generation);
    assert(!error && "FILLING by that seat: task_held and the role say so");
    memcpy(task->digest, filled->digest, sizeof(task->digest));
    task->assignment = 0;
    task->cancelled = false;
    task_say_state(dispatch, task, PARTITION_READY);
}

void synth_failed(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event)
{
    const struct wire_failed *failed = &event->failed;

    if (!task->ended && failed->fault == FAULT_INPUT)
        task_fail(dispatch, task, FAULT_INPUT, "%.*s", WIRE_TEXT_BYTES - 1, failed->why);
    else
        fill_again(dispatch, task, failed->fault, failed->why);
}

void synth_released(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event)
{
    bool asked = task->cancelled || dispatch->seats[event->seat].leaving;

    if (task->ended || !asked)
        fill_again(dispatch, task, FAULT_INTERNAL, "the synth-worker gave it back unasked");
    else
        task_requeue(dispatch, task);
}
