/*
 * Between store_sqlite.c (the interface), store_commit.c (changes on their way) and store_fetch.c
 * (questions to the database). Nobody else's.
 */
#ifndef PAWL_COORDINATOR_STORE_SQLITE_INTERNAL_H
#define PAWL_COORDINATOR_STORE_SQLITE_INTERNAL_H

#include "coordinator/disk_thread.h"
#include "coordinator/store_db.h"
#include "coordinator/store_index.h"
#include "coordinator/store_ops.h"
#include "coordinator/store_sqlite.h"

struct event;

struct sqlite_store {
    struct store store; /* first: a store is its memory */
    struct store_index index;
    struct store_db db; /* the thread's, while the loop runs */
    struct disk_thread *disk;
    const struct spool *spool;
    struct disk_work work; /* posted while a commit is under way */
    struct store_batch batch;
    struct op_list pending; /* what the next commit takes */
    int is_committing;      /* from its posting until all of it is answered */
    int is_in_trouble;      /* the last commit failed; the retry event is pending */
    uint64_t pause_ms;
    struct event *retry_event;
    char trouble[320];
    uint64_t uncommitted; /* in pending and batch */
    uint64_t swept_ns;    /* when a batch was last made for old jobs alone */
    struct store_commits commits;
};

static inline struct sqlite_store *sqlite_of(struct store *store)
{
    return store->self;
}

/* CLOCK_REALTIME for a CLOCK_MONOTONIC time, and back; 0 stays 0. */
uint64_t store_real_of(uint64_t monotonic_ns);
uint64_t store_monotonic_of(uint64_t real_ns);

/* store_commit.c: appends the change and sees to it that it is committed soon. */
void store_commit_post(struct sqlite_store *this, struct store_op *op);
/* Makes a batch without changes where old jobs may be due; called at each tick. */
void store_commit_tick(struct sqlite_store *this, uint64_t now_ns);
/* 0 or -ENOMEM; and the end. */
int store_commit_start(struct sqlite_store *this, struct event_base *base);
void store_commit_stop(struct sqlite_store *this);

/* store_fetch.c: as in store.h. */
void store_fetch_job(struct store *store, uint64_t job, store_fetched *fetched, void *arg);
void store_fetch_list(struct store *store, uint64_t before, uint32_t n,
                      void (*each)(void *arg, const struct store_job *job),
                      void (*end)(void *arg, int error), void *arg);

#endif
