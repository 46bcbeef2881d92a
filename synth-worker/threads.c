/*
 * Fork and join with plain pthreads: a compile runs a dozen long tasks, for which a pool would be
 * more code than gain. Called by compile.c. Threads that cannot be made are done without.
 */
#include "synth-worker/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kernels/parallel.h"

#define THREADS_MAX 64u

struct job {
    void (*task)(void *arg, unsigned index);
    void *arg;
    unsigned count;
    _Atomic unsigned next;
};

static void *work(void *arg)
{
    struct job *job = arg;
    unsigned index;
    while ((index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->count)
        job->task(job->arg, index);
    return NULL;
}

static void run(struct parallel *self, void (*task)(void *arg, unsigned index), void *arg,
                unsigned count)
{
    struct job job = {.task = task, .arg = arg, .count = count};
    pthread_t thread[THREADS_MAX];
    unsigned made = 0, wanted = count < self->threads ? count : self->threads;
    while (made + 1 < wanted && !pthread_create(&thread[made], NULL, work, &job))
        made++;
    work(&job);
    while (made)
        pthread_join(thread[--made], NULL);
}

static unsigned usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

void threads_init(struct parallel *parallel, unsigned threads)
{
    if (!threads)
        threads = usable_cpus();
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    *parallel = (struct parallel){.threads = threads, .run = run};
}
