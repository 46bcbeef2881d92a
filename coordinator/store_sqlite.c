/*
 * The job store in a database: the interface; see the header. Called by the loop alone. A SIGKILL
 * leaves what was committed: at the next start every accepted job is there, those that were not
 * final are queued, and what they had done stays done.
 *
 * A callback may call the store again; see store_memory.c.
 */
#include "coordinator/store_sqlite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/store_sqlite_internal.h"

/* ---------------------------------------------------------------- accepting */

/* Files that no job owns. */
static void remove_inputs(struct sqlite_store *this, const struct store_spec *spec)
{
    struct store_op *op = store_op_create(OP_REMOVE, 0, 0, 0);
    for (uint32_t i = 0; i < spec->partition_count; i++) {
        if (spec->partitions[i].witness_fd >= 0)
            close(spec->partitions[i].witness_fd);
        op_names_add(&op->removals, spec->partitions[i].input.name);
    }
    store_commit_post(this, op);
}

static void post_accept(struct sqlite_store *this, struct entry *entry,
                        void (*done)(void *arg, int error, uint64_t job), void *arg)
{
    struct store_op *op = store_op_create(OP_ACCEPT, entry->job.id, entry->job.order, 0);
    entry->is_waiting = true;
    op->accept.details = &entry->job;
    op->accept.key = entry->key;
    op->accept.digest = entry->digest;
    op->accept.accepted_real_ns = store_real_of(entry->job.accepted_ns);
    op->accept.deadline_real_ns = store_real_of(entry->job.deadline_ns);
    op->accept.done = done;
    op->accept.arg = arg;
    store_commit_post(this, op);
}

static void sqlite_accept(struct store *store, const struct store_spec *spec,
                          void (*done)(void *arg, int error, uint64_t job), void *arg)
{
    struct sqlite_store *this = sqlite_of(store);
    struct entry *entry;
    int error = this->is_in_trouble ? -EIO : index_add(&this->index, spec, &entry);
    if (!error) {
        post_accept(this, entry, done, arg);
        return;
    }
    remove_inputs(this, spec);
    done(arg, error, 0);
}

/* ---------------------------------------------------------------- working */

static uint32_t sqlite_claim(struct store *store, uint32_t lane, uint32_t n, uint64_t now_ns,
                             struct store_claim *out)
{
    struct sqlite_store *this = sqlite_of(store);
    return this->is_in_trouble ? 0 : index_claim(&this->index, lane, n, now_ns, out);
}

static void sqlite_release(struct store *store, uint64_t job, uint32_t partition)
{
    index_release(&sqlite_of(store)->index, job, partition);
}

static void sqlite_note(struct store *store, uint64_t job, uint32_t partition,
                        enum partition_state state, uint32_t attempts, uint32_t deaths)
{
    struct sqlite_store *this = sqlite_of(store);
    if (!index_note(&this->index, job, partition, state, attempts, deaths))
        return;
    struct store_op *op =
        store_op_create(OP_NOTE, job, index_find(&this->index, job)->job.order, partition);
    op->note.attempts = attempts;
    op->note.deaths = deaths;
    store_commit_post(this, op);
}

static int sqlite_open_input(struct store *store, uint64_t job, uint32_t partition)
{
    struct sqlite_store *this = sqlite_of(store);
    const struct entry *entry = index_find(&this->index, job);
    char path[64];
    if (!entry || partition >= entry->job.partition_count)
        return -ENOENT;
    const struct store_partition *from = &entry->job.partitions[partition];
    if (from->input.name[0])
        return this->spool ? spool_open_file(this->spool, from->input.name) : -ENOENT;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", from->witness_fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* ---------------------------------------------------------------- ends */

static void sqlite_complete(struct store *store, uint64_t job, uint32_t partition, char *proof,
                            char *publics, const struct partition_times *ms, uint64_t now_ns,
                            void (*committed)(void *arg, uint64_t job, uint32_t partition),
                            void *arg)
{
    struct sqlite_store *this = sqlite_of(store);
    struct entry *entry;
    if (!index_find_claimed(&this->index, job, partition, &entry)) {
        free(proof);
        committed(arg, job, partition);
        return;
    }
    struct store_op *op = store_op_create(OP_RESULT, job, entry->job.order, partition);
    op->result.proof = proof;
    op->result.publics = publics;
    op->result.ms = *ms;
    op->result.is_last = index_take_result(entry, partition);
    op->result.final_real_ns = store_real_of(now_ns);
    op->result.committed = committed;
    op->result.arg = arg;
    if (op->result.is_last)
        index_stop(entry);
    store_commit_post(this, op);
}

/* The job has ended, though nobody sees it before the commit. */
static void post_end(struct sqlite_store *this, struct entry *entry, uint32_t partition,
                     enum wire_fault fault, const char *error, uint64_t now_ns)
{
    struct store *store = &this->store;
    uint64_t id = entry->job.id;
    struct store_op *op = store_op_create(OP_END, id, entry->job.order, partition);
    op->end.fault = fault;
    op->end.error = strdup(error);
    if (partition == OP_WHOLE_JOB) {
        op->end.state = entry_end_state(fault);
        op->end.job_error = strdup(error);
    } else {
        op->end.state = JOB_FAILED;
        op->end.job_error = entry_job_error(entry->job.partition_count, partition, error);
    }
    assert(op->end.error && op->end.job_error);
    op->end.final_real_ns = store_real_of(now_ns);
    index_stop(entry);
    store_commit_post(this, op);
    if (store->on_ended)
        store->on_ended(store->on_final_arg, id);
}

static void sqlite_fail(struct store *store, uint64_t job, uint32_t partition,
                        enum wire_fault fault, const char *error, uint64_t now_ns)
{
    struct entry *entry;
    if (index_find_claimed(&sqlite_of(store)->index, job, partition, &entry))
        post_end(sqlite_of(store), entry, partition, fault, error, now_ns);
}

static int sqlite_end(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
                      uint64_t now_ns)
{
    struct entry *entry = index_find(&sqlite_of(store)->index, job);
    if (!entry || entry->is_waiting)
        return -ENOENT;
    if (entry->is_ended)
        return -EALREADY;
    post_end(sqlite_of(store), entry, OP_WHOLE_JOB, fault, error, now_ns);
    return 0;
}

/* ---------------------------------------------------------------- asking */

static const struct store_job *sqlite_find(struct store *store, uint64_t job)
{
    const struct entry *entry = index_find(&sqlite_of(store)->index, job);
    return entry && !entry->is_waiting ? &entry->job : NULL;
}

static void sqlite_each_active(struct store *store,
                               void (*each)(void *arg, const struct store_job *job), void *arg)
{
    index_each_active(&sqlite_of(store)->index, each, arg);
}

static uint64_t sqlite_position(struct store *store, uint64_t job, uint64_t now_ns)
{
    return index_position(&sqlite_of(store)->index, job, now_ns);
}

static uint64_t sqlite_overdue(struct store *store, uint64_t now_ns)
{
    store_commit_tick(sqlite_of(store), now_ns);
    return index_overdue(&sqlite_of(store)->index, now_ns);
}

static uint64_t sqlite_uses_circuit(struct store *store, uint32_t circuit_number)
{
    return index_uses_circuit(&sqlite_of(store)->index, circuit_number);
}

static void sqlite_counts(struct store *store, struct store_counts *out)
{
    *out = sqlite_of(store)->index.counts;
    out->uncommitted = sqlite_of(store)->uncommitted;
}

static const struct store_commits *sqlite_commits(struct store *store)
{
    return &sqlite_of(store)->commits;
}

static int sqlite_trouble(struct store *store, char *text, size_t bytes)
{
    const struct sqlite_store *this = sqlite_of(store);
    if (this->is_in_trouble)
        snprintf(text, bytes, "%s", this->trouble);
    return this->is_in_trouble;
}

static void sqlite_set_limits(struct store *store, const struct store_limits *limits)
{
    sqlite_of(store)->index.limits = *limits;
}

/* ---------------------------------------------------------------- start and end */

static int take_kept(void *arg, struct store_job *job)
{
    struct sqlite_store *this = arg;
    struct entry *entry = job->partition_count ? entry_adopt(job) : NULL;
    if (!entry) {
        store_job_clear(job);
        return -ENOMEM;
    }
    entry->is_kept = true;
    entry->job.accepted_ns = store_monotonic_of(job->accepted_ns);
    entry->job.deadline_ns = store_monotonic_of(job->deadline_ns);
    index_put(&this->index, entry);
    return 0;
}

static void
sqlite_resolve(struct store *store,
               int (*resolve)(void *arg, struct store_job *job, char *why, size_t bytes), void *arg)
{
    struct sqlite_store *this = sqlite_of(store);
    struct entry *entry, *next;
    char why[512];
    for (entry = TAILQ_FIRST(&this->index.active); entry; entry = next) {
        next = TAILQ_NEXT(entry, by_state);
        if (!entry->is_kept)
            continue;
        entry->is_kept = false;
        int fault = resolve(arg, &entry->job, why, sizeof(why));
        if (fault)
            post_end(this, entry, OP_WHOLE_JOB, (enum wire_fault)fault, why, clock_now_ns());
    }
}

static void sqlite_destroy(struct store *store)
{
    struct sqlite_store *this = sqlite_of(store);
    store_commit_stop(this);
    index_free(&this->index);
    store_db_close(&this->db);
    free(this);
}

static void set_calls(struct sqlite_store *this)
{
    this->store = (struct store){
        .self = this,
        .is_durable = 1,
        .destroy = sqlite_destroy,
        .accept = sqlite_accept,
        .claim = sqlite_claim,
        .release = sqlite_release,
        .note = sqlite_note,
        .open_input = sqlite_open_input,
        .complete = sqlite_complete,
        .fail = sqlite_fail,
        .end = sqlite_end,
        .find = sqlite_find,
        .fetch = store_fetch_job,
        .list = store_fetch_list,
        .each_active = sqlite_each_active,
        .position = sqlite_position,
        .overdue = sqlite_overdue,
        .uses_circuit = sqlite_uses_circuit,
        .counts = sqlite_counts,
        .commits = sqlite_commits,
        .trouble = sqlite_trouble,
        .set_limits = sqlite_set_limits,
        .resolve = sqlite_resolve,
    };
}

int store_sqlite_create(struct store **store, const struct store_limits *limits,
                        const struct store_sqlite_options *options, char *why, size_t bytes)
{
    struct sqlite_store *this = calloc(1, sizeof(*this));
    snprintf(why, bytes, "no memory");
    if (!this)
        return -ENOMEM;
    set_calls(this);
    index_init(&this->index, limits);
    this->disk = options->disk;
    this->spool = options->spool;
    int error = store_commit_start(this, options->base);
    if (!error)
        error = store_db_open(&this->db, options->path, why, bytes);
    if (!error)
        error = store_db_active(&this->db, take_kept, this);
    if (error) {
        sqlite_destroy(&this->store);
        return error;
    }
    if (this->db.last_order > this->index.last_order)
        this->index.last_order = this->db.last_order;
    *store = &this->store;
    return 0;
}
