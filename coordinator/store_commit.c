/*
 * Changes on their way to the disk.
 *
 *      store_commit_post ──> pending ──post──> batch ──thread──> settle ──> pending? post again
 *                              ▲                  │ failed
 *                              └── at the front ──┴──> retry event, with growing pauses
 *
 * One batch is under way at a time, and what comes meanwhile goes together into the next. A batch
 * that fails (a full disk) is kept, but for acceptances, which are refused: their clients still
 * have what they sent. Until a batch succeeds nothing is accepted or claimed.
 *
 * Called by the SQLite store on the loop. A SIGKILL loses what is under way or pending: nobody has
 * been told of it.
 */
#include "coordinator/store_sqlite_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "coordinator/clock.h"
#include "shm/program.h"

#define PAUSE_MS_LEAST 100u
#define PAUSE_MS_MOST 5000u
#define SWEEP_NS (UINT64_C(30) * NS_PER_S)

static void post_batch(struct sqlite_store *this);

/* ---- time ---- */

static uint64_t real_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t store_real_of(uint64_t monotonic_ns)
{
    return monotonic_ns ? real_now_ns() + (monotonic_ns - clock_now_ns()) : 0;
}

uint64_t store_monotonic_of(uint64_t real_ns)
{
    uint64_t now_ns = clock_now_ns(), now_real_ns = real_now_ns();
    if (!real_ns)
        return 0;
    if (real_ns >= now_real_ns)
        return now_ns + (real_ns - now_real_ns);
    /* before this boot: long ago */
    return now_real_ns - real_ns < now_ns ? now_ns - (now_real_ns - real_ns) : 1;
}

/* ---- what was committed ---- */

static void finish_job(struct sqlite_store *this, struct entry *entry, enum job_state state)
{
    struct store *store = &this->store;
    index_finish(&this->index, entry, state, clock_now_ns());
    if (store->on_final)
        store->on_final(store->on_final_arg, &entry->job);
    index_drop(&this->index, entry);
}

static void settle_accept(struct sqlite_store *this, struct store_op *op)
{
    struct entry *entry = index_find(&this->index, op->job);
    int error = op->accept.error;
    if (!error)
        entry->is_waiting = false;
    else
        index_drop(&this->index, entry);
    if (error == -EALREADY)
        error = 0; /* the same request: the same job */
    op->accept.done(op->accept.arg, error, op->accept.error ? op->accept.existing : op->job);
}

static void settle_result(struct sqlite_store *this, struct store_op *op)
{
    struct entry *entry = index_find(&this->index, op->job);
    struct store_partition *partition = &entry->job.partitions[op->partition];
    partition->state = PARTITION_DONE;
    partition->ms = op->result.ms;
    if (op->result.is_last)
        finish_job(this, entry, JOB_DONE);
    op->result.committed(op->result.arg, op->job, op->partition);
}

static void settle_end(struct sqlite_store *this, const struct store_op *op)
{
    struct entry *entry = index_find(&this->index, op->job);
    if (op->partition == OP_WHOLE_JOB)
        entry_end(entry, op->end.fault, op->end.error);
    else
        entry_fail(entry, op->partition, op->end.fault, op->end.error);
    finish_job(this, entry, op->end.state);
}

static void settle(struct sqlite_store *this, struct store_op *op)
{
    this->uncommitted--;
    if (op->type == OP_ACCEPT)
        settle_accept(this, op);
    else if (op->type == OP_RESULT)
        settle_result(this, op);
    else if (op->type == OP_END)
        settle_end(this, op);
    store_op_free(op);
}

static void settle_all(struct sqlite_store *this)
{
    struct store_op *op;
    while ((op = STAILQ_FIRST(&this->batch.ops))) {
        STAILQ_REMOVE_HEAD(&this->batch.ops, next);
        settle(this, op);
    }
}

/* ---- what was not ---- */

/* Its client hears so; the files go with the next batch. */
static void refuse(struct sqlite_store *this, struct store_op *op)
{
    struct store_op *removal = store_op_create(OP_REMOVE, 0, 0, 0);
    op_names_add_inputs(&removal->removals, op->accept.details);
    STAILQ_INSERT_TAIL(&this->pending, removal, next);
    index_drop(&this->index, index_find(&this->index, op->job));
    op->accept.done(op->accept.arg, -EIO, 0);
    store_op_free(op);
}

static void take_back(struct sqlite_store *this)
{
    struct op_list kept = STAILQ_HEAD_INITIALIZER(kept);
    struct store_op *op;
    while ((op = STAILQ_FIRST(&this->batch.ops))) {
        STAILQ_REMOVE_HEAD(&this->batch.ops, next);
        if (op->type == OP_ACCEPT) {
            refuse(this, op); /* a removal instead */
        } else if (op->type == OP_REMOVE) {
            this->uncommitted--;
            store_op_free(op);
        } else {
            STAILQ_INSERT_TAIL(&kept, op, next);
        }
    }
    STAILQ_CONCAT(&kept, &this->pending);
    STAILQ_CONCAT(&this->pending, &kept);
}

static void wait_and_retry(struct sqlite_store *this)
{
    char quoted[512];
    snprintf(this->trouble, sizeof(this->trouble), "the job store cannot be written: %s",
             this->batch.trouble);
    if (!this->is_in_trouble)
        log_event("error", "store_trouble", "error=%s hint=\"free space below state_dir\"",
                  log_quote(quoted, sizeof(quoted), this->batch.trouble));
    this->is_in_trouble = 1;
    this->pause_ms = this->pause_ms ? 2 * this->pause_ms : PAUSE_MS_LEAST;
    if (this->pause_ms > PAUSE_MS_MOST)
        this->pause_ms = PAUSE_MS_MOST;
    const struct timeval pause = {.tv_sec = (time_t)(this->pause_ms / 1000),
                                  .tv_usec = (suseconds_t)(this->pause_ms % 1000 * 1000)};
    event_add(this->retry_event, &pause);
}

static void end_trouble(struct sqlite_store *this)
{
    if (this->is_in_trouble)
        log_event("info", "store_works_again", "uncommitted=%" PRIu64, this->uncommitted);
    this->is_in_trouble = 0;
    this->pause_ms = 0;
}

/* ---- batches ---- */

static void on_written(struct disk_work *work)
{
    struct sqlite_store *this =
        (struct sqlite_store *)((char *)work - offsetof(struct sqlite_store, work));
    if (this->batch.error) {
        this->commits.failed_total++;
        wait_and_retry(this);
        take_back(this);
    } else {
        this->commits.ns[this->commits.total++ % STORE_COMMITS_KEPT] = this->batch.commit_ns;
        end_trouble(this);
        settle_all(this);
    }
    this->is_committing = 0;
    if (!STAILQ_EMPTY(&this->pending) && !this->is_in_trouble)
        post_batch(this);
}

static void on_write(struct disk_work *work)
{
    struct sqlite_store *this =
        (struct sqlite_store *)((char *)work - offsetof(struct sqlite_store, work));
    store_batch_write(&this->batch);
}

static void post_batch(struct sqlite_store *this)
{
    this->is_committing = 1;
    STAILQ_CONCAT(&this->batch.ops, &this->pending);
    this->batch.kept_jobs = this->index.limits.kept_jobs;
    this->batch.kept_ns = this->index.limits.kept_ns;
    this->batch.now_real_ns = real_now_ns();
    this->work = (struct disk_work){.run = on_write, .done = on_written};
    disk_thread_must_post(this->disk, &this->work);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    post_batch(arg);
}

void store_commit_post(struct sqlite_store *this, struct store_op *op)
{
    this->uncommitted++;
    STAILQ_INSERT_TAIL(&this->pending, op, next);
    if (!this->is_committing && !this->is_in_trouble)
        post_batch(this);
}

void store_commit_tick(struct sqlite_store *this, uint64_t now_ns)
{
    if (this->is_committing || this->is_in_trouble || now_ns < this->swept_ns + SWEEP_NS)
        return;
    this->swept_ns = now_ns;
    if (this->db.final_count) /* the thread has nothing of ours now */
        post_batch(this);
}

int store_commit_start(struct sqlite_store *this, struct event_base *base)
{
    STAILQ_INIT(&this->pending);
    STAILQ_INIT(&this->batch.ops);
    this->batch.db = &this->db;
    this->batch.spool = this->spool;
    this->retry_event = evtimer_new(base, on_retry, this);
    return this->retry_event ? 0 : -ENOMEM;
}

void store_commit_stop(struct sqlite_store *this)
{
    struct store_op *op;
    if (this->retry_event)
        event_free(this->retry_event);
    while ((op = STAILQ_FIRST(&this->pending))) {
        STAILQ_REMOVE_HEAD(&this->pending, next);
        store_op_free(op);
    }
}
