/*
 * Threads that stay: a `struct parallel` for the kernels over persistent pthreads.
 *
 * One caller at a time; its own thread works too, so `threads` counts it. A task that calls run()
 * itself gets its tasks run one after another in its own thread. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_THREAD_POOL_H
#define PAWL_GPU_WORKER_THREAD_POOL_H

struct parallel;
struct thread_pool;

/* `threads` of at least 1; NULL with errno set. All signals are blocked in the new threads. */
struct thread_pool *thread_pool_create(unsigned threads);
void thread_pool_destroy(struct thread_pool *pool);
/* Valid as long as the pool. */
struct parallel *thread_pool_parallel(struct thread_pool *pool);
/* What parallel's cancelled() asks; NULL: never cancelled. Not while run() is under way. */
void thread_pool_set_cancelled(struct thread_pool *pool, int (*cancelled)(void *arg), void *arg);

#endif
