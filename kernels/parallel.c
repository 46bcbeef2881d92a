/*
 * The parallel that is not: every task in the caller's thread, in order. Called by tests, by
 * one-thread programs and by whoever has nothing to share out. No state.
 */
#include "kernels/parallel.h"

#include <stddef.h>

static void serial_run(struct parallel *self, void (*task)(void *arg, unsigned index), void *arg,
                       unsigned count)
{
    (void)self;
    for (unsigned i = 0; i < count; i++)
        task(arg, i);
}

struct parallel parallel_serial = {.threads = 1, .run = serial_run, .cancelled = NULL};
