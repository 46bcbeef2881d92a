/*
 * Jobs out of the database; see store_ops.h. Lengths and kinds are looked at as if somebody else
 * had written them. Called on the disk thread and at the start.
 */
#include "coordinator/store_entry.h"
#include "coordinator/store_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store_db.h"

#define PARTITIONS_MAX (1u << 20)

static void take_text(sqlite3_stmt *row, int column, char *out, size_t bytes)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    memset(out, 0, bytes);
    if (text)
        strncpy(out, text, bytes - 1);
}

static void take_blob(sqlite3_stmt *row, int column, void *out, size_t bytes)
{
    const void *blob = sqlite3_column_blob(row, column);
    if (blob && (size_t)sqlite3_column_bytes(row, column) == bytes)
        memcpy(out, blob, bytes);
}

static uint64_t take_u64(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static uint32_t take_below(sqlite3_stmt *row, int column, uint32_t most)
{
    sqlite3_int64 value = sqlite3_column_int64(row, column);
    return value < 0 ? 0 : value > most ? most : (uint32_t)value;
}

/* 0 or -ENOMEM. */
static int take_string(sqlite3_stmt *row, int column, char **out)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    *out = text ? strdup(text) : NULL;
    return text && !*out ? -ENOMEM : 0;
}

/* ---- jobs ---- */

static int take_job(sqlite3_stmt *row, struct store_job *job)
{
    *job = (struct store_job){.order = take_u64(row, 0), .id = take_u64(row, 1)};
    take_text(row, 2, job->circuit, sizeof(job->circuit));
    take_blob(row, 3, job->hash, sizeof(job->hash));
    take_text(row, 4, job->program, sizeof(job->program));
    take_text(row, 5, job->lane_name, sizeof(job->lane_name));
    job->priority = (enum priority)take_below(row, 6, PRIORITIES - 1);
    job->state = (enum job_state)take_below(row, 7, JOB_CANCELLED);
    job->fault = (enum wire_fault)take_below(row, 8, FAULT_DEADLINE);
    job->accepted_ns = take_u64(row, 10);
    job->deadline_ns = take_u64(row, 11);
    job->final_ns = take_u64(row, 12);
    job->partition_count = take_below(row, 13, PARTITIONS_MAX);
    return take_string(row, 9, &job->error);
}

/* ---- partitions ---- */

static int take_result(sqlite3_stmt *row, struct store_partition *partition)
{
    const char *proof = (const char *)sqlite3_column_text(row, 12);
    const char *publics = (const char *)sqlite3_column_text(row, 13);
    if (!proof || !publics)
        return 0;
    size_t proof_bytes = strlen(proof) + 1, publics_bytes = strlen(publics) + 1;
    partition->proof = malloc(proof_bytes + publics_bytes);
    if (!partition->proof)
        return -ENOMEM;
    memcpy(partition->proof, proof, proof_bytes);
    partition->publics = partition->proof + proof_bytes;
    memcpy(partition->publics, publics, publics_bytes);
    return 0;
}

static int take_partition(sqlite3_stmt *row, struct store_partition *partition)
{
    struct store_input *input = &partition->input;
    partition->state = (enum partition_state)take_below(row, 1, PARTITION_CANCELLED);
    partition->attempts = take_below(row, 2, UINT32_MAX);
    partition->deaths = take_below(row, 3, UINT32_MAX);
    partition->fault = (enum wire_fault)take_below(row, 4, FAULT_DEADLINE);
    input->kind = (enum input_kind)take_below(row, 6, INPUT_JSON);
    take_text(row, 7, input->name, sizeof(input->name));
    take_blob(row, 8, input->sha256, sizeof(input->sha256));
    input->bytes = take_u64(row, 9);
    take_text(row, 10, input->label, sizeof(input->label));
    take_blob(row, 11, &partition->ms, sizeof(partition->ms));
    int error = take_string(row, 5, &partition->error);
    return error ? error : take_result(row, partition);
}

static int make_partitions(struct store_job *job)
{
    job->partitions =
        calloc(job->partition_count ? job->partition_count : 1, sizeof(*job->partitions));
    if (!job->partitions)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->partition_count; i++) {
        job->partitions[i].witness_fd = -1;
        job->partitions[i].ms =
            (struct partition_times){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    }
    return 0;
}

static int read_partitions(struct store_db *db, int with_results, struct store_job *job)
{
    sqlite3_stmt *statement = store_db_use(db, DB_READ_PARTITIONS);
    int more = 0, error = make_partitions(job);
    store_db_bind_u64(statement, 1, job->order);
    sqlite3_bind_int(statement, 2, with_results);
    while (!error && (more = store_db_step(db, statement)) > 0) {
        uint64_t at = take_u64(statement, 0);
        if (at < job->partition_count && !job->partitions[at].proof)
            error = take_partition(statement, &job->partitions[at]);
    }
    sqlite3_reset(statement);
    return error ? error : more;
}

int store_db_read(struct store_db *db, uint64_t id, int with_results, struct store_job *job)
{
    sqlite3_stmt *statement = store_db_use(db, DB_READ_JOB);
    *job = (struct store_job){0};
    store_db_bind_u64(statement, 1, id);
    int found = store_db_step(db, statement);
    if (found <= 0)
        return found ? found : -ENOENT;
    int error = take_job(statement, job);
    sqlite3_reset(statement);
    if (!error)
        error = read_partitions(db, with_results, job);
    if (error)
        store_job_clear(job);
    return error;
}

int64_t store_db_list(struct store_db *db, uint64_t before, uint32_t n, struct store_job *jobs)
{
    sqlite3_stmt *statement = store_db_use(db, DB_LIST);
    int64_t count = 0;
    int more = 0, error = 0;
    store_db_bind_u64(statement, 1, before && before < INT64_MAX ? before : INT64_MAX);
    sqlite3_bind_int64(statement, 2, n);
    while (!error && (more = store_db_step(db, statement)) > 0)
        error = take_job(statement, &jobs[count++]);
    sqlite3_reset(statement);
    error = error ? error : more;
    if (!error)
        return count;
    while (count)
        store_job_clear(&jobs[--count]);
    return error;
}

int store_db_active(struct store_db *db, int (*each)(void *arg, struct store_job *job), void *arg)
{
    sqlite3_stmt *statement = store_db_use(db, DB_ACTIVE);
    int more = 0, error = 0;
    while (!error && (more = store_db_step(db, statement)) > 0) {
        struct store_job job;
        error = take_job(statement, &job);
        if (!error)
            error = read_partitions(db, 0, &job);
        if (error)
            store_job_clear(&job);
        else
            error = each(arg, &job);
    }
    sqlite3_reset(statement);
    return error ? error : more;
}
