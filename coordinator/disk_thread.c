/*
 * The second thread; see the header. Two lists under one mutex: what is to be run, and what is to
 * be told to the loop, which an eventfd wakes. Called by the store, the spool and the daemon's
 * start and stop. A SIGKILL leaves what the kernel has: a piece of work that was being run is done
 * in part, those behind it are not.
 */
#include "coordinator/disk_thread.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "coordinator/clock.h"

#define DONE_AT_ONCE 64u /* told in one callback of the loop */

struct work_list {
    struct disk_work *first, **end;
};

struct disk_thread {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t posted, ran;
    struct work_list to_run, to_tell; /* under the mutex */
    int is_ending;                    /* likewise */
    struct clock_meter *meter;
    struct event *wake_event;
    int wake_fd;
    uint32_t waiting, counted; /* the loop's */
};

static void list_init(struct work_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void list_put(struct work_list *list, struct disk_work *work)
{
    work->next = NULL;
    *list->end = work;
    list->end = &work->next;
}

static struct disk_work *list_take(struct work_list *list)
{
    struct disk_work *work = list->first;
    if (!work)
        return NULL;
    list->first = work->next;
    if (!list->first)
        list->end = &list->first;
    return work;
}

/* ---- the thread ---- */

static void wake_loop(const struct disk_thread *thread)
{
    const uint64_t one = 1;
    while (write(thread->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* NULL: the end. */
static struct disk_work *wait_for_work(struct disk_thread *thread)
{
    struct disk_work *work;
    pthread_mutex_lock(&thread->mutex);
    while (!(work = list_take(&thread->to_run)) && !thread->is_ending)
        pthread_cond_wait(&thread->posted, &thread->mutex);
    pthread_mutex_unlock(&thread->mutex);
    return work;
}

static void hand_back(struct disk_thread *thread, struct disk_work *work)
{
    pthread_mutex_lock(&thread->mutex);
    list_put(&thread->to_tell, work);
    pthread_cond_signal(&thread->ran);
    pthread_mutex_unlock(&thread->mutex);
    wake_loop(thread);
}

static void *run_thread(void *arg)
{
    struct disk_thread *thread = arg;
    struct disk_work *work;
    while ((work = wait_for_work(thread))) {
        work->run(work);
        hand_back(thread, work);
    }
    return NULL;
}

/* ---- the loop's side ---- */

static struct disk_work *take_told(struct disk_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    struct disk_work *work = list_take(&thread->to_tell);
    pthread_mutex_unlock(&thread->mutex);
    return work;
}

static void tell(struct disk_thread *thread, struct disk_work *work)
{
    thread->waiting--;
    thread->counted -= (uint32_t)work->is_counted;
    work->done(work);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct disk_thread *thread = arg;
    struct disk_work *work;
    uint64_t entered_ns = clock_enter(), count;
    uint32_t told = 0;
    (void)what;
    if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN && errno != EINTR)
        abort(); /* an eventfd has no other errors */
    while (told < DONE_AT_ONCE && (work = take_told(thread))) {
        tell(thread, work);
        told++;
    }
    if (told == DONE_AT_ONCE)
        wake_loop(thread);
    clock_leave(thread->meter, entered_ns);
}

static void post(struct disk_thread *thread, struct disk_work *work, int is_counted)
{
    work->is_counted = is_counted;
    thread->waiting++;
    thread->counted += (uint32_t)is_counted;
    pthread_mutex_lock(&thread->mutex);
    list_put(&thread->to_run, work);
    pthread_cond_signal(&thread->posted);
    pthread_mutex_unlock(&thread->mutex);
}

int disk_thread_post(struct disk_thread *thread, struct disk_work *work)
{
    if (thread->counted >= DISK_WORK_MAX)
        return -EBUSY;
    post(thread, work, 1);
    return 0;
}

void disk_thread_must_post(struct disk_thread *thread, struct disk_work *work)
{
    post(thread, work, 0);
}

uint32_t disk_thread_waiting(const struct disk_thread *thread)
{
    return thread->waiting;
}

void disk_thread_drain(struct disk_thread *thread)
{
    while (thread->waiting) {
        pthread_mutex_lock(&thread->mutex);
        while (!thread->to_tell.first)
            pthread_cond_wait(&thread->ran, &thread->mutex);
        struct disk_work *work = list_take(&thread->to_tell);
        pthread_mutex_unlock(&thread->mutex);
        tell(thread, work);
    }
}

/* ---- start and end ---- */

/* Signals are the loop's: a thread that took one would leave the loop asleep. */
static int create_thread(struct disk_thread *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread->thread, NULL, run_thread, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        pthread_setname_np(thread->thread, "disk");
    return -error;
}

static int add_wake_event(struct disk_thread *thread, struct event_base *base)
{
    thread->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (thread->wake_fd < 0)
        return -errno;
    thread->wake_event = event_new(base, thread->wake_fd, EV_READ | EV_PERSIST, on_wake, thread);
    return thread->wake_event && event_add(thread->wake_event, NULL) == 0 ? 0 : -ENOMEM;
}

static void free_all(struct disk_thread *thread)
{
    if (thread->wake_event)
        event_free(thread->wake_event);
    if (thread->wake_fd >= 0)
        close(thread->wake_fd);
    pthread_mutex_destroy(&thread->mutex);
    pthread_cond_destroy(&thread->posted);
    pthread_cond_destroy(&thread->ran);
    free(thread);
}

int disk_thread_start(struct disk_thread **out, struct event_base *base, struct clock_meter *meter)
{
    struct disk_thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return -ENOMEM;
    thread->meter = meter;
    list_init(&thread->to_run);
    list_init(&thread->to_tell);
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->posted, NULL);
    pthread_cond_init(&thread->ran, NULL);
    int error = add_wake_event(thread, base);
    if (!error)
        error = create_thread(thread);
    if (error)
        free_all(thread);
    else
        *out = thread;
    return error;
}

void disk_thread_stop(struct disk_thread *thread)
{
    if (!thread)
        return;
    disk_thread_drain(thread);
    pthread_mutex_lock(&thread->mutex);
    thread->is_ending = 1;
    pthread_cond_signal(&thread->posted);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->thread, NULL);
    free_all(thread);
}
