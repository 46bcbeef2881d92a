/*
 * The database of jobs: file, schema, statements; see the header. Called by the SQLite store, at
 * the start and on the disk thread. A SIGKILL or a power cut leaves the last commit: the log is
 * replayed at the next start.
 */
#include "coordinator/store_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Nothing here writes where the file is as it should be, so that a start on a full disk succeeds.
 * The log goes back to the file at 1000 pages of 4 KiB; after a burst it is cut to that size.
 */
static const char settings[] = "PRAGMA locking_mode = EXCLUSIVE;"
                               "PRAGMA journal_size_limit = 4194304;"
                               "PRAGMA synchronous = FULL;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA trusted_schema = OFF;";
static const char take_lock[] = "BEGIN IMMEDIATE; COMMIT";

/* Of the file; they last. */
static const char file_settings[] = "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;";

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE jobs (number INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE,"
    " circuit TEXT NOT NULL, hash BLOB NOT NULL, program TEXT NOT NULL, lane TEXT NOT NULL,"
    " priority INTEGER NOT NULL, state INTEGER NOT NULL, fault INTEGER NOT NULL, error TEXT,"
    " accepted_ns INTEGER NOT NULL, deadline_ns INTEGER NOT NULL, final_ns INTEGER NOT NULL,"
    " partition_count INTEGER NOT NULL, key TEXT, digest BLOB NOT NULL);"
    "CREATE UNIQUE INDEX jobs_by_key ON jobs (key) WHERE key IS NOT NULL;"
    "CREATE INDEX jobs_by_end ON jobs (final_ns) WHERE state >= 2;"
    "CREATE INDEX jobs_active ON jobs (number) WHERE state < 2;"
    "CREATE TABLE partitions (job INTEGER NOT NULL, partition INTEGER NOT NULL,"
    " state INTEGER NOT NULL, attempts INTEGER NOT NULL, deaths INTEGER NOT NULL,"
    " fault INTEGER NOT NULL, error TEXT, kind INTEGER NOT NULL, input TEXT NOT NULL,"
    " sha256 BLOB NOT NULL, bytes INTEGER NOT NULL, label TEXT NOT NULL, ms BLOB,"
    " PRIMARY KEY (job, partition)) WITHOUT ROWID;"
    "CREATE TABLE results (job INTEGER NOT NULL, partition INTEGER NOT NULL,"
    " proof TEXT NOT NULL, publics TEXT NOT NULL, PRIMARY KEY (job, partition));"
    "CREATE TABLE probe (one INTEGER PRIMARY KEY, count INTEGER NOT NULL);"
    "INSERT INTO probe VALUES (1, 0);"
    "PRAGMA user_version = 1;"
    "COMMIT;";

#define JOB_COLUMNS                                                                                \
    "number, id, circuit, hash, program, lane, priority, state, fault, error, accepted_ns,"        \
    " deadline_ns, final_ns, partition_count"

/* In partitions.state, 4 is done, 5 failed, 6 cancelled; in jobs.state, 2 and above are final. */
static const char *const texts[DB_STATEMENTS] = {
    [DB_BEGIN] = "BEGIN IMMEDIATE",
    [DB_COMMIT] = "COMMIT",
    [DB_ROLLBACK] = "ROLLBACK",
    [DB_FIND_KEY] = "SELECT id, digest FROM jobs WHERE key = ?1",
    [DB_INSERT_JOB] = "INSERT INTO jobs (" JOB_COLUMNS ", key, digest) VALUES"
                      " (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, NULL, ?8, ?9, 0, ?10, ?11, ?12)",
    [DB_INSERT_PARTITION] = "INSERT INTO partitions VALUES"
                            " (?1, ?2, 0, 0, 0, 0, NULL, ?3, ?4, ?5, ?6, ?7, NULL)",
    [DB_NOTE] =
        "UPDATE partitions SET attempts = ?3, deaths = ?4 WHERE job = ?1 AND partition = ?2",
    [DB_INSERT_RESULT] = "INSERT OR IGNORE INTO results VALUES (?1, ?2, ?3, ?4)",
    [DB_PARTITION_DONE] = "UPDATE partitions SET state = 4, ms = ?3"
                          " WHERE job = ?1 AND partition = ?2",
    [DB_PARTITION_FAILED] = "UPDATE partitions SET state = 5, fault = ?3, error = ?4"
                            " WHERE job = ?1 AND partition = ?2",
    [DB_CANCEL_REST] = "UPDATE partitions SET state = 6, fault = ?2 WHERE job = ?1 AND state < 4",
    [DB_JOB_FINAL] = "UPDATE jobs SET state = ?2, fault = ?3, error = ?4, final_ns = ?5"
                     " WHERE number = ?1 AND state < 2",
    [DB_SET_TIMES] = "UPDATE partitions SET ms = ?3 WHERE job = ?1 AND partition = ?2",
    [DB_INPUTS] = "SELECT input FROM partitions WHERE job = ?1 AND input <> ''",
    [DB_OLD_BY_AGE] = "SELECT number FROM jobs WHERE state >= 2 AND final_ns < ?1"
                      " ORDER BY final_ns LIMIT ?2",
    [DB_OLD_BY_COUNT] = "SELECT number FROM jobs WHERE state >= 2 ORDER BY final_ns LIMIT ?1",
    [DB_DELETE_RESULTS] = "DELETE FROM results WHERE job = ?1",
    [DB_DELETE_PARTITIONS] = "DELETE FROM partitions WHERE job = ?1",
    [DB_DELETE_JOB] = "DELETE FROM jobs WHERE number = ?1",
    [DB_PROBE] = "UPDATE probe SET count = count + 1",
    [DB_READ_JOB] = "SELECT " JOB_COLUMNS " FROM jobs WHERE id = ?1",
    [DB_READ_PARTITIONS] =
        "SELECT p.partition, p.state, p.attempts, p.deaths, p.fault, p.error, p.kind, p.input,"
        " p.sha256, p.bytes, p.label, p.ms, r.proof, r.publics FROM partitions p"
        " LEFT JOIN results r ON ?2 AND r.job = p.job AND r.partition = p.partition"
        " WHERE p.job = ?1",
    [DB_LIST] = "SELECT " JOB_COLUMNS " FROM jobs WHERE number < ?1 ORDER BY number DESC LIMIT ?2",
    [DB_ACTIVE] = "SELECT " JOB_COLUMNS " FROM jobs WHERE state < 2 ORDER BY number",
};

/* ---- errors ---- */

static int errno_of(sqlite3 *handle, int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_CONSTRAINT:
        return -EEXIST;
    case SQLITE_IOERR:
        return sqlite3_system_errno(handle) == ENOSPC ? -ENOSPC : -EIO;
    default:
        return -EIO;
    }
}

static int take_error(struct store_db *db, int code)
{
    int error = errno_of(db->handle, code);
    int cause = sqlite3_system_errno(db->handle);
    snprintf(db->trouble, sizeof(db->trouble), "%s%s%s", sqlite3_errmsg(db->handle),
             cause ? ": " : "", cause ? strerror(cause) : "");
    return error;
}

/* ---- statements ---- */

sqlite3_stmt *store_db_use(struct store_db *db, enum db_statement which)
{
    sqlite3_stmt *statement = db->statements[which];
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return statement;
}

int store_db_step(struct store_db *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    int error = code == SQLITE_DONE ? 0 : take_error(db, code);
    sqlite3_reset(statement);
    return error;
}

int store_db_run(struct store_db *db, sqlite3_stmt *statement)
{
    int error = store_db_step(db, statement);
    sqlite3_reset(statement);
    return error > 0 ? 0 : error;
}

void store_db_bind_u64(sqlite3_stmt *statement, int at, uint64_t value)
{
    sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
}

void store_db_set_sync(struct store_db *db, int on)
{
    sqlite3_exec(db->handle, on ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL,
                 NULL, NULL);
}

/* ---- opening ---- */

static int exec(struct store_db *db, const char *text)
{
    int code = sqlite3_exec(db->handle, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : take_error(db, code);
}

/* A number that a query gives. 0 or -errno. */
static int read_number(struct store_db *db, const char *text, uint64_t *out)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db->handle, text, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return take_error(db, code);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = (uint64_t)sqlite3_column_int64(statement, 0);
    int error = code == SQLITE_ROW ? 0 : take_error(db, code);
    sqlite3_finalize(statement);
    return error;
}

/* SQLite would make it with the umask's mode. */
static int make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

static int bring_schema(struct store_db *db)
{
    uint64_t version = 0;
    int error = read_number(db, "PRAGMA user_version", &version);
    if (!error && version == 0)
        error = exec(db, file_settings);
    if (!error && version == 0)
        error = exec(db, schema);
    if (!error)
        error = exec(db, take_lock);
    if (!error && version > STORE_DB_VERSION) {
        snprintf(db->trouble, sizeof(db->trouble), "a later version made it (schema %d)",
                 (int)version);
        error = -EPROTO;
    }
    return error;
}

static int prepare_all(struct store_db *db)
{
    for (int i = 0; i < DB_STATEMENTS; i++) {
        int code = sqlite3_prepare_v3(db->handle, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &db->statements[i], NULL);
        if (code != SQLITE_OK)
            return take_error(db, code);
    }
    return 0;
}

/* SQLite's NOFOLLOW refuses a link anywhere in a path; we only want none for the file itself. */
static int open_handle(struct store_db *db, const char *path)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
    char *resolved = realpath(path, NULL);
    int code = sqlite3_open_v2(resolved ? resolved : path, &db->handle, flags, NULL);
    free(resolved);
    if (!db->handle)
        return -ENOMEM;
    sqlite3_extended_result_codes(db->handle, 1);
    return code == SQLITE_OK ? 0 : take_error(db, code);
}

int store_db_open(struct store_db *db, const char *path, char *why, size_t bytes)
{
    *db = (struct store_db){0};
    int error = make_file(path);
    if (error) {
        snprintf(why, bytes, "%s", strerror(-error));
        return error;
    }
    error = open_handle(db, path);
    if (!error)
        error = exec(db, settings);
    if (!error)
        error = bring_schema(db);
    if (!error)
        error = prepare_all(db);
    if (!error)
        error = read_number(db, "SELECT count(*) FROM jobs WHERE state >= 2", &db->final_count);
    if (!error)
        error = read_number(db, "SELECT coalesce(max(number), 0) FROM jobs", &db->last_order);
    if (!error)
        return 0;
    snprintf(why, bytes, "%s", error == -EBUSY ? "another process has it open" : db->trouble);
    store_db_close(db);
    return error;
}

void store_db_close(struct store_db *db)
{
    for (int i = 0; i < DB_STATEMENTS; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_close(db->handle);
    *db = (struct store_db){0};
}
