/*
 * The job store in memory: store_index.c, and results. It answers during the call. Jobs that are
 * final still answer for a while (store_limits), with their inputs closed.
 *
 * Called by the loop alone. A SIGKILL loses every job: that is what "in memory" means; one-shot
 * instances want nothing else.
 *
 * A callback may call the store again. So a function that calls back first brings everything into
 * order and touches no job afterwards; and only calls that bring the time and return no job drop
 * old ones.
 */
#include "coordinator/store_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_BUCKETS 256u /* a power of two */

struct memory {
    struct store store; /* first: a store is its memory */
    struct store_index index;
    struct entry_bucket keys[KEY_BUCKETS];
};

static struct memory *memory_of(struct store *store)
{
    return store->self;
}

static struct store_index *index_of(struct store *store)
{
    return &memory_of(store)->index;
}

/* ---------------------------------------------------------------- keys */

static struct entry_bucket *key_bucket(struct memory *memory, const char *key)
{
    uint32_t hash = 0;
    while (*key)
        hash = hash * 31 + (unsigned char)*key++;
    return &memory->keys[hash % KEY_BUCKETS];
}

static const struct entry *find_key(struct memory *memory, const char *key)
{
    const struct entry *entry;
    LIST_FOREACH(entry, key_bucket(memory, key), same_key_bucket)
    {
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

/* 0 where no job has the spec's key; else -EALREADY (the same bytes) or -EEXIST, and the job. */
static int check_key(struct memory *memory, const struct store_spec *spec, uint64_t *id)
{
    uint8_t digest[32];
    const struct entry *other = spec->key[0] ? find_key(memory, spec->key) : NULL;
    if (!other)
        return 0;
    if (store_digest(spec, digest))
        return -ENOMEM;
    *id = other->job.id;
    return memcmp(digest, other->digest, sizeof(digest)) == 0 ? -EALREADY : -EEXIST;
}

/* ---------------------------------------------------------------- accepting */

/* Drops final jobs beyond the number kept or past their time. */
static void drop_old(struct memory *memory, uint64_t now_ns)
{
    struct store_index *index = &memory->index;
    struct entry *entry;

    while ((entry = TAILQ_FIRST(&index->final))) {
        uint64_t age_ns = now_ns > entry->job.final_ns ? now_ns - entry->job.final_ns : 0;
        bool too_old = index->limits.kept_ns && age_ns > index->limits.kept_ns;
        if (index->final_count <= index->limits.kept_jobs && !too_old)
            return;
        if (entry->key)
            LIST_REMOVE(entry, same_key_bucket);
        index_drop(index, entry);
    }
}

static int try_accept(struct memory *memory, const struct store_spec *spec, uint64_t *id)
{
    struct entry *entry;
    int error = check_key(memory, spec, id);
    if (!error)
        error = index_add(&memory->index, spec, &entry);
    if (error)
        return error;
    if (entry->key)
        LIST_INSERT_HEAD(key_bucket(memory, entry->key), entry, same_key_bucket);
    *id = entry->job.id;
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
    done(arg, error == -EALREADY ? 0 : error, id);
}

/* ---------------------------------------------------------------- working */

static uint32_t memory_claim(struct store *store, uint32_t lane, uint32_t n, uint64_t now_ns,
                             struct store_claim *out)
{
    return index_claim(index_of(store), lane, n, now_ns, out);
}

static void memory_release(struct store *store, uint64_t job, uint32_t partition)
{
    index_release(index_of(store), job, partition);
}

static void memory_note(struct store *store, uint64_t job, uint32_t partition,
                        enum partition_state state, uint32_t attempts, uint32_t deaths)
{
    index_note(index_of(store), job, partition, state, attempts, deaths);
}

static int memory_open_input(struct store *store, uint64_t job, uint32_t partition)
{
    const struct entry *entry = index_find(index_of(store), job);
    char path[64];

    if (!entry || partition >= entry->job.partition_count)
        return -ENOENT;
    /* Another open description of the same file, so that nobody shares a position. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", entry->job.partitions[partition].witness_fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* ---------------------------------------------------------------- ends */

/* The last thing that a call does with a job. */
static void finish(struct store *store, struct entry *entry, enum job_state state, uint64_t now_ns)
{
    uint64_t id = entry->job.id;

    index_finish(index_of(store), entry, state, now_ns);
    if (store->on_final)
        store->on_final(store->on_final_arg, &entry->job);
    if (state != JOB_DONE && store->on_ended)
        store->on_ended(store->on_final_arg, id);
}

static void memory_complete(struct store *store, uint64_t job, uint32_t partition, char *proof,
                            char *publics, const struct partition_times *ms, uint64_t now_ns,
                            void (*committed)(void *arg, uint64_t job, uint32_t partition),
                            void *arg)
{
    struct entry *entry;
    struct store_partition *claimed = index_find_claimed(index_of(store), job, partition, &entry);

    if (claimed) {
        claimed->state = PARTITION_DONE;
        claimed->proof = proof;
        claimed->publics = publics;
        claimed->ms = *ms;
        if (index_take_result(entry, partition))
            finish(store, entry, JOB_DONE, now_ns);
    } else {
        free(proof);
    }
    committed(arg, job, partition);
}

static void memory_fail(struct store *store, uint64_t job, uint32_t partition,
                        enum wire_fault fault, const char *error, uint64_t now_ns)
{
    struct entry *entry;

    if (!index_find_claimed(index_of(store), job, partition, &entry))
        return;
    entry_fail(entry, partition, fault, error);
    finish(store, entry, JOB_FAILED, now_ns);
}

static int memory_end(struct store *store, uint64_t job, enum wire_fault fault, const char *error,
                      uint64_t now_ns)
{
    struct entry *entry = index_find(index_of(store), job);

    if (!entry)
        return -ENOENT;
    if (entry->is_ended)
        return -EALREADY;
    entry_end(entry, fault, error);
    finish(store, entry, entry_end_state(fault), now_ns);
    return 0;
}

/* ---------------------------------------------------------------- asking */

static const struct store_job *memory_find(struct store *store, uint64_t job)
{
    struct entry *entry = index_find(index_of(store), job);

    return entry ? &entry->job : NULL;
}

static void memory_fetch(struct store *store, uint64_t job, store_fetched *fetched, void *arg)
{
    const struct store_job *found = memory_find(store, job);

    fetched(arg, found ? 0 : -ENOENT, found);
}

static void memory_list(struct store *store, uint64_t before, uint32_t n,
                        void (*each)(void *arg, const struct store_job *job),
                        void (*end)(void *arg, int error), void *arg)
{
    struct entry *entry;

    TAILQ_FOREACH_REVERSE(entry, &index_of(store)->all, entry_queue, by_order)
    {
        if (before && entry->job.order >= before)
            continue;
        if (!n--)
            break;
        each(arg, &entry->job);
    }
    end(arg, 0);
}

static void memory_each_active(struct store *store,
                               void (*each)(void *arg, const struct store_job *job), void *arg)
{
    index_each_active(index_of(store), each, arg);
}

static uint64_t memory_position(struct store *store, uint64_t job, uint64_t now_ns)
{
    return index_position(index_of(store), job, now_ns);
}

static uint64_t memory_overdue(struct store *store, uint64_t now_ns)
{
    drop_old(memory_of(store), now_ns);
    return index_overdue(index_of(store), now_ns);
}

static uint64_t memory_uses_circuit(struct store *store, uint32_t circuit_number)
{
    return index_uses_circuit(index_of(store), circuit_number);
}

static void memory_counts(struct store *store, struct store_counts *out)
{
    *out = index_of(store)->counts;
}

static const struct store_commits *memory_commits(struct store *store)
{
    (void)store;
    return NULL;
}

static int memory_trouble(struct store *store, char *text, size_t bytes)
{
    (void)store, (void)text, (void)bytes;
    return 0;
}

static void memory_set_limits(struct store *store, const struct store_limits *limits)
{
    index_of(store)->limits = *limits;
}

static void memory_destroy(struct store *store)
{
    index_free(index_of(store));
    free(memory_of(store));
}

struct store *store_memory_create(const struct store_limits *limits)
{
    struct memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    index_init(&memory->index, limits);
    memory->store = (struct store){
        .self = memory,
        .destroy = memory_destroy,
        .accept = memory_accept,
        .claim = memory_claim,
        .release = memory_release,
        .note = memory_note,
        .open_input = memory_open_input,
        .complete = memory_complete,
        .fail = memory_fail,
        .end = memory_end,
        .find = memory_find,
        .fetch = memory_fetch,
        .list = memory_list,
        .each_active = memory_each_active,
        .position = memory_position,
        .overdue = memory_overdue,
        .uses_circuit = memory_uses_circuit,
        .counts = memory_counts,
        .commits = memory_commits,
        .trouble = memory_trouble,
        .set_limits = memory_set_limits,
    };
    return &memory->store;
}
