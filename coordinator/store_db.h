/*
 * The database of jobs: state_dir/jobs.db, SQLite, write-ahead log, every commit synced. All calls
 * wait for the disk, so they belong to the disk thread, or to the start before it. Not for others
 * than store_*.c.
 *
 *   jobs        one row a job; id is what clients know, number the order of acceptance; times are
 *               CLOCK_REALTIME in ns, 0: none
 *   partitions  one row a partition; ms is struct partition_times, as it lies in memory
 *   results     proof and public signals; at most one row a partition, by its primary key
 *
 * PRAGMA user_version is the schema's version. The connection holds the file's lock as long as it
 * lives, so no two coordinators work on one state_dir.
 */
#ifndef PAWL_COORDINATOR_STORE_DB_H
#define PAWL_COORDINATOR_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_DB_VERSION 1

enum db_statement {
    DB_BEGIN,
    DB_COMMIT,
    DB_ROLLBACK,
    DB_FIND_KEY,
    DB_INSERT_JOB,
    DB_INSERT_PARTITION,
    DB_NOTE,
    DB_INSERT_RESULT,
    DB_PARTITION_DONE,
    DB_PARTITION_FAILED,
    DB_CANCEL_REST,
    DB_JOB_FINAL,
    DB_SET_TIMES,
    DB_INPUTS,
    DB_OLD_BY_AGE,
    DB_OLD_BY_COUNT,
    DB_DELETE_RESULTS,
    DB_DELETE_PARTITIONS,
    DB_DELETE_JOB,
    DB_PROBE,
    DB_READ_JOB,
    DB_READ_PARTITIONS,
    DB_LIST,
    DB_ACTIVE,
    DB_STATEMENTS
};

struct store_db {
    sqlite3 *handle;
    sqlite3_stmt *statements[DB_STATEMENTS];
    uint64_t final_count; /* jobs that are final */
    uint64_t last_order;  /* of the newest job at the start */
    char trouble[256];    /* of the last error, one line */
};

/* Opens or creates the file (0600) and brings its schema up to date. 0; -EBUSY: another process
 * has it; -EPROTO: made by a later version; -errno. why: one line. */
int store_db_open(struct store_db *db, const char *path, char *why, size_t bytes);
void store_db_close(struct store_db *db);

/* The statement, without bindings of an earlier use. */
sqlite3_stmt *store_db_use(struct store_db *db, enum db_statement which);
/* Runs a statement that gives no rows. 0 or -errno with db->trouble. */
int store_db_run(struct store_db *db, sqlite3_stmt *statement);
/* The next row: 1, 0 at the end, -errno. */
int store_db_step(struct store_db *db, sqlite3_stmt *statement);
/* Commits of what can be made again are not synced (off) or all are (on). */
void store_db_set_sync(struct store_db *db, int on);
/* Numbers are kept as signed ones. */
void store_db_bind_u64(sqlite3_stmt *statement, int at, uint64_t value);

#endif
