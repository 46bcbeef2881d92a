/*
 * A `struct parallel` for tests and the test key maker: threads made anew for each run. Header
 * only; not for the daemons, which keep their threads.
 */
#ifndef PAWL_TESTS_SUPPORT_THREADS_H
#define PAWL_TESTS_SUPPORT_THREADS_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kernels/parallel.h"

enum { TEST_THREADS_MAX = 64 };

struct threads_run {
    void (*task)(void *arg, unsigned index);
    void *arg;
    unsigned count;
    atomic_uint next;
};

static inline void *threads_work(void *arg)
{
    struct threads_run *run = arg;
    for (;;) {
        unsigned index = atomic_fetch_add(&run->next, 1);
        if (index >= run->count)
            return NULL;
        run->task(run->arg, index);
    }
}

static inline void threads_run(struct parallel *self, void (*task)(void *arg, unsigned index),
                               void *arg, unsigned count)
{
    struct threads_run run = {.task = task, .arg = arg, .count = count};
    pthread_t thread[TEST_THREADS_MAX];
    unsigned others = (self->threads < count ? self->threads : count) - (count > 0);
    assert(others < TEST_THREADS_MAX);
    for (unsigned i = 0; i < others; i++)
        assert(pthread_create(&thread[i], NULL, threads_work, &run) == 0);
    threads_work(&run);
    for (unsigned i = 0; i < others; i++)
        pthread_join(thread[i], NULL);
}

static inline struct parallel threads_make(unsigned threads)
{
    return (struct parallel){.threads = threads, .run = threads_run};
}

#endif
