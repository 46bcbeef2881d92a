/*
 * Jobs in memory; see the header. Called by the stores. A SIGKILL loses it: store_sqlite.c makes it
 * again from its database.
 */
#include "coordinator/store_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PARTITIONS_MAX (1u << 20)

void index_init(struct store_index *index, const struct store_limits *limits)
{
    *index = (struct store_index){.limits = *limits};
    TAILQ_INIT(&index->all);
    TAILQ_INIT(&index->active);
    TAILQ_INIT(&index->final);
}

void index_free(struct store_index *index)
{
    struct entry *entry;
    while ((entry = TAILQ_FIRST(&index->all))) {
        TAILQ_REMOVE(&index->all, entry, by_order);
        entry_free(entry);
    }
}

struct entry *index_find(const struct store_index *index, uint64_t id)
{
    struct entry *entry;
    LIST_FOREACH(entry, &index->buckets[id % INDEX_BUCKETS], same_bucket)
    {
        if (entry->job.id == id)
            return entry;
    }
    return NULL;
}

/* ---------------------------------------------------------------- an entry's life */

/* A number that no job has, and not 0. */
static int pick_id(const struct store_index *index, uint64_t *id)
{
    do {
        ssize_t got = getrandom(id, sizeof(*id), 0);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got != sizeof(*id))
            *id = 0;
    } while (!*id || index_find(index, *id));
    return 0;
}

static int check_spec(const struct store_index *index, const struct store_spec *spec,
                      uint64_t *bytes)
{
    uint64_t room = index->limits.queued_bytes - index->counts.queued_bytes;

    if (!spec->partition_count || spec->partition_count > PARTITIONS_MAX)
        return -EINVAL;
    if (index->active_count >= index->limits.queued_jobs ||
        index->counts.queued_bytes > index->limits.queued_bytes)
        return -ENOSPC;
    *bytes = 0;
    for (uint32_t i = 0; i < spec->partition_count; i++) {
        if (spec->partitions[i].input.bytes > room - *bytes)
            return -ENOSPC;
        *bytes += spec->partitions[i].input.bytes;
    }
    return 0;
}

static uint64_t *counter_of(struct store_index *index, enum job_state state)
{
    uint64_t *counters[] = {&index->counts.queued, &index->counts.running,
                            &index->counts.done_total, &index->counts.failed_total,
                            &index->counts.cancelled_total};
    return counters[state];
}

/* The job moves between queued, running and the final states; its counters follow. */
static void set_state(struct store_index *index, struct entry *entry, enum job_state state)
{
    --*counter_of(index, entry->job.state);
    ++*counter_of(index, state);
    entry->job.state = state;
}

void index_put(struct store_index *index, struct entry *entry)
{
    if (entry->job.order > index->last_order)
        index->last_order = entry->job.order;
    TAILQ_INSERT_TAIL(&index->all, entry, by_order);
    TAILQ_INSERT_TAIL(&index->active, entry, by_state);
    LIST_INSERT_HEAD(&index->buckets[entry->job.id % INDEX_BUCKETS], entry, same_bucket);
    index->active_count++;
    ++*counter_of(index, entry->job.state);
    index->counts.queued_bytes += entry->bytes;
}

int index_add(struct store_index *index, const struct store_spec *spec, struct entry **out)
{
    uint64_t bytes, id = 0;
    int error = check_spec(index, spec, &bytes);
    if (!error)
        error = pick_id(index, &id);
    if (error)
        return error;
    struct entry *entry = entry_create(spec);
    if (!entry)
        return -ENOMEM;
    entry->job.id = id;
    entry->job.order = index->last_order + 1;
    entry->bytes = bytes;
    index_put(index, entry);
    *out = entry;
    return 0;
}

void index_stop(struct entry *entry)
{
    entry->is_ended = true;
    entry->unclaimed = 0;
    entry_close_inputs(entry);
}

void index_finish(struct store_index *index, struct entry *entry, enum job_state state,
                  uint64_t now_ns)
{
    index_stop(entry);
    set_state(index, entry, state);
    entry->job.final_ns = now_ns;
    index->counts.queued_bytes -= entry->bytes;
    TAILQ_REMOVE(&index->active, entry, by_state);
    TAILQ_INSERT_TAIL(&index->final, entry, by_state);
    index->active_count--;
    index->final_count++;
}

void index_drop(struct store_index *index, struct entry *entry)
{
    if (entry_is_final(entry)) {
        TAILQ_REMOVE(&index->final, entry, by_state);
        index->final_count--;
    } else {
        TAILQ_REMOVE(&index->active, entry, by_state);
        index->active_count--;
        index->counts.queued_bytes -= entry->bytes;
        --*counter_of(index, entry->job.state);
    }
    TAILQ_REMOVE(&index->all, entry, by_order);
    LIST_REMOVE(entry, same_bucket);
    entry_free(entry);
}

/* ---------------------------------------------------------------- claiming */

static int can_be_claimed(const struct entry *entry, uint32_t lane)
{
    return entry->job.lane == lane && entry->unclaimed && !entry->is_waiting && !entry->is_kept &&
           !entry->is_ended;
}

static struct entry *next_to_claim(struct store_index *index, uint32_t lane, uint64_t now_ns)
{
    struct entry *entry, *next = NULL;

    TAILQ_FOREACH (entry, &index->active, by_state) {
        if (can_be_claimed(entry, lane) &&
            (!next || entry_before(entry, next, now_ns, index->limits.ageing_ns)))
            next = entry;
    }
    return next;
}

static void claim_first(struct store_index *index, struct entry *entry, struct store_claim *out)
{
    uint32_t partition = entry->first_unclaimed;

    while (entry->phases[partition] != ENTRY_UNCLAIMED)
        partition++;
    entry->phases[partition] = ENTRY_CLAIMED;
    entry->unclaimed--;
    entry->first_unclaimed = partition + 1;
    if (entry->job.state == JOB_QUEUED)
        set_state(index, entry, JOB_RUNNING);
    *out = (struct store_claim){
        .job = entry->job.id,
        .partition = partition,
        .circuit_number = entry->job.circuit_number,
        .priority = entry->job.priority,
        .attempts = entry->job.partitions[partition].attempts,
        .deaths = entry->job.partitions[partition].deaths,
    };
    memcpy(out->hash, entry->job.hash, sizeof(out->hash));
}

uint32_t index_claim(struct store_index *index, uint32_t lane, uint32_t n, uint64_t now_ns,
                     struct store_claim *out)
{
    struct entry *entry;
    uint32_t count = 0;

    while (count < n && (entry = next_to_claim(index, lane, now_ns))) {
        while (count < n && entry->unclaimed)
            claim_first(index, entry, &out[count++]);
    }
    return count;
}

struct store_partition *index_find_claimed(struct store_index *index, uint64_t job,
                                           uint32_t partition, struct entry **entry)
{
    *entry = index_find(index, job);
    if (!*entry || (*entry)->is_ended || partition >= (*entry)->job.partition_count ||
        (*entry)->phases[partition] != ENTRY_CLAIMED)
        return NULL;
    return &(*entry)->job.partitions[partition];
}

void index_release(struct store_index *index, uint64_t job, uint32_t partition)
{
    struct entry *entry;
    struct store_partition *claimed = index_find_claimed(index, job, partition, &entry);

    if (!claimed)
        return;
    claimed->state = PARTITION_QUEUED;
    entry->phases[partition] = ENTRY_UNCLAIMED;
    entry->unclaimed++;
    if (partition < entry->first_unclaimed)
        entry->first_unclaimed = partition;
    if (entry->unclaimed == entry->job.partition_count)
        set_state(index, entry, JOB_QUEUED);
}

struct store_partition *index_note(struct store_index *index, uint64_t job, uint32_t partition,
                                   enum partition_state state, uint32_t attempts, uint32_t deaths)
{
    struct entry *entry;
    struct store_partition *claimed = index_find_claimed(index, job, partition, &entry);

    if (!claimed)
        return NULL;
    int is_news = claimed->attempts != attempts || claimed->deaths != deaths;
    if (state < PARTITION_DONE)
        claimed->state = state;
    claimed->attempts = attempts;
    claimed->deaths = deaths;
    return is_news ? claimed : NULL;
}

int index_take_result(struct entry *entry, uint32_t partition)
{
    entry->phases[partition] = ENTRY_TAKEN;
    return ++entry->taken == entry->job.partition_count;
}

/* ---------------------------------------------------------------- asking */

uint64_t index_position(const struct store_index *index, uint64_t job, uint64_t now_ns)
{
    struct entry *mine = index_find(index, job), *entry;
    uint64_t before = 0;

    if (!mine || mine->job.state != JOB_QUEUED)
        return 0;
    TAILQ_FOREACH (entry, &index->active, by_state) {
        if (entry != mine && can_be_claimed(entry, mine->job.lane) &&
            entry_before(entry, mine, now_ns, index->limits.ageing_ns))
            before += entry->unclaimed;
    }
    return before + 1;
}

uint64_t index_overdue(const struct store_index *index, uint64_t now_ns)
{
    struct entry *entry;

    TAILQ_FOREACH (entry, &index->active, by_state) {
        if (entry->job.deadline_ns && entry->job.deadline_ns <= now_ns && !entry->is_ended &&
            !entry->is_waiting)
            return entry->job.id;
    }
    return 0;
}

uint64_t index_uses_circuit(const struct store_index *index, uint32_t circuit_number)
{
    struct entry *entry;
    uint64_t count = 0;

    TAILQ_FOREACH (entry, &index->active, by_state)
        count += entry->job.circuit_number == circuit_number;
    return count;
}

void index_each_active(const struct store_index *index,
                       void (*each)(void *arg, const struct store_job *job), void *arg)
{
    struct entry *entry;

    TAILQ_FOREACH (entry, &index->active, by_state) {
        if (!entry->is_waiting)
            each(arg, &entry->job);
    }
}
