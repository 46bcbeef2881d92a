/*
 * The desk: every assignment that this worker holds, and the one place that says where it is.
 *
 *          desk_put         desk_take          desk_hand_over            desk_end, desk_clear
 *   socket ────────> STAGED ─────────> PROVING ──────────────> FINALIZING ──────────────────>
 *                      │ │               ▲ │ desk_end                      PROVED, FAILED
 *      desk_look_ahead │ └───> AHEAD ────┘ └──> FAILED, RELEASED           or RELEASED
 *                      │         │   desk_take: before all that is staged
 *                      │         └──> RELEASED (desk_end)
 *                      └──> RELEASED (desk_cancel, desk_leave)
 *
 * One slab is PROVING and one FINALIZING; a computed one waits, still PROVING, until the finalizer
 * is free. AHEAD is the next one, whose slab the device may be reading already while another is
 * PROVING: it can be cancelled, but only the prover can say that it is no longer read. Exactly one
 * message ends an assignment: who takes it off the desk (desk_end, or desk_cancel and desk_leave of
 * a staged one) sends it, and a later CANCEL finds nothing.
 */
#ifndef PAWL_GPU_WORKER_DESK_H
#define PAWL_GPU_WORKER_DESK_H

#include <stdatomic.h>
#include <stdint.h>

#include "kernels/curves.h"
#include "shm/slab.h"
#include "shm/wire.h"

struct desk;
struct key;

struct assignment {
    struct wire_prove order;
    const void *slab; /* in the read-only mapping of all slabs */
    uint64_t slab_bytes;
    struct key *key; /* held */
    /* the prover's, then the finalizer's */
    struct slab_header header; /* a checked copy */
    struct proof_sums sums;
    struct wire_times times;
    int looked_at; /* the prover's: it was AHEAD, and its upload was begun where it could be */
    _Atomic int cancelled; /* set by desk_cancel; only a hint until desk_end */
    struct assignment *next;
};

static inline int assignment_is_cancelled(const struct assignment *assignment)
{
    return atomic_load_explicit(&assignment->cancelled, memory_order_relaxed);
}

struct desk *desk_create(void); /* NULL: no memory */
void desk_destroy(struct desk *desk);

/* ---- the socket's thread ---- */
/* Stages it. 0; -ESHUTDOWN after desk_leave, -ENOBUFS where more are staged than there can be
 * slabs: the caller keeps it. */
int desk_put(struct desk *desk, struct assignment *assignment);
/*
 * Cancels. A staged one is taken off the desk and returned: the caller ends it with RELEASED. One
 * ahead or at work is told, and whoever works on it ends it; NULL for that, and for a number
 * unknown here.
 */
struct assignment *desk_cancel(struct desk *desk, uint64_t number);
/* Nothing new is staged from now on; returns the staged ones (linked by next), off the desk. One
 * ahead is cancelled. */
struct assignment *desk_leave(struct desk *desk);
/* 1 where nothing on the desk reads a slab: nothing staged, and all else ended. */
int desk_is_empty(struct desk *desk);
/* Has desk_take return without an assignment once. */
void desk_wake(struct desk *desk);

/* ---- the prover ---- */
enum desk_answer { DESK_WORK, DESK_WOKEN, DESK_OVER };
/* Waits for the one ahead, else the next staged one, which is PROVING then. DESK_OVER: left, and
 * neither is there. */
enum desk_answer desk_take(struct desk *desk, struct assignment **assignment);
/* The one ahead, which the next staged one becomes where there is none. NULL: nothing is staged. */
struct assignment *desk_look_ahead(struct desk *desk);
/* Waits until the finalizer is free or the assignment is cancelled: 0 or -ECANCELED. */
int desk_await_finalizer(struct desk *desk, struct assignment *assignment);
/* After desk_await_finalizer gave 0. */
void desk_hand_over(struct desk *desk, struct assignment *assignment);
/* The prover has ended; desk_receive returns NULL once nothing is left. */
void desk_close(struct desk *desk);

/* ---- the finalizer ---- */
struct assignment *desk_receive(struct desk *desk);
/* It has ended what it received: the prover may hand over the next. */
void desk_clear(struct desk *desk);

/* ---- whoever works on it ---- */
/* Takes it off the desk. 1 where it was cancelled before, else 0. */
int desk_end(struct desk *desk, struct assignment *assignment);

#endif
