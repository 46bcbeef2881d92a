/*
 * A job in memory: making it from what was accepted or kept, its place among others, and what
 * happens to its partitions when it ends. Called by the stores. A SIGKILL leaves nothing.
 */
#include "coordinator/store_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void store_job_clear(struct store_job *job)
{
    for (uint32_t i = 0; job->partitions && i < job->partition_count; i++) {
        free(job->partitions[i].error);
        free(job->partitions[i].proof);
    }
    free(job->error);
    free(job->partitions);
    job->error = NULL;
    job->partitions = NULL;
}

void entry_close_inputs(struct entry *entry)
{
    for (uint32_t i = 0; entry->job.partitions && i < entry->job.partition_count; i++) {
        if (entry->job.partitions[i].witness_fd >= 0)
            close(entry->job.partitions[i].witness_fd);
        entry->job.partitions[i].witness_fd = -1;
    }
}

void entry_free(struct entry *entry)
{
    entry_close_inputs(entry);
    store_job_clear(&entry->job);
    free(entry->phases);
    free(entry->key);
    free(entry);
}

static void copy_text(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    to[bytes - 1] = '\0';
}

static void fill_job(struct store_job *job, const struct store_spec *spec)
{
    copy_text(job->circuit, spec->circuit, sizeof(job->circuit));
    copy_text(job->program, spec->program, sizeof(job->program));
    copy_text(job->lane_name, spec->lane_name, sizeof(job->lane_name));
    job->circuit_number = spec->circuit_number;
    memcpy(job->hash, spec->hash, sizeof(job->hash));
    job->lane = spec->lane;
    job->priority = spec->priority;
    job->accepted_ns = spec->now_ns;
    job->deadline_ns = spec->deadline_ns;
}

static void fill_partitions(struct store_job *job, const struct store_spec *spec)
{
    for (uint32_t i = 0; i < spec->partition_count; i++) {
        struct store_partition *partition = &job->partitions[i];
        partition->ms = (struct partition_times){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
        partition->witness_fd = spec->partitions[i].witness_fd;
        partition->input = spec->partitions[i].input;
        partition->input.label[sizeof(partition->input.label) - 1] = '\0';
        partition->input.name[sizeof(partition->input.name) - 1] = '\0';
    }
}

static struct entry *create(uint32_t partition_count)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->job.partition_count = entry->unclaimed = partition_count;
    entry->phases = calloc(partition_count, sizeof(*entry->phases));
    if (entry->phases)
        return entry;
    entry_free(entry);
    return NULL;
}

struct entry *entry_create(const struct store_spec *spec)
{
    struct entry *entry = create(spec->partition_count);
    if (!entry)
        return NULL;
    entry->job.partitions = calloc(spec->partition_count, sizeof(*entry->job.partitions));
    if (spec->key[0])
        entry->key = strndup(spec->key, sizeof(spec->key) - 1);
    if (!entry->job.partitions || (spec->key[0] && !entry->key) ||
        store_digest(spec, entry->digest)) {
        entry_free(entry);
        return NULL;
    }
    fill_job(&entry->job, spec);
    fill_partitions(&entry->job, spec);
    return entry;
}

struct entry *entry_adopt(const struct store_job *job)
{
    struct entry *entry = create(job->partition_count);
    if (!entry)
        return NULL;
    entry->job = *job;
    for (uint32_t i = 0; i < job->partition_count; i++) {
        entry->bytes += job->partitions[i].input.bytes;
        if (job->partitions[i].state != PARTITION_DONE)
            continue;
        entry->phases[i] = ENTRY_TAKEN;
        entry->taken++;
        entry->unclaimed--;
    }
    entry->job.state = entry->taken ? JOB_RUNNING : JOB_QUEUED;
    return entry;
}

bool entry_is_final(const struct entry *entry)
{
    return entry->job.state >= JOB_DONE;
}

bool entry_before(const struct entry *a, const struct entry *b, uint64_t now_ns, uint64_t ageing_ns)
{
    uint64_t a_waited = now_ns > a->job.accepted_ns ? now_ns - a->job.accepted_ns : 0;
    uint64_t b_waited = now_ns > b->job.accepted_ns ? now_ns - b->job.accepted_ns : 0;
    enum priority a_aged = priority_aged(a->job.priority, a_waited, ageing_ns);
    enum priority b_aged = priority_aged(b->job.priority, b_waited, ageing_ns);

    return a_aged != b_aged ? a_aged > b_aged : a->job.order < b->job.order;
}

static void cancel_rest(struct entry *entry, enum wire_fault fault)
{
    for (uint32_t i = 0; i < entry->job.partition_count; i++) {
        struct store_partition *partition = &entry->job.partitions[i];
        if (partition->state >= PARTITION_DONE)
            continue;
        partition->state = PARTITION_CANCELLED;
        partition->fault = fault;
    }
}

void entry_fail(struct entry *entry, uint32_t partition, enum wire_fault fault, const char *error)
{
    struct store_partition *failed = &entry->job.partitions[partition];
    failed->state = PARTITION_FAILED;
    failed->fault = fault;
    failed->error = strdup(error);
    entry->job.fault = fault;
    entry->job.error = entry_job_error(entry->job.partition_count, partition, error);
    cancel_rest(entry, FAULT_CANCELLED);
}

void entry_end(struct entry *entry, enum wire_fault fault, const char *error)
{
    entry->job.fault = fault;
    entry->job.error = strdup(error);
    cancel_rest(entry, fault);
}

enum job_state entry_end_state(enum wire_fault fault)
{
    return fault == FAULT_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
}

char *entry_job_error(uint32_t partition_count, uint32_t partition, const char *error)
{
    char *text = NULL;

    if (partition_count == 1)
        return strdup(error);
    return asprintf(&text, "partition %u: %s", partition, error) < 0 ? NULL : text;
}
