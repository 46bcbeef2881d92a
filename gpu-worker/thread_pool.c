/*
 * A round is one call of run(): its tasks are handed out by a counter, so that a slow core holds up
 * nobody. A helper enters a round while it is open, and only those who entered are waited for, so
 * that one that is slow to wake costs a short round nothing.
 *
 * Who waits looks on for some microseconds before it sleeps: waking costs a thread tens of them,
 * and a proof has dozens of rounds, one right after the other.
 */
#include "gpu-worker/thread_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/parallel.h"

#define LOOKS 1000 /* at 15 to 70 ns each */

struct thread_pool {
    struct parallel parallel; /* first: parallel_run casts back */
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    /* These are written under the mutex alone; waiting looks at them without it. */
    _Atomic unsigned long round;      /* the number of the present round */
    _Atomic unsigned helpers_at_work; /* that entered it and have not left */
    int open, ending;
    unsigned helpers;
    void (*task)(void *arg, unsigned index);
    void *arg;
    unsigned count;
    _Atomic unsigned next;
    int (*cancelled)(void *arg);
    void *cancelled_arg;
    pthread_t helper[];
};

static _Thread_local int inside_task;

/* Each index is taken once; what tasks wrote is handed to the caller by the mutex. */
static void take_tasks(struct thread_pool *pool)
{
    unsigned index;
    inside_task = 1;
    while ((index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->count)
        pool->task(pool->arg, index);
    inside_task = 0;
}

/* ---- waiting ---- */

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Nothing is read here that others wrote but the word itself: whoever waited takes the mutex. */
static void look_for_round(struct thread_pool *pool, unsigned long seen)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&pool->round, memory_order_relaxed) != seen)
            return;
        pause_briefly();
    }
}

static void look_for_end(struct thread_pool *pool)
{
    for (int i = 0; i < LOOKS; i++) {
        if (!atomic_load_explicit(&pool->helpers_at_work, memory_order_relaxed))
            return;
        pause_briefly();
    }
}

/* ---- rounds ---- */

/* Under the mutex; sleeps until there is a round that `seen` is not. */
static int await_round(struct thread_pool *pool, unsigned long *seen)
{
    while (!pool->ending && (pool->round == *seen || !pool->open)) {
        *seen = pool->round;
        pthread_mutex_unlock(&pool->mutex);
        look_for_round(pool, *seen);
        pthread_mutex_lock(&pool->mutex);
        while (pool->round == *seen && !pool->ending)
            pthread_cond_wait(&pool->start, &pool->mutex);
    }
    *seen = pool->round;
    return !pool->ending;
}

static void *helper_main(void *arg)
{
    struct thread_pool *pool = arg;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    while (await_round(pool, &seen)) {
        pool->helpers_at_work++;
        pthread_mutex_unlock(&pool->mutex);
        take_tasks(pool);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->helpers_at_work == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void start_round(struct thread_pool *pool, void (*task)(void *arg, unsigned index),
                        void *arg, unsigned count)
{
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->arg = arg;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->open = 1;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
}

/* All tasks are taken: who has not entered need not, and who has is waited for. */
static void end_round(struct thread_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->open = 0;
    pthread_mutex_unlock(&pool->mutex);
    look_for_end(pool);
    pthread_mutex_lock(&pool->mutex);
    while (pool->helpers_at_work)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void parallel_run(struct parallel *self, void (*task)(void *arg, unsigned index), void *arg,
                         unsigned count)
{
    struct thread_pool *pool = (struct thread_pool *)self;
    if (pool->helpers == 0 || count < 2 || inside_task) {
        for (unsigned i = 0; i < count; i++)
            task(arg, i);
        return;
    }
    start_round(pool, task, arg, count);
    take_tasks(pool);
    end_round(pool);
}

static int parallel_cancelled(struct parallel *self)
{
    struct thread_pool *pool = (struct thread_pool *)self;
    return pool->cancelled && pool->cancelled(pool->cancelled_arg);
}

static int start_helpers(struct thread_pool *pool, unsigned count)
{
    sigset_t all, before;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->helpers < count && !error) {
        error = pthread_create(&pool->helper[pool->helpers], NULL, helper_main, pool);
        pool->helpers += !error;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

struct thread_pool *thread_pool_create(unsigned threads)
{
    assert(threads >= 1);
    struct thread_pool *pool = calloc(1, sizeof(*pool) + (threads - 1) * sizeof(pthread_t));
    if (!pool)
        return NULL;
    pool->parallel = (struct parallel){threads, parallel_run, parallel_cancelled};
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    int error = start_helpers(pool, threads - 1);
    if (error) {
        thread_pool_destroy(pool);
        errno = error;
        return NULL;
    }
    return pool;
}

void thread_pool_destroy(struct thread_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->ending = 1;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->helpers; i++)
        pthread_join(pool->helper[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

struct parallel *thread_pool_parallel(struct thread_pool *pool)
{
    return &pool->parallel;
}

void thread_pool_set_cancelled(struct thread_pool *pool, int (*cancelled)(void *arg), void *arg)
{
    pool->cancelled = cancelled;
    pool->cancelled_arg = arg;
}
