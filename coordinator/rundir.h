/*
 * The folders of a coordinator and the lock that says that it runs.
 *
 * run_dir/coordinator.lock is locked with flock for the coordinator's life and holds its pid. A
 * SIGKILL leaves the file unlocked; the next start takes it over.
 */
#ifndef PAWL_COORDINATOR_RUNDIR_H
#define PAWL_COORDINATOR_RUNDIR_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

struct config;

struct rundir {
    char lock_path[PATH_MAX];
    int lock_fd; /* -1: not locked */
};

/*
 * Makes run_dir, state_dir and images_dir (0700; run_dir 0711 where other users are to reach the
 * sockets). 0 or -errno with the folder's path in *what.
 */
int rundir_make_folders(const struct config *config, const char **what);
/* 0; -EALREADY with the holder's pid (0: unknown); -errno. */
int rundir_lock(struct rundir *rundir, const char *run_dir, int32_t *holder);
/* Removes the lock file and lets go of the lock. */
void rundir_unlock(struct rundir *rundir);
/* Makes the folder and those above it that are missing, with that mode. 0 or -errno. */
int rundir_make(const char *path, mode_t mode);

#endif
