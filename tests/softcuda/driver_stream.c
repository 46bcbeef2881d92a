/*
 * Streams and their threads. A thread blocks all signals: they are the program's. A SIGKILL leaves
 * nothing.
 *
 *     put: queued -> (ready) -> running -> ended
 *
 * After a sticky error queued work ends without running, so that whoever waits comes back.
 */
#include "tests/softcuda/driver_stream.h"

#include <signal.h>
#include <stdlib.h>

struct CUstream_st {
    LIST_ENTRY(CUstream_st) link;
    STAILQ_HEAD(, soft_op) queue;
    uint64_t put, ended;
    unsigned flags;
    bool running; /* the first of the queue, without the lock */
    bool closing; /* no handle any more; the thread frees it once the queue is empty */
};

static LIST_HEAD(, CUstream_st) streams = LIST_HEAD_INITIALIZER(streams);
static CUstream default_stream;
static unsigned holds; /* while there is one, nothing begins to run */

static void run_first(CUstream stream, struct soft_op *op)
{
    CUresult code = CUDA_SUCCESS;

    if (op->run && !soft.sticky) {
        stream->running = true;
        pthread_mutex_unlock(&soft.lock);
        code = op->run(op);
        pthread_mutex_lock(&soft.lock);
        stream->running = false;
    }
    if (code)
        soft_fault_set_sticky(code, op->why ? op->why : "injected");
    STAILQ_REMOVE_HEAD(&stream->queue, next);
    free(op->why);
    op->end(op);
    stream->ended++;
    pthread_cond_broadcast(&soft.changed);
}

static void *run_stream(void *arg)
{
    CUstream stream = arg;
    struct soft_op *op;

    pthread_mutex_lock(&soft.lock);
    while ((op = STAILQ_FIRST(&stream->queue)) || !stream->closing) {
        if (op && !holds && (!op->ready || soft.sticky || op->ready(op)))
            run_first(stream, op);
        else
            pthread_cond_wait(&soft.changed, &soft.lock);
    }
    LIST_REMOVE(stream, link);
    free(stream);
    pthread_mutex_unlock(&soft.lock);
    return NULL;
}

static int start_thread(CUstream stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&thread, &attributes, run_stream, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result;
}

static CUstream make_stream(unsigned flags)
{
    CUstream stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    STAILQ_INIT(&stream->queue);
    stream->flags = flags;
    LIST_INSERT_HEAD(&streams, stream, link);
    if (start_thread(stream)) {
        LIST_REMOVE(stream, link);
        free(stream);
        return NULL;
    }
    return stream;
}

CUstream soft_stream_find(CUstream handle)
{
    CUstream stream;

    if (!handle && !default_stream)
        default_stream = make_stream(CU_STREAM_DEFAULT);
    if (!handle)
        return default_stream;
    LIST_FOREACH(stream, &streams, link)
    if (stream == handle)
        return stream->closing || stream == default_stream ? NULL : stream;
    return NULL;
}

void soft_stream_wait(CUstream stream)
{
    uint64_t last = stream->put;

    while (stream->ended < last)
        pthread_cond_wait(&soft.changed, &soft.lock);
}

/* Those without NON_BLOCKING, or all. */
static bool is_any_busy(bool all)
{
    CUstream stream;

    LIST_FOREACH(stream, &streams, link)
    if ((all || !(stream->flags & CU_STREAM_NON_BLOCKING)) && stream->ended < stream->put)
        return true;
    return false;
}

static void wait_while_busy(bool all)
{
    while (is_any_busy(all))
        pthread_cond_wait(&soft.changed, &soft.lock);
}

void soft_streams_drain(void)
{
    wait_while_busy(true);
}

static bool is_any_running(void)
{
    CUstream stream;

    LIST_FOREACH(stream, &streams, link)
    if (stream->running)
        return true;
    return false;
}

void soft_streams_hold(void)
{
    holds++;
    while (is_any_running())
        pthread_cond_wait(&soft.changed, &soft.lock);
}

void soft_streams_go(void)
{
    holds--;
    pthread_cond_broadcast(&soft.changed);
}

void soft_stream_put(CUstream stream, struct soft_op *op)
{
    if (stream == default_stream)
        wait_while_busy(false);
    STAILQ_INSERT_TAIL(&stream->queue, op, next);
    stream->put++;
    pthread_cond_broadcast(&soft.changed);
    if (stream == default_stream)
        soft_stream_wait(stream);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    *stream = make_stream(flags);
    return soft_end(*stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

/* Begins a call about a stream, which it makes of the handle. */
static CUresult begin_stream(CUstream *stream)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    *stream = soft_stream_find(*stream);
    return *stream ? CUDA_SUCCESS : soft_end(CUDA_ERROR_INVALID_HANDLE);
}

/* Returns at once; what is in the stream still runs. */
CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUresult code = begin_stream(&stream);

    if (code)
        return code;
    if (stream == default_stream)
        return soft_end(CUDA_ERROR_INVALID_HANDLE);
    stream->closing = true;
    pthread_cond_broadcast(&soft.changed);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream stream)
{
    CUresult code = begin_stream(&stream);

    if (code)
        return code;
    return soft_end(stream->ended < stream->put ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CUresult code = begin_stream(&stream);

    if (code)
        return code;
    soft_stream_wait(stream);
    return soft_end(soft.sticky);
}
