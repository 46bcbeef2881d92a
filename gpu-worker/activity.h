/*
 * What the worker shows on its seat page while two threads work: the prover's stage where it has
 * one, else the finalizer's, else idle; a progress counter that either moves; time at work and
 * idle.
 *
 * A prover that waits for the finalizer shows nothing, so that a finalizer that hangs is seen as
 * what it is. A SIGKILL leaves the last values for the coordinator to read.
 */
#ifndef PAWL_GPU_WORKER_ACTIVITY_H
#define PAWL_GPU_WORKER_ACTIVITY_H

#include "shm/seat.h"

struct activity;
struct wire_prove;

enum activity_side { SIDE_PROVER, SIDE_FINALIZER, SIDES };

struct activity *activity_create(struct seat_page *page); /* NULL: no memory */
void activity_destroy(struct activity *activity);
/* `side` is in `stage` of that assignment. */
void activity_enter(struct activity *activity, enum activity_side side, enum worker_stage stage,
                    const struct wire_prove *order);
/* `side` has nothing to do. */
void activity_rest(struct activity *activity, enum activity_side side);
void activity_progress(struct activity *activity);
void activity_count_done(struct activity *activity);

#endif
