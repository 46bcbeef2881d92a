/*
 * Events: marks in a stream that others ask for or wait for. An event counts its recordings, and
 * whoever waits does so for the one that was the last when it began to. A SIGKILL leaves nothing.
 */
#include <stdlib.h>
#include <time.h>

#include "tests/softcuda/driver_stream.h"

struct CUevent_st {
    LIST_ENTRY(CUevent_st) link;
    uint64_t recorded, reached;
    uint64_t reached_ns;
    unsigned flags, users; /* ops, and the handle */
    bool closed;
};

static LIST_HEAD(, CUevent_st) events = LIST_HEAD_INITIALIZER(events);

struct event_op {
    struct soft_op op;
    CUevent event;
    uint64_t recording;
};

static void drop(CUevent event)
{
    if (--event->users)
        return;
    LIST_REMOVE(event, link);
    free(event);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void end_record(struct soft_op *op)
{
    struct event_op *record = (struct event_op *)op;

    if (record->event->reached < record->recording) {
        record->event->reached = record->recording;
        record->event->reached_ns = now_ns();
    }
    drop(record->event);
    free(record);
}

static bool is_reached(const struct soft_op *op)
{
    const struct event_op *wait = (const struct event_op *)op;

    return wait->event->reached >= wait->recording;
}

static void end_wait(struct soft_op *op)
{
    drop(((struct event_op *)op)->event);
    free(op);
}

static struct event_op *make_op(CUevent event)
{
    struct event_op *op = calloc(1, sizeof(*op));

    if (!op)
        return NULL;
    event->users++;
    op->event = event;
    op->recording = event->recorded;
    return op;
}

static CUresult begin_event(CUevent handle)
{
    CUresult code = soft_begin_in_context();
    CUevent event;

    if (code)
        return code;
    LIST_FOREACH(event, &events, link)
    if (event == handle && !event->closed)
        return CUDA_SUCCESS;
    return soft_end(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!event || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    *event = calloc(1, sizeof(**event));
    if (!*event)
        return soft_end(CUDA_ERROR_OUT_OF_MEMORY);
    (*event)->flags = flags;
    (*event)->users = 1;
    LIST_INSERT_HEAD(&events, *event, link);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult code = begin_event(event);

    if (code)
        return code;
    event->closed = true;
    drop(event);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
    CUresult code = begin_event(event);

    if (code)
        return code;
    CUstream stream = soft_stream_find(handle);
    if (!stream)
        return soft_end(CUDA_ERROR_INVALID_HANDLE);
    event->recorded++;
    struct event_op *op = make_op(event);
    if (!op)
        abort();
    op->op.end = end_record;
    soft_stream_put(stream, &op->op);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    CUresult code = begin_event(event);

    if (code)
        return code;
    CUstream stream = soft_stream_find(handle);
    if (!stream || flags)
        return soft_end(stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    struct event_op *op = make_op(event);
    if (!op)
        abort();
    op->op.ready = is_reached;
    op->op.end = end_wait;
    soft_stream_put(stream, &op->op);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent event)
{
    CUresult code = begin_event(event);

    if (code)
        return code;
    return soft_end(event->reached < event->recorded ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult code = begin_event(event);

    if (code)
        return code;
    uint64_t recording = event->recorded;
    event->users++;
    while (event->reached < recording)
        pthread_cond_wait(&soft.changed, &soft.lock);
    drop(event);
    return soft_end(soft.sticky);
}

CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    CUresult code = begin_event(begin);

    if (code)
        return code;
    soft_end(CUDA_SUCCESS);
    code = begin_event(end);
    if (code)
        return code;
    if (!ms)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    if (!begin->recorded || !end->recorded || (begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return soft_end(CUDA_ERROR_INVALID_HANDLE);
    if (begin->reached < begin->recorded || end->reached < end->recorded)
        return soft_end(CUDA_ERROR_NOT_READY);
    *ms = (float)((double)(int64_t)(end->reached_ns - begin->reached_ns) / 1e6);
    return soft_end(CUDA_SUCCESS);
}
