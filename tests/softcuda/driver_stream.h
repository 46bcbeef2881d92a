/*
 * Streams: what is put into one runs in order, in a thread of its own, so that a caller that does
 * not wait where it must sees what it would see on a GPU. All under the driver's lock but run().
 */
#ifndef PAWL_TESTS_SOFTCUDA_DRIVER_STREAM_H
#define PAWL_TESTS_SOFTCUDA_DRIVER_STREAM_H

#include <sys/queue.h>

#include "tests/softcuda/driver.h"

/* A piece of work; the first member of what it works with. */
struct soft_op {
    STAILQ_ENTRY(soft_op) next;
    bool (*ready)(const struct soft_op *op); /* NULL: at once; asked again at every change */
    CUresult (*run)(struct soft_op *op);     /* without the lock; an error becomes sticky. Not
                                                called once there is one. NULL: nothing */
    void (*end)(struct soft_op *op);         /* always called, with the lock; frees op */
    char *why;                               /* of the error, from malloc, or NULL */
};

/* The stream that a handle means (NULL is the default one), or NULL where it is none. */
CUstream soft_stream_find(CUstream stream);

/* Takes over `op`. With the default stream it returns when the work is done, and waits before for
 * all streams that are not NON_BLOCKING. */
void soft_stream_put(CUstream stream, struct soft_op *op);

void soft_stream_wait(CUstream stream); /* for all that is in it now */
void soft_streams_drain(void);          /* for all that is in any */
/* Waits for what runs; what is queued behind it runs once somebody lets it go. */
void soft_streams_hold(void);
void soft_streams_go(void);

#endif
