/*
 * The coordinator's second thread: it does what may wait for a disk, so that the loop never does.
 * It owns the database handle and the spool's files in the sense that only work posted here
 * touches them while the loop runs.
 *
 * Work is done in the order in which it was posted, one piece after another, and its `done` is
 * called on the loop in the same order. So whatever a `done` finds on the loop is as its `run` left
 * the disk: nothing that was posted later has been told yet. Cut long work into slices (some MiB
 * each) that post the next one in `done`, for commits wait behind it.
 *
 * The work items are the caller's, usually the first member of something larger, and must stay
 * where they are until `done` begins; in `done` they may be freed or posted again.
 */
#ifndef PAWL_COORDINATOR_DISK_THREAD_H
#define PAWL_COORDINATOR_DISK_THREAD_H

#include <stdint.h>

#define DISK_WORK_MAX 1024u /* posted and not done, of disk_thread_post */

struct clock_meter;
struct disk_thread;
struct event_base;

struct disk_work {
    struct disk_work *next; /* the thread's */
    int is_counted;         /* the thread's */
    /* On the thread: may block, touches nothing of the loop's. */
    void (*run)(struct disk_work *work);
    /* On the loop. */
    void (*done)(struct disk_work *work);
};

/* meter: of the loop's callbacks. 0 and *thread, or -errno. */
int disk_thread_start(struct disk_thread **thread, struct event_base *base,
                      struct clock_meter *meter);
/* Ends it once everything posted is done; NULL is allowed. Each `done` is called before it returns.
 */
void disk_thread_stop(struct disk_thread *thread);

/* run and done are set in the work. 0, or -EBUSY where DISK_WORK_MAX are waiting (nothing is posted
 * then: answer 503). Loop only, like all below. */
int disk_thread_post(struct disk_thread *thread, struct disk_work *work);
/* The same without the bound, for work whose number is bounded otherwise and that cannot be
 * refused: commits, removals, the next slice of what has begun. */
void disk_thread_must_post(struct disk_thread *thread, struct disk_work *work);
/* Waits until nothing is posted any more, calling each `done`; what these post counts as well. */
void disk_thread_drain(struct disk_thread *thread);
/* Posted and not done. */
uint32_t disk_thread_waiting(const struct disk_thread *thread);

#endif
