/*
 * The spool: the bytes of jobs, owned by the service from their acceptance to their job's end. They
 * lie in state_dir/spool (0700), a file (0600) of a random name for each; or in memfds without a
 * name, for an instance whose jobs do not outlive it.
 *
 * All calls may wait for the disk: they belong to the disk thread, or to the start before it. But
 * spool_open_file is one open(2) of a local file, and the loop calls it too.
 */
#ifndef PAWL_COORDINATOR_SPOOL_H
#define PAWL_COORDINATOR_SPOOL_H

#include <stdint.h>

#define SPOOL_NAME_BYTES 33 /* 32 hex digits; "" for a memfd */

struct spool {
    int folder;               /* -1: memfds */
    uint64_t created, synced; /* files made, and how many of them the folder's last sync covered */
};

/* Makes the folder below state_dir where it is missing; NULL: memfds. 0 or -errno. */
int spool_open(struct spool *spool, const char *state_dir);
void spool_close(struct spool *spool);

/* A new, empty file: its name and a fd to write and read, the caller's; or -errno. */
int spool_create(struct spool *spool, char name[SPOOL_NAME_BYTES]);
/* The file of that fd is whole: it is synced, or sealed. 0 or -errno. */
int spool_keep(const struct spool *spool, int fd);
/* The names of all files made so far are durable; at most one fsync for as many as came together.
 * 0 or -errno. */
int spool_sync(struct spool *spool);
/* A read-only fd, the caller's; -ENOENT, -EINVAL where that is no name of ours, -errno. */
int spool_open_file(const struct spool *spool, const char *name);
/* 0, also where it is gone already; -errno. */
int spool_remove(const struct spool *spool, const char *name);
/* At the start: removes the files that nobody owns. How many, or -errno. */
int64_t spool_sweep(const struct spool *spool, int (*is_owned)(void *arg, const char *name),
                    void *arg);

#endif
