/*
 * The complete events of the trace, made from the times that workers tell. A worker may tell any
 * time: every span is brought between the claim of its partition and now.
 */
#include "coordinator/dispatch_internal.h"

void trace_clamp(uint64_t not_before_ns, uint64_t now_ns, uint64_t *start_ns, uint64_t *duration_ns)
{
    if (*start_ns > now_ns)
        *start_ns = now_ns;
    if (*start_ns < not_before_ns)
        *start_ns = not_before_ns;
    if (*duration_ns > now_ns - *start_ns)
        *duration_ns = now_ns - *start_ns;
}

void trace_task(struct dispatch *dispatch, const struct task *task, enum trace_kind kind,
                uint32_t seat, uint64_t start_ns, uint64_t duration_ns)
{
    struct trace_event event = {
        .kind = (uint16_t)kind,
        .start_ns = start_ns,
        .duration_ns = duration_ns,
        .job = task->job,
        .partition = task->partition,
        .lane = (uint16_t)task->lane,
        .slab = task->slab == SLAB_NONE ? task->proved_slab : task->slab,
        .seat = (uint16_t)seat,
    };

    trace_clamp(task->claimed_ns, dispatch->now_ns, &event.start_ns, &event.duration_ns);
    trace_add(dispatch->control, &event);
}

void trace_proof(struct dispatch *dispatch, const struct task *task, uint32_t seat,
                 struct wire_times times)
{
    uint64_t verify_start_ns;

    trace_task(dispatch, task, TRACE_READY, SEAT_NONE, task->filled_ns,
               task->started_ns - task->filled_ns);
    trace_task(dispatch, task, TRACE_UPLOAD, seat, times.start_ns, times.upload_ns);
    trace_task(dispatch, task, TRACE_PROVE, seat, times.start_ns, times.prove_ns);
    trace_task(dispatch, task, TRACE_FINALIZE, seat, times.finalize_start_ns, times.finalize_ns);
    /* The check is the last thing that a finalizer does. */
    trace_clamp(task->claimed_ns, dispatch->now_ns, &times.finalize_start_ns, &times.finalize_ns);
    if (times.verify_ns > times.finalize_ns)
        times.verify_ns = times.finalize_ns;
    verify_start_ns = times.finalize_start_ns + times.finalize_ns - times.verify_ns;
    trace_task(dispatch, task, TRACE_VERIFY, seat, verify_start_ns, times.verify_ns);
}
