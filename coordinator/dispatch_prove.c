/*
 * Dispatch to gpu-workers: filled slabs, the urgent first, to the device that holds the least; and
 * their answers. Nothing is believed of a result but that it came: slab, generation and digest are
 * compared here, for no pairing check can see that a valid proof is of somebody else's witness.
 * A SIGKILL of a gpu-worker comes as its death (dispatch_end.c).
 */
#include "coordinator/dispatch_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "shm/ledger.h"

/* Filled, in nobody's hands, and still wanted. */
static bool task_is_ready(const struct dispatch *dispatch, const struct task *task)
{
    return task->slab != SLAB_NONE && !task->proved && !task->ended &&
           task_word(dispatch, task).state == SLAB_READY;
}

/* Sets of excluded devices for which no room is left in this pass. There are seldom two. */
struct full {
    uint64_t excluded[8];
    uint32_t count;
};

static bool is_full(const struct full *full, uint64_t excluded)
{
    for (uint32_t i = 0; i < full->count; i++)
        if (full->excluded[i] == excluded)
            return true;
    return full->count == sizeof(full->excluded) / sizeof(full->excluded[0]);
}

static struct task *next_ready(const struct dispatch *dispatch, const struct full *full)
{
    struct task *task, *next = NULL;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task_is_ready(dispatch, task) && !is_full(full, task->excluded) &&
            (!next || task_before(dispatch, task, next)))
            next = task;
    }
    return next;
}

static void assign(struct dispatch *dispatch, struct task *task, uint32_t seat)
{
    struct slab_word word = task_word(dispatch, task);
    int error = ledger_assign(dispatch->control, task->slab, seat, word.generation);

    assert(!error && "a READY slab");
    task->assignment = ++dispatch->next_assignment;
    task->cancelled = false;
    task->started_ns = 0;
    dispatch->loads[seat].assigned++;
    memcpy(task_act(dispatch, task, ACTION_PROVE)->digest, task->digest, sizeof(task->digest));
}

/* An ASSIGNED task that the urgent one may displace: the one that is to be worked on last. */
static struct task *find_displaced(const struct dispatch *dispatch, const struct task *urgent)
{
    struct task *task, *last = NULL;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->slab == SLAB_NONE || task->priority == PRIORITY_CRITICAL || task->cancelled)
            continue;
        struct slab_word word = task_word(dispatch, task);
        if (word.state != SLAB_ASSIGNED || !seat_suits(dispatch, word.seat, urgent->excluded))
            continue;
        if (!last || !task_before(dispatch, task, last))
            last = task;
    }
    return last;
}

/* Every urgent task that waits for a device is worth one place that is on its way back. */
static void recall_for_urgent(struct dispatch *dispatch)
{
    uint32_t on_their_way = 0;
    struct task *task, *displaced;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->slab != SLAB_NONE && task->cancelled)
            on_their_way += task_word(dispatch, task).state == SLAB_ASSIGNED;
    }
    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->priority != PRIORITY_CRITICAL || !task_is_ready(dispatch, task))
            continue;
        if (on_their_way)
            on_their_way--;
        else if ((displaced = find_displaced(dispatch, task)))
            task_cancel(dispatch, displaced);
    }
}

void prove_pass(struct dispatch *dispatch)
{
    struct full full = {.count = 0};
    struct task *task;

    while ((task = next_ready(dispatch, &full))) {
        uint32_t seat = seat_find_gpu(dispatch, task->excluded);
        if (seat == SEAT_NONE)
            full.excluded[full.count++] = task->excluded;
        else
            assign(dispatch, task, seat);
    }
    if (full.count)
        recall_for_urgent(dispatch);
}

void prove_recall_fallbacks(struct dispatch *dispatch)
{
    struct task *task;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->slab == SLAB_NONE)
            continue;
        struct slab_word word = task_word(dispatch, task);
        if (word.state == SLAB_ASSIGNED && dispatch->seats[word.seat].fallback &&
            seats_have_main(dispatch, task->excluded))
            task_cancel(dispatch, task);
    }
}

void prove_started(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event)
{
    if (event->step.slab != task->slab ||
        ledger_start(dispatch->control, task->slab, event->seat, event->step.generation)) {
        dispatch->counters.dropped_messages_total++;
        return;
    }
    task->started_ns = dispatch->now_ns;
    if (!task->ended)
        task_say_state(dispatch, task, PARTITION_PROVING);
}

void prove_computed(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event)
{
    if (event->step.slab != task->slab ||
        ledger_computed(dispatch->control, task->slab, event->seat, event->step.generation))
        dispatch->counters.dropped_messages_total++;
}

/* The holder has let go of the slab: it is proved again, or given up where its job is over. */
static void prove_again(struct dispatch *dispatch, struct task *task)
{
    if (task->ended) {
        task_free_slab(dispatch, task);
        task_drop(dispatch, task);
        return;
    }
    task_take_back(dispatch, task);
    dispatch->counters.retries_prove_total++;
    task_say_state(dispatch, task, PARTITION_READY);
}

/* No device that was ever here is left, or none has come back for too long. */
static bool is_hopeless(const struct dispatch *dispatch, struct task *task)
{
    if (seats_have_device(dispatch, task->excluded)) {
        task->alone_ns = 0;
        return false;
    }
    if (!task->alone_ns)
        task->alone_ns = dispatch->now_ns;
    return !(dispatch->devices_known & ~task->excluded) ||
           dispatch->now_ns - task->alone_ns >= DISPATCH_DEVICE_PATIENCE_NS;
}

static void fail_hopeless(struct dispatch *dispatch, struct task *task)
{
    task_fail(dispatch, task, FAULT_CAPACITY, "no device has memory for it; the last said: %s",
              task->why);
}

/* Its device has no memory for it: another may have. That is nobody's fault and not charged. */
static void prove_elsewhere(struct dispatch *dispatch, struct task *task, uint32_t seat,
                            const char *why)
{
    task->excluded |= UINT64_C(1) << dispatch->seats[seat].device;
    snprintf(task->why, sizeof(task->why), "%.*s", TASK_WHY_BYTES - 1, why);
    if (is_hopeless(dispatch, task))
        fail_hopeless(dispatch, task);
    else
        prove_again(dispatch, task);
}

void prove_check_devices(struct dispatch *dispatch)
{
    struct task *task, *next;

    for (task = TAILQ_FIRST(&dispatch->tasks); task; task = next) {
        next = TAILQ_NEXT(task, link);
        if (task->excluded && task_is_ready(dispatch, task) && is_hopeless(dispatch, task))
            fail_hopeless(dispatch, task);
    }
}

/* A try has failed, and the input is not at fault. */
static void prove_charged(struct dispatch *dispatch, struct task *task, enum wire_fault fault,
                          const char *why)
{
    if (task->ended || !task_charge_attempt(dispatch, task, fault, why))
        prove_again(dispatch, task);
}

/* What is wrong with the result, or NULL. */
static const char *find_mismatch(const struct dispatch *dispatch, const struct task *task,
                                 const struct wire_proved *proved)
{
    struct slab_word word = task_word(dispatch, task);

    if (proved->slab != task->slab || proved->generation != word.generation)
        return "the gpu-worker proved another slab";
    if (memcmp(proved->digest, task->digest, sizeof(task->digest)) != 0)
        return "the gpu-worker proved another witness";
    if (word.state != SLAB_FINALIZING)
        return "the gpu-worker sent a result before it had computed it";
    return NULL;
}

static void note_proof(struct dispatch *dispatch, const struct task *task, uint32_t seat,
                       const struct wire_times *times)
{
    struct credit_times *samples = &dispatch->times[task->lane];
    uint64_t most_ns = dispatch->now_ns - task->started_ns;
    uint64_t prove_ns = times->prove_ns < most_ns ? times->prove_ns : most_ns;
    uint64_t finalize_ns = times->finalize_ns < most_ns ? times->finalize_ns : most_ns;

    credit_samples_add(&samples->prove, task->circuit, dispatch->seats[seat].device, prove_ns);
    credit_samples_add(&samples->finalize, task->circuit, CREDIT_ANY_DEVICE, finalize_ns);
    trace_proof(dispatch, task, seat, *times);
}

static void take_result(struct dispatch *dispatch, struct task *task,
                        const struct dispatch_event *event)
{
    struct action *action = task_act(dispatch, task, ACTION_RESULT);

    action->queue_ns = task->granted_ns - task->claimed_ns;
    action->ready_ns = task->started_ns - task->filled_ns;
    action->witness_ns = task->witness_ns;
    action->rows_ns = task->rows_ns;
    note_proof(dispatch, task, event->seat, &event->proved.times);
    task->proved = true;
    task->proved_ns = dispatch->now_ns;
    task->prover = event->seat;
    task->proved_slab = task->slab;
    task->assignment = 0;
    task->cancelled = false;
    end_proved(dispatch, task);
}

void prove_proved(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event)
{
    const char *mismatch = find_mismatch(dispatch, task, &event->proved);

    if (task->ended)
        prove_again(dispatch, task);
    else if (mismatch)
        prove_charged(dispatch, task, FAULT_INTERNAL, mismatch);
    else
        take_result(dispatch, task, event);
    /* Last, for it may recall what the seat holds, and this it holds no more. */
    seat_charge_device(dispatch, event->seat, mismatch || event->proved.device_charged);
}

void prove_failed(struct dispatch *dispatch, struct task *task, const struct dispatch_event *event)
{
    const struct wire_failed *failed = &event->failed;

    if (!task->ended && failed->fault == FAULT_INPUT)
        task_fail(dispatch, task, FAULT_INPUT, "%.*s", WIRE_TEXT_BYTES - 1, failed->why);
    else if (!task->ended && failed->fault == FAULT_CAPACITY)
        prove_elsewhere(dispatch, task, event->seat, failed->why);
    else
        prove_charged(dispatch, task, failed->fault, failed->why);
    if (failed->device_charged)
        seat_charge_device(dispatch, event->seat, true);
}

void prove_released(struct dispatch *dispatch, struct task *task,
                    const struct dispatch_event *event)
{
    bool asked = task->cancelled || dispatch->seats[event->seat].leaving;

    if (task->ended)
        prove_again(dispatch, task);
    else if (!asked)
        prove_charged(dispatch, task, FAULT_INTERNAL, "the gpu-worker gave it back unasked");
    else if (task_word(dispatch, task).state == SLAB_ASSIGNED)
        task_take_back(dispatch, task); /* nothing was done yet: no retry, and no news */
    else
        prove_again(dispatch, task);
}
