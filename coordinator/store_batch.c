/*
 * Writing a batch of changes; see store_ops.h. One transaction for all; what can be made again
 * (how long the commit took, files that nobody needs) comes after it. Called on the disk thread. A
 * SIGKILL leaves the batch whole or not at all, and perhaps files that the next start sweeps.
 */
#include "coordinator/store_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/store_db.h"

#define DROPPED_AT_ONCE 64u       /* old jobs, with each batch */
#define FREE_PAGES_KEPT 2048u     /* for what comes; those beyond go back to the disk */
#define FREED_PAGES_AT_ONCE "256" /* in each batch */

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC); /* NULL: null */
}

static sqlite3_stmt *use_for(struct store_db *db, enum db_statement which,
                             const struct store_op *op)
{
    sqlite3_stmt *statement = store_db_use(db, which);
    store_db_bind_u64(statement, 1, op->order);
    return statement;
}

static sqlite3_stmt *use_for_partition(struct store_db *db, enum db_statement which,
                                       const struct store_op *op)
{
    sqlite3_stmt *statement = use_for(db, which, op);
    sqlite3_bind_int64(statement, 2, op->partition);
    return statement;
}

/* ---- accepting ---- */

/* Whether a job has the key: accept.error and accept.existing. 0 or -errno. */
static int look_for_key(struct store_db *db, struct store_op *op)
{
    sqlite3_stmt *statement = store_db_use(db, DB_FIND_KEY);
    bind_text(statement, 1, op->accept.key);
    int found = store_db_step(db, statement);
    if (found <= 0)
        return found;
    const void *digest = sqlite3_column_blob(statement, 1);
    int is_same = sqlite3_column_bytes(statement, 1) == 32 && digest &&
                  memcmp(digest, op->accept.digest, 32) == 0;
    op->accept.existing = (uint64_t)sqlite3_column_int64(statement, 0);
    op->accept.error = is_same ? -EALREADY : -EEXIST;
    sqlite3_reset(statement);
    return 0;
}

static int insert_job(struct store_db *db, const struct store_op *op)
{
    const struct store_job *job = op->accept.details;
    sqlite3_stmt *statement = use_for(db, DB_INSERT_JOB, op);
    store_db_bind_u64(statement, 2, op->job);
    bind_text(statement, 3, job->circuit);
    sqlite3_bind_blob(statement, 4, job->hash, sizeof(job->hash), SQLITE_STATIC);
    bind_text(statement, 5, job->program);
    bind_text(statement, 6, job->lane_name);
    sqlite3_bind_int(statement, 7, (int)job->priority);
    store_db_bind_u64(statement, 8, op->accept.accepted_real_ns);
    store_db_bind_u64(statement, 9, op->accept.deadline_real_ns);
    sqlite3_bind_int64(statement, 10, job->partition_count);
    bind_text(statement, 11, op->accept.key);
    sqlite3_bind_blob(statement, 12, op->accept.digest, 32, SQLITE_STATIC);
    return store_db_run(db, statement);
}

static int insert_partition(struct store_db *db, const struct store_op *op, uint32_t partition)
{
    const struct store_input *input = &op->accept.details->partitions[partition].input;
    sqlite3_stmt *statement = use_for(db, DB_INSERT_PARTITION, op);
    sqlite3_bind_int64(statement, 2, partition);
    sqlite3_bind_int(statement, 3, (int)input->kind);
    bind_text(statement, 4, input->name);
    sqlite3_bind_blob(statement, 5, input->sha256, sizeof(input->sha256), SQLITE_STATIC);
    store_db_bind_u64(statement, 6, input->bytes);
    bind_text(statement, 7, input->label);
    return store_db_run(db, statement);
}

static int write_accept(struct store_db *db, struct store_op *op)
{
    op->accept.error = 0;
    op->removals.count = 0;
    int error = op->accept.key ? look_for_key(db, op) : 0;
    if (error)
        return error;
    if (op->accept.error) {
        op_names_add_inputs(&op->removals, op->accept.details);
        return 0;
    }
    error = insert_job(db, op);
    for (uint32_t i = 0; !error && i < op->accept.details->partition_count; i++)
        error = insert_partition(db, op, i);
    return error;
}

/* ---- ends ---- */

static int write_final(struct store_db *db, struct store_op *op, enum job_state state,
                       enum wire_fault fault, const char *error_text, uint64_t final_real_ns)
{
    sqlite3_stmt *statement = use_for(db, DB_JOB_FINAL, op);
    sqlite3_bind_int(statement, 2, (int)state);
    sqlite3_bind_int(statement, 3, (int)fault);
    bind_text(statement, 4, error_text);
    store_db_bind_u64(statement, 5, final_real_ns);
    int error = store_db_run(db, statement);
    if (error)
        return error;
    int more;
    op->removals.count = 0;
    statement = use_for(db, DB_INPUTS, op);
    while ((more = store_db_step(db, statement)) > 0)
        op_names_add(&op->removals, (const char *)sqlite3_column_text(statement, 0));
    return more;
}

static int write_result(struct store_db *db, struct store_op *op)
{
    sqlite3_stmt *statement = use_for_partition(db, DB_INSERT_RESULT, op);
    bind_text(statement, 3, op->result.proof);
    bind_text(statement, 4, op->result.publics);
    int error = store_db_run(db, statement);
    if (error)
        return error;
    statement = use_for_partition(db, DB_PARTITION_DONE, op);
    sqlite3_bind_blob(statement, 3, &op->result.ms, sizeof(op->result.ms), SQLITE_STATIC);
    error = store_db_run(db, statement);
    if (error || !op->result.is_last)
        return error;
    return write_final(db, op, JOB_DONE, 0, NULL, op->result.final_real_ns);
}

static int write_end(struct store_db *db, struct store_op *op)
{
    int error = 0;
    if (op->partition != OP_WHOLE_JOB) {
        sqlite3_stmt *statement = use_for_partition(db, DB_PARTITION_FAILED, op);
        sqlite3_bind_int(statement, 3, (int)op->end.fault);
        bind_text(statement, 4, op->end.error);
        error = store_db_run(db, statement);
    }
    if (error)
        return error;
    sqlite3_stmt *statement = use_for(db, DB_CANCEL_REST, op);
    sqlite3_bind_int(statement, 2,
                     op->partition == OP_WHOLE_JOB ? (int)op->end.fault : (int)FAULT_CANCELLED);
    error = store_db_run(db, statement);
    if (error)
        return error;
    return write_final(db, op, op->end.state, op->end.fault, op->end.job_error,
                       op->end.final_real_ns);
}

static int write_note(struct store_db *db, const struct store_op *op)
{
    sqlite3_stmt *statement = use_for_partition(db, DB_NOTE, op);
    sqlite3_bind_int64(statement, 3, op->note.attempts);
    sqlite3_bind_int64(statement, 4, op->note.deaths);
    return store_db_run(db, statement);
}

static int write_op(struct store_db *db, struct store_op *op)
{
    switch (op->type) {
    case OP_ACCEPT:
        return write_accept(db, op);
    case OP_NOTE:
        return write_note(db, op);
    case OP_RESULT:
        return write_result(db, op);
    case OP_END:
        return write_end(db, op);
    case OP_REMOVE:
        return 0;
    }
    return -EINVAL;
}

/* ---- old jobs ---- */

static int drop_job(struct store_db *db, sqlite3_int64 number)
{
    static const enum db_statement statements[] = {DB_DELETE_RESULTS, DB_DELETE_PARTITIONS,
                                                   DB_DELETE_JOB};
    int error = 0;
    for (size_t i = 0; !error && i < sizeof(statements) / sizeof(statements[0]); i++) {
        sqlite3_stmt *statement = store_db_use(db, statements[i]);
        sqlite3_bind_int64(statement, 1, number);
        error = store_db_run(db, statement);
    }
    return error;
}

/* The jobs of the query, which is bound. How many, or -errno. */
static int64_t drop_found(struct store_db *db, sqlite3_stmt *statement)
{
    sqlite3_int64 numbers[DROPPED_AT_ONCE];
    int64_t count = 0;
    int more, error = 0;
    while (count < DROPPED_AT_ONCE && (more = store_db_step(db, statement)) != 0) {
        if (more < 0)
            return more;
        numbers[count++] = sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    for (int64_t i = 0; !error && i < count; i++)
        error = drop_job(db, numbers[i]);
    return error ? error : count;
}

static int64_t drop_old(const struct store_batch *batch, uint64_t final_count)
{
    struct store_db *db = batch->db;
    int64_t dropped = 0;
    if (batch->kept_ns && batch->now_real_ns > batch->kept_ns) {
        sqlite3_stmt *statement = store_db_use(db, DB_OLD_BY_AGE);
        store_db_bind_u64(statement, 1, batch->now_real_ns - batch->kept_ns);
        sqlite3_bind_int64(statement, 2, DROPPED_AT_ONCE);
        dropped = drop_found(db, statement);
    }
    if (dropped < 0 || final_count <= batch->kept_jobs + (uint64_t)dropped)
        return dropped;
    uint64_t surplus = final_count - batch->kept_jobs - (uint64_t)dropped;
    sqlite3_stmt *statement = store_db_use(db, DB_OLD_BY_COUNT);
    store_db_bind_u64(statement, 1, surplus < DROPPED_AT_ONCE ? surplus : DROPPED_AT_ONCE);
    int64_t more = drop_found(db, statement);
    return more < 0 ? more : dropped + more;
}

/* ---- the transaction ---- */

static uint64_t count_finals(const struct store_batch *batch)
{
    const struct store_op *op;
    uint64_t count = 0;
    STAILQ_FOREACH(op, &batch->ops, next)
    {
        count += op->type == OP_END || (op->type == OP_RESULT && op->result.is_last);
    }
    return count;
}

static int write_all(struct store_batch *batch, uint64_t *final_count)
{
    struct store_op *op;
    STAILQ_FOREACH(op, &batch->ops, next)
    {
        int error = write_op(batch->db, op);
        if (error)
            return error;
    }
    *final_count = batch->db->final_count + count_finals(batch);
    int64_t dropped = drop_old(batch, *final_count);
    if (dropped < 0)
        return (int)dropped;
    *final_count -= (uint64_t)dropped;
    /* Something is always written, so that it shows whether the disk takes it. */
    return store_db_run(batch->db, store_db_use(batch->db, DB_PROBE));
}

static int write_transaction(struct store_batch *batch)
{
    struct store_db *db = batch->db;
    uint64_t final_count;
    int error = store_db_run(db, store_db_use(db, DB_BEGIN));
    if (error)
        return error;
    error = write_all(batch, &final_count);
    if (!error)
        error = store_db_run(db, store_db_use(db, DB_COMMIT));
    if (!error) {
        db->final_count = final_count;
        return 0;
    }
    snprintf(batch->trouble, sizeof(batch->trouble), "%s", db->trouble);
    store_db_run(db, store_db_use(db, DB_ROLLBACK)); /* fails where SQLite has done it itself */
    return error;
}

/* ---- after it ---- */

static void remove_files(const struct store_batch *batch)
{
    const struct store_op *op;
    if (!batch->spool)
        return;
    STAILQ_FOREACH(op, &batch->ops, next)
    {
        int is_due = op->type == OP_REMOVE || !batch->error;
        for (uint32_t i = 0; is_due && i < op->removals.count; i++)
            spool_remove(batch->spool, op->removals.names[i]); /* else the next start does */
    }
}

/* How long results waited for their commit is known only now; it need not survive a power cut. */
static void write_times(struct store_batch *batch)
{
    struct store_db *db = batch->db;
    struct store_op *op;
    uint64_t now_ns = clock_now_ns();
    store_db_set_sync(db, 0);
    int error = store_db_run(db, store_db_use(db, DB_BEGIN));
    STAILQ_FOREACH(op, &batch->ops, next)
    {
        if (error || op->type != OP_RESULT)
            continue;
        op->result.ms.store = (double)(now_ns - op->posted_ns) / (double)NS_PER_MS;
        sqlite3_stmt *statement = use_for_partition(db, DB_SET_TIMES, op);
        sqlite3_bind_blob(statement, 3, &op->result.ms, sizeof(op->result.ms), SQLITE_STATIC);
        error = store_db_run(db, statement);
    }
    if (store_db_run(db, store_db_use(db, DB_COMMIT)))
        store_db_run(db, store_db_use(db, DB_ROLLBACK));
    store_db_set_sync(db, 1);
}

static int has_results(const struct store_batch *batch)
{
    const struct store_op *op;
    STAILQ_FOREACH(op, &batch->ops, next)
    {
        if (op->type == OP_RESULT)
            return 1;
    }
    return 0;
}

static void give_pages_back(struct store_db *db)
{
    sqlite3_stmt *statement;
    uint64_t pages = 0;
    if (sqlite3_prepare_v2(db->handle, "PRAGMA freelist_count", -1, &statement, NULL) != SQLITE_OK)
        return;
    if (sqlite3_step(statement) == SQLITE_ROW)
        pages = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (pages > FREE_PAGES_KEPT)
        sqlite3_exec(db->handle, "PRAGMA incremental_vacuum(" FREED_PAGES_AT_ONCE ")", NULL, NULL,
                     NULL);
}

void store_batch_write(struct store_batch *batch)
{
    uint64_t began_ns = clock_now_ns();
    batch->error = write_transaction(batch);
    batch->commit_ns = clock_now_ns() - began_ns;
    remove_files(batch);
    if (batch->error)
        return;
    if (has_results(batch))
        write_times(batch);
    give_pages_back(batch->db);
}
