/*
 * Threads are the caller's: a kernel is handed a `struct parallel` and never makes a thread of its
 * own.
 */
#ifndef PAWL_KERNELS_PARALLEL_H
#define PAWL_KERNELS_PARALLEL_H

struct parallel {
    unsigned threads; /* how many tasks may run at once; at least 1 */
    /* Runs task(arg, 0) ... task(arg, count - 1), in any order, and returns when all are done. */
    void (*run)(struct parallel *self, void (*task)(void *arg, unsigned index), void *arg,
                unsigned count);
    /* Asked between the steps of long work; non-zero: return early with -ECANCELED. May be NULL. */
    int (*cancelled)(struct parallel *self);
};

/* One thread, the caller's own; never cancelled. */
extern struct parallel parallel_serial;

#endif
