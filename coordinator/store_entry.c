/*
 * A job in the memory store: making it from what was accepted, its place among others, and what
 * happens to its partitions when it ends. Called by store_memory.c. A SIGKILL leaves nothing.
 */
#include "coordinator/store_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void entry_free(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->job.partition_count; i++) {
        struct store_partition *partition = &entry->job.partitions[i];
        if (partition->witness_fd >= 0)
            close(partition->witness_fd);
        free(partition->error);
        free(partition->proof);
    }
    free(entry->job.error);
    free(entry->job.partitions);
    free(entry->claimed);
    free(entry);
}

static void entry_fill(struct entry *entry, const struct store_spec *spec)
{
    struct store_job *job = &entry->job;

    memcpy(job->circuit, spec->circuit, sizeof(job->circuit));
    job->circuit[sizeof(job->circuit) - 1] = '\0';
    job->circuit_number = spec->circuit_number;
    memcpy(job->hash, spec->hash, sizeof(job->hash));
    job->lane = spec->lane;
    job->priority = spec->priority;
    job->accepted_ns = spec->now_ns;
    job->deadline_ns = spec->deadline_ns;
    job->partition_count = spec->partition_count;
    entry->unclaimed = spec->partition_count;
    for (uint32_t i = 0; i < spec->partition_count; i++) {
        struct store_partition *partition = &job->partitions[i];
        partition->ms = (struct partition_times){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
        partition->witness_fd = spec->partitions[i].witness_fd;
        partition->bytes = spec->partitions[i].bytes;
        memcpy(partition->label, spec->partitions[i].label, sizeof(partition->label));
        partition->label[sizeof(partition->label) - 1] = '\0';
    }
}

struct entry *entry_create(const struct store_spec *spec)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->job.partitions = calloc(spec->partition_count, sizeof(*entry->job.partitions));
    entry->claimed = calloc(spec->partition_count, sizeof(*entry->claimed));
    if (!entry->job.partitions || !entry->claimed) {
        entry_free(entry);
        return NULL;
    }
    entry_fill(entry, spec);
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

void entry_cancel_rest(struct entry *entry, enum wire_fault fault)
{
    for (uint32_t i = 0; i < entry->job.partition_count; i++) {
        struct store_partition *partition = &entry->job.partitions[i];
        if (partition->state >= PARTITION_DONE)
            continue;
        partition->state = PARTITION_CANCELLED;
        partition->fault = fault;
    }
}

char *entry_job_error(const struct entry *entry, uint32_t partition, const char *error)
{
    char *text = NULL;

    if (entry->job.partition_count == 1)
        return strdup(error);
    return asprintf(&text, "partition %u: %s", partition, error) < 0 ? NULL : text;
}
