/*
 * The job store in memory: accepted jobs, which of their partitions dispatch has claimed, results.
 * It answers during the call. Jobs that are final still answer for a while (store_limits), with
 * their witnesses closed.
 *
 * Called by the loop alone. A SIGKILL loses every job: that is what "in memory" means; one-shot
 * instances want nothing else.
 *
 * A callback may call the store again. So a function that calls back first brings everything into
 * order and touches no job afterwards; and only calls that bring the time and return no job drop
 * old ones.
 */
#include "coordinator/store_entry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define BUCKETS 1024u /* a power of two */
#define PARTITIONS_MAX (1u << 20)

TAILQ_HEAD(entry_queue, entry);
LIST_HEAD(entry_bucket, entry);

struct memory {
    struct store store; /* first: a store is its memory */
    struct store_limits limits;
    struct entry_queue all, active, final; /* oldest first */
    struct entry_bucket buckets[BUCKETS];
    struct store_counts counts;
    uint64_t active_count, final_count, last_order;
};

static struct memory *memory_of(struct store *store)
{
    return store->self;
}

static struct entry *entry_find(struct memory *memory, uint64_t id)
{
    struct entry *entry;

    LIST_FOREACH(entry, &memory->buckets[id % BUCKETS], same_bucket)
    {
        if (entry->job.id == id)
            return entry;
    }
    return NULL;
}

/* ---------------------------------------------------------------- an entry's life */

/* A number that no job has, and not 0. */
static int pick_id(struct memory *memory, uint64_t *id)
{
    do {
        ssize_t got = getrandom(id, sizeof(*id), 0);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got != sizeof(*id))
            *id = 0;
    } while (!*id || entry_find(memory, *id));
    return 0;
}

static void entry_insert(struct memory *memory, struct entry *entry)
{
    entry->job.order = ++memory->last_order;
    TAILQ_INSERT_TAIL(&memory->all, entry, by_order);
    TAILQ_INSERT_TAIL(&memory->active, entry, by_state);
    LIST_INSERT_HEAD(&memory->buckets[entry->job.id % BUCKETS], entry, same_bucket);
    memory->active_count++;
    memory->counts.queued++;
    memory->counts.queued_bytes += entry->bytes;
}

/* Drops final jobs beyond the number kept or past their time. */
static void drop_old(struct memory *memory, uint64_t now_ns)
{
    struct entry *entry;

    while ((entry = TAILQ_FIRST(&memory->final))) {
        uint64_t age_ns = now_ns > entry->job.final_ns ? now_ns - entry->job.final_ns : 0;
        bool too_old = memory->limits.kept_ns && age_ns > memory->limits.kept_ns;
        if (memory->final_count <= memory->limits.kept_jobs && !too_old)
            return;
        TAILQ_REMOVE(&memory->final, entry, by_state);
        TAILQ_REMOVE(&memory->all, entry, by_order);
        LIST_REMOVE(entry, same_bucket);
        memory->final_count--;
        entry_free(entry);
    }
}

/* The job moves between queued, running and the final states; its counters follow. */
static void entry_set_state(struct memory *memory, struct entry *entry, enum job_state state)
{
    uint64_t *counters[] = {&memory->counts.queued, &memory->counts.running,
                            &memory->counts.done_total, &memory->counts.failed_total,
                            &memory->counts.cancelled_total};

    --*counters[entry->job.state];
    ++*counters[state];
    entry->job.state = state;
}

/* The last thing that a call does with a job: everything is in order, and the owner hears of it. */
static void entry_finish(struct memory *memory, struct entry *entry, enum job_state state,
                         uint64_t now_ns)
{
    entry_set_state(memory, entry, state);
    entry->job.final_ns = now_ns;
    entry->unclaimed = 0;
    for (uint32_t i = 0; i < entry->job.partition_count; i++) {
        close(entry->job.partitions[i].witness_fd);
        entry->job.partitions[i].witness_fd = -1;
    }
    memory->counts.queued_bytes -= entry->bytes;
    TAILQ_REMOVE(&memory->active, entry, by_state);
    TAILQ_INSERT_TAIL(&memory->final, entry, by_state);
    memory->active_count--;
    memory->final_count++;
    if (memory->store.on_final)
        memory->store.on_final(memory->store.on_final_arg, &entry->job);
}

/* ---------------------------------------------------------------- accepting */

static int check_spec(const struct memory *memory, const struct store_spec *spec, uint64_t *bytes)
{
    uint64_t room = memory->limits.queued_bytes - memory->counts.queued_bytes;

    if (!spec->partition_count || spec->partition_count > PARTITIONS_MAX)
        return -EINVAL;
    if (memory->active_count >= memory->limits.queued_jobs ||
        memory->counts.queued_bytes > memory->limits.queued_bytes)
        return -ENOSPC;
    *bytes = 0;
    for (uint32_t i = 0; i < spec->partition_count; i++) {
        if (spec->partitions[i].bytes > room - *bytes)
            return -ENOSPC;
        *bytes += spec->partitions[i].bytes;
    }
    return 0;
}

static int try_accept(struct memory *memory, const struct store_spec *spec, uint64_t *id)
{
    struct entry *entry;
    uint64_t bytes;
    int error = check_spec(memory, spec, &bytes);

    if (!error)
        error = pick_id(memory, id);
    if (error)
        return error;
    entry = entry_create(spec);
    if (!entry)
        return -ENOMEM;
    entry->job.id = *id;
    entry->bytes = bytes;
    entry_insert(memory, entry);
    return 0;
}

static void memory_accept(struct store *store, const struct store_spec *spec,
                          void (*done)(void *arg, int error, uint64_t job), void *arg)
{
    uint64_t id = 0;
    int error;

    drop_old(memory_of(store), spec->now_ns);
    error = try_accept(memory_of(store), spec, &id);
    for (uint32_t i = 0; error && i < spec->partition_count; i++) {
        if (spec->partitions[i].witness_fd >= 0)
            close(spec->partitions[i].witness_fd);
    }
    done(arg, error, error ? 0 : id);
}

/* ---------------------------------------------------------------- claiming */

static struct entry *next_to_claim(struct memory *memory, uint32_t lane, uint64_t now_ns)
{
    struct entry *entry, *next = NULL;

    TAILQ_FOREACH (entry, &memory->active, by_state) {
        if (entry->job.lane == lane && entry->unclaimed &&
            (!next || entry_before(entry, next, now_ns, memory->limits.ageing_ns)))
            next = entry;
    }
    return next;
}

static void claim_first(struct memory *memory, struct entry *entry, struct store_claim *out)
{
    uint32_t partition = entry->first_unclaimed;

    while (entry->claimed[partition])
        partition++;
    entry->claimed[partition] = true;
    entry->unclaimed--;
    entry->first_unclaimed = partition + 1;
    if (entry->job.state == JOB_QUEUED)
        entry_set_state(memory, entry, JOB_RUNNING);
    *out = (struct store_claim){
        .job = entry->job.id,
        .partition = partition,
        .circuit_number = entry->job.circuit_number,
        .priority = entry->job.priority,
    };
    memcpy(out->hash, entry->job.hash, sizeof(out->hash));
}

static uint32_t memory_claim(struct store *store, uint32_t lane, uint32_t n, uint64_t now_ns,
                             struct store_claim *out)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;
    uint32_t count = 0;

    while (count < n && (entry = next_to_claim(memory, lane, now_ns))) {
        while (count < n && entry->unclaimed)
            claim_first(memory, entry, &out[count++]);
    }
    return count;
}

/* The claimed, unfinished partition, or NULL. */
static struct store_partition *find_claimed(struct memory *memory, uint64_t job, uint32_t partition,
                                            struct entry **entry)
{
    *entry = entry_find(memory, job);
    if (!*entry || entry_is_final(*entry) || partition >= (*entry)->job.partition_count ||
        !(*entry)->claimed[partition] ||
        (*entry)->job.partitions[partition].state >= PARTITION_DONE)
        return NULL;
    return &(*entry)->job.partitions[partition];
}

static void memory_release(struct store *store, uint64_t job, uint32_t partition)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;
    struct store_partition *claimed = find_claimed(memory, job, partition, &entry);

    if (!claimed)
        return;
    claimed->state = PARTITION_QUEUED;
    entry->claimed[partition] = false;
    entry->unclaimed++;
    if (partition < entry->first_unclaimed)
        entry->first_unclaimed = partition;
    if (entry->unclaimed == entry->job.partition_count)
        entry_set_state(memory, entry, JOB_QUEUED);
}

static void memory_note(struct store *store, uint64_t job, uint32_t partition,
                        enum partition_state state, uint32_t attempts, uint32_t deaths)
{
    struct entry *entry;
    struct store_partition *claimed = find_claimed(memory_of(store), job, partition, &entry);

    if (!claimed)
        return;
    if (state < PARTITION_DONE)
        claimed->state = state;
    claimed->attempts = attempts;
    claimed->deaths = deaths;
}

/* ---------------------------------------------------------------- ends */

static void memory_complete(struct store *store, uint64_t job, uint32_t partition, char *proof,
                            char *publics, const struct partition_times *ms, uint64_t now_ns,
                            void (*committed)(void *arg, uint64_t job, uint32_t partition),
                            void *arg)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;
    struct store_partition *claimed = find_claimed(memory, job, partition, &entry);

    if (claimed) {
        claimed->state = PARTITION_DONE;
        claimed->proof = proof;
        claimed->publics = publics;
        claimed->ms = *ms;
        if (++entry->done == entry->job.partition_count)
            entry_finish(memory, entry, JOB_DONE, now_ns);
    } else {
        free(proof);
    }
    committed(arg, job, partition);
}

static void memory_fail(struct store *store, uint64_t job, uint32_t partition,
                        enum wire_fault fault, const char *error, uint64_t now_ns)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;
    struct store_partition *claimed = find_claimed(memory, job, partition, &entry);

    if (!claimed)
        return;
    claimed->state = PARTITION_FAILED;
    claimed->fault = fault;
    claimed->error = strdup(error);
    entry->job.fault = fault;
    entry->job.error = entry_job_error(entry, partition, error);
    entry_cancel_rest(entry, FAULT_CANCELLED);
    entry_finish(memory, entry, JOB_FAILED, now_ns);
}

static int memory_end(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
                      uint64_t now_ns)
{
    struct memory *memory = memory_of(store);
    struct entry *entry = entry_find(memory, job);

    if (!entry)
        return -ENOENT;
    if (entry_is_final(entry))
        return -EALREADY;
    entry->job.fault = fault;
    entry->job.error = strdup(error);
    entry_cancel_rest(entry, fault);
    entry_finish(memory, entry, fault == FAULT_CANCELLED ? JOB_CANCELLED : JOB_FAILED, now_ns);
    return 0;
}

/* ---------------------------------------------------------------- asking */

static const struct store_job *memory_find(struct store *store, uint64_t job)
{
    struct entry *entry = entry_find(memory_of(store), job);

    return entry ? &entry->job : NULL;
}

static void memory_list(struct store *store, uint64_t before, uint32_t n,
                        void (*each)(void *arg, const struct store_job *job), void *arg)
{
    struct entry *entry;

    TAILQ_FOREACH_REVERSE(entry, &memory_of(store)->all, entry_queue, by_order)
    {
        if (before && entry->job.order >= before)
            continue;
        if (!n--)
            return;
        each(arg, &entry->job);
    }
}

static uint64_t memory_position(struct store *store, uint64_t job, uint64_t now_ns)
{
    struct memory *memory = memory_of(store);
    struct entry *mine = entry_find(memory, job), *entry;
    uint64_t before = 0;

    if (!mine || mine->job.state != JOB_QUEUED)
        return 0;
    TAILQ_FOREACH (entry, &memory->active, by_state) {
        if (entry != mine && entry->job.lane == mine->job.lane &&
            entry_before(entry, mine, now_ns, memory->limits.ageing_ns))
            before += entry->unclaimed;
    }
    return before + 1;
}

static uint64_t memory_overdue(struct store *store, uint64_t now_ns)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;

    drop_old(memory, now_ns);
    TAILQ_FOREACH (entry, &memory->active, by_state) {
        if (entry->job.deadline_ns && entry->job.deadline_ns <= now_ns)
            return entry->job.id;
    }
    return 0;
}

static uint64_t memory_uses_circuit(struct store *store, uint32_t circuit_number)
{
    struct entry *entry;
    uint64_t count = 0;

    TAILQ_FOREACH (entry, &memory_of(store)->active, by_state)
        count += entry->job.circuit_number == circuit_number;
    return count;
}

static void memory_counts(struct store *store, struct store_counts *out)
{
    *out = memory_of(store)->counts;
}

static void memory_set_limits(struct store *store, const struct store_limits *limits)
{
    memory_of(store)->limits = *limits;
}

static void memory_destroy(struct store *store)
{
    struct memory *memory = memory_of(store);
    struct entry *entry;

    while ((entry = TAILQ_FIRST(&memory->all))) {
        TAILQ_REMOVE(&memory->all, entry, by_order);
        entry_free(entry);
    }
    free(memory);
}

struct store *store_memory_create(const struct store_limits *limits)
{
    struct memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->limits = *limits;
    TAILQ_INIT(&memory->all);
    TAILQ_INIT(&memory->active);
    TAILQ_INIT(&memory->final);
    memory->store = (struct store){
        .self = memory,
        .destroy = memory_destroy,
        .accept = memory_accept,
        .claim = memory_claim,
        .release = memory_release,
        .note = memory_note,
        .complete = memory_complete,
        .fail = memory_fail,
        .end = memory_end,
        .find = memory_find,
        .list = memory_list,
        .position = memory_position,
        .overdue = memory_overdue,
        .uses_circuit = memory_uses_circuit,
        .counts = memory_counts,
        .set_limits = memory_set_limits,
    };
    return &memory->store;
}
