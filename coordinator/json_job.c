/*
 * Jobs as JSON; see the header. Called by http_jobs.c.
 */
#include "coordinator/json_job.h"

#include <inttypes.h>
#include <stdio.h>

#include "coordinator/json_writer.h"
#include "coordinator/store.h"

static void put_fault(struct json_writer *json, const char *error, enum wire_fault fault)
{
    jsonw_put_text(json, "error", error);
    jsonw_put_text(json, "error_class", fault ? wire_fault_name(fault) : NULL);
}

static void put_head(struct json_writer *json, const struct store_job *job)
{
    char id[17];
    snprintf(id, sizeof(id), "%016" PRIx64, job->id);
    jsonw_put_text(json, "id", id);
    jsonw_put_text(json, "circuit", job->circuit);
    jsonw_put_text(json, "state", job_state_name(job->state));
    jsonw_put_text(json, "priority", priority_name(job->priority));
    put_fault(json, job->error, job->fault);
}

/* What is not known yet has taken no time so far. */
static void put_ms(struct json_writer *json, const char *key, double ms)
{
    jsonw_put_real(json, key, ms > 0 ? ms : 0);
}

static void put_times(struct json_writer *json, const struct partition_times *ms)
{
    jsonw_put_open(json, "ms", '{');
    put_ms(json, "queue", ms->queue);
    put_ms(json, "witness", ms->witness);
    put_ms(json, "rows", ms->rows);
    put_ms(json, "ready", ms->ready);
    put_ms(json, "upload", ms->upload);
    put_ms(json, "ntt", ms->ntt);
    put_ms(json, "msm", ms->msm);
    put_ms(json, "prove", ms->prove);
    put_ms(json, "finalize", ms->finalize);
    put_ms(json, "verify", ms->verify);
    put_ms(json, "store", ms->store);
    jsonw_close(json, '}');
}

static void put_partition(struct json_writer *json, const struct store_partition *partition,
                          uint32_t index)
{
    jsonw_open(json, '{');
    jsonw_put_uint(json, "index", index);
    jsonw_put_text(json, "state", partition_state_name(partition->state));
    jsonw_put_uint(json, "attempts", partition->attempts);
    jsonw_put_uint(json, "deaths", partition->deaths);
    put_fault(json, partition->error, partition->fault);
    jsonw_put_raw(json, "proof", partition->proof);
    jsonw_put_raw(json, "public", partition->publics);
    put_times(json, &partition->ms);
    jsonw_close(json, '}');
}

void json_job(struct json_writer *json, const struct store_job *job, uint64_t position)
{
    jsonw_open(json, '{');
    put_head(json, job);
    jsonw_key(json, "position");
    if (position)
        jsonw_uint(json, position);
    else
        jsonw_null(json);
    jsonw_put_open(json, "partitions", '[');
    for (uint32_t i = 0; i < job->partition_count; i++)
        put_partition(json, &job->partitions[i], i);
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

void json_job_summary(struct json_writer *json, const struct store_job *job)
{
    jsonw_open(json, '{');
    put_head(json, job);
    jsonw_put_uint(json, "order", job->order);
    jsonw_put_uint(json, "partition_count", job->partition_count);
    jsonw_close(json, '}');
}
