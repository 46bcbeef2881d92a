/*
 * How things end in dispatch: a job that is over, a worker that is dead, a result that is
 * committed. The credit of a partition returns here or in task_free_slab, and nowhere else.
 */
#include "coordinator/dispatch_internal.h"

#include <assert.h>

#include "shm/ledger.h"

static void end_task(struct dispatch *dispatch, struct task *task)
{
    if (task->slab == SLAB_NONE) {
        task_drop(dispatch, task);
    } else if (task_word(dispatch, task).state == SLAB_READY) {
        task_free_slab(dispatch, task);
        task_drop(dispatch, task);
    } else {
        task->ended = true;
        task_cancel(dispatch, task);
    }
}

void end_job(struct dispatch *dispatch, uint64_t job)
{
    struct task *task, *next;

    for (task = TAILQ_FIRST(&dispatch->tasks); task; task = next) {
        next = TAILQ_NEXT(task, link);
        /* A result that has been taken over waits for its commit, whatever became of the job. */
        if (task->job == job && !task->proved && !task->ended)
            end_task(dispatch, task);
    }
}

struct death {
    struct dispatch *dispatch;
    const char *obituary;
    bool left;           /* it left in order, and charges nobody */
    uint64_t assignment; /* that it was at, by its own word */
};

/* Its synth-worker died: the slab is FREE. */
static void lose_filling(const struct death *death, struct task *task)
{
    struct dispatch *dispatch = death->dispatch;

    dispatch->slab_task[task->slab] = NULL;
    task->slab = SLAB_NONE;
    task->assignment = 0;
    if (task->ended)
        task_drop(dispatch, task);
    else if (death->left || !task_charge_death(dispatch, task, death->obituary))
        task_requeue(dispatch, task);
}

/*
 * Its gpu-worker died: the slab is READY. Only what was being executed is charged: what it had
 * STARTED, and what it said it was at, for loading a key comes before STARTED and kills as well.
 */
static void lose_proof(const struct death *death, struct task *task, int was_state)
{
    struct dispatch *dispatch = death->dispatch;
    bool executed = was_state != SLAB_ASSIGNED ||
                    (!death->left && task->assignment && task->assignment == death->assignment);

    if (task->proved)
        return; /* waits for its commit with a slab in nobody's hands */
    task->assignment = 0;
    task->cancelled = false;
    if (task->ended) {
        task_free_slab(dispatch, task);
        task_drop(dispatch, task);
    } else if (executed && !task_charge_death(dispatch, task, death->obituary)) {
        dispatch->counters.retries_prove_total++;
        task_say_state(dispatch, task, PARTITION_READY);
    }
}

static void lose_slab(void *arg, uint32_t slab, int was_state, uint64_t generation)
{
    const struct death *death = arg;
    struct task *task = death->dispatch->slab_task[slab];

    (void)generation;
    death->dispatch->counters.reclaims_total++;
    if (!task)
        return;
    if (was_state == SLAB_FILLING)
        lose_filling(death, task);
    else
        lose_proof(death, task, was_state);
}

void end_seat(struct dispatch *dispatch, const struct dispatch_event *event)
{
    const char *obituary = event->died.obituary;
    struct death death = {dispatch, obituary ? obituary : "it left no word", event->died.left,
                          event->died.assignment};

    ledger_reclaim(dispatch->control, event->seat, lose_slab, &death);
    dispatch->seats[event->seat] = (struct seat){.role = ROLE_NONE};
}

/* FINALIZING, or READY where the prover died since. */
static void give_up_proved(struct dispatch *dispatch, struct task *task)
{
    struct slab_word word = task_word(dispatch, task);
    int error;

    if (word.state == SLAB_FINALIZING)
        error = ledger_finalized(dispatch->control, task->slab, word.seat, word.generation);
    else
        error = ledger_abandon(dispatch->control, task->slab, word.seat, word.generation);
    assert(!error && "an edge from the present word");
    dispatch->slab_task[task->slab] = NULL;
    task->slab = SLAB_NONE;
}

void end_proved(struct dispatch *dispatch, struct task *task)
{
    if (dispatch->uncommitted >= dispatch->limits.uncommitted_results)
        return;
    give_up_proved(dispatch, task);
    dispatch->uncommitted++;
}

static struct task *oldest_kept(const struct dispatch *dispatch)
{
    struct task *task, *oldest = NULL;

    TAILQ_FOREACH (task, &dispatch->tasks, link) {
        if (task->proved && task->slab != SLAB_NONE &&
            (!oldest || task->proved_ns < oldest->proved_ns))
            oldest = task;
    }
    return oldest;
}

void end_committed(struct dispatch *dispatch, uint64_t job, uint32_t partition)
{
    struct task *task = task_find(dispatch, job, partition), *kept;

    if (!task || !task->proved) {
        dispatch->counters.dropped_messages_total++;
        return;
    }
    trace_task(dispatch, task, TRACE_STORE, SEAT_NONE, task->proved_ns,
               dispatch->now_ns - task->proved_ns);
    if (task->slab != SLAB_NONE)
        give_up_proved(dispatch, task);
    else
        dispatch->uncommitted--;
    task_drop(dispatch, task);
    while (dispatch->uncommitted < dispatch->limits.uncommitted_results &&
           (kept = oldest_kept(dispatch)))
        end_proved(dispatch, kept);
}
