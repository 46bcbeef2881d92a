/*
 * Where a worker's witness programs run: $TMPDIR/pawl-programs-UID/WORKER/run, all 0700; in /tmp
 * where TMPDIR is not set or cannot be used.
 * WORKER is locked (flock) while its worker lives; whoever opens a place removes those of dead
 * workers. `run` holds one input and one witness and is there during one program only. A SIGKILL
 * leaves WORKER, unlocked, for the next worker's sweep.
 */
#ifndef PAWL_SYNTH_WORKER_WITNESS_PLACE_H
#define PAWL_SYNTH_WORKER_WITNESS_PLACE_H

struct complaint;

#define WITNESS_PLACE_NAME_BYTES 32

struct witness_place {
    int base_fd, worker_fd; /* -1: not open */
    char name[WITNESS_PLACE_NAME_BYTES];
};

/* Opens the worker's folder; does nothing where it is open. 0 or -errno with the complaint. */
int witness_place_open(struct witness_place *place, struct complaint *complaint);
/* A fresh, empty `run`, for one program: its fd, or -errno with the complaint. */
int witness_place_enter(const struct witness_place *place, struct complaint *complaint);
/* Removes `run` and what is in it. */
void witness_place_leave(const struct witness_place *place);
/* Removes the worker's folder. */
void witness_place_close(struct witness_place *place);

#endif
