/*
 * The job store in a database, state_dir/jobs.db, with the inputs in the spool; see store.h for
 * what it does and store_db.h for what lies in it.
 *
 * Claims are decided on the loop, from the jobs that are not final (store_index.h); the database
 * is the truth for what was accepted, done, failed and cancelled, and all of it is told only after
 * its commit. What is posted while a commit is under way goes together into the next. Results and
 * final jobs lie in the database alone.
 */
#ifndef PAWL_COORDINATOR_STORE_SQLITE_H
#define PAWL_COORDINATOR_STORE_SQLITE_H

#include "coordinator/store.h"

struct disk_thread;
struct event_base;

struct store_sqlite_options {
    const char *path;        /* of the database */
    struct event_base *base; /* borrowed, as are the next two */
    struct disk_thread *disk;
    const struct spool *spool; /* NULL: inputs have fds, and are gone after a restart */
};

/*
 * Opens the database and reads the jobs that are not final: they are claimed after `resolve`. To be
 * destroyed when the disk thread is drained. 0 or -errno with a line in why: -EBUSY: another
 * process has it; -EPROTO: made by a later version; -EIO, -ENOSPC ...
 */
int store_sqlite_create(struct store **store, const struct store_limits *limits,
                        const struct store_sqlite_options *options, char *why, size_t bytes);

#endif
