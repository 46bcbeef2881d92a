/* clang-format off */
/*
 * The ledger: one function per edge of a slab's life. One writer, the coordinator; a worker's
 * message is a request.
 *
 *          grant           filled          assign          start          computed
 *    FREE ──────> FILLING ───────> READY ───────> ASSIGNED ──────> PROVING ────────> FINALIZING ──> FREE
 *     ▲  credit      │               ▲ <─unassign─   │                │                  │   finalized,
 *     │  taken       │               │               │                │                  │   credit back
 *     └──────────────┘               └───────────────┴────────────────┴──────────────────┘
 *      abandon, reclaim:                reclaim, reprove: same contents, same generation
 *      credit back
 *
 * Besides, ledger_abandon: FILLING, READY, PROVING, FINALIZING -> FREE, with the credit.
 *
 * Every function checks the present word and changes nothing where it does not fit: -ENOENT for a
 * slab number out of range, -ESTALE where seat or generation differ, -EINVAL where the state does.
 * A caller that gets one of these from a worker's message drops the message and counts it.
 * Generation is looked at first, then state, then seat. A seat number that is none is -EINVAL.
 */
/* clang-format on */
#ifndef PAWL_SHM_LEDGER_H
#define PAWL_SHM_LEDGER_H

#include <stdint.h>

struct control;

/* FREE -> FILLING by `seat`, taking a credit of the slab's lane; the new generation to *generation.
 * -EAGAIN: no credit. Only this edge changes the generation. */
int ledger_grant(struct control *control, uint32_t slab, uint32_t seat, uint64_t *generation);
int ledger_filled(struct control *control, uint32_t slab, uint32_t seat,
                  uint64_t generation); /* FILLING -> READY */
int ledger_assign(struct control *control, uint32_t slab, uint32_t seat,
                  uint64_t generation); /* READY -> ASSIGNED */
int ledger_unassign(struct control *control, uint32_t slab, uint32_t seat,
                    uint64_t generation); /* ASSIGNED -> READY */
int ledger_start(struct control *control, uint32_t slab, uint32_t seat,
                 uint64_t generation); /* ASSIGNED -> PROVING */
int ledger_computed(struct control *control, uint32_t slab, uint32_t seat,
                    uint64_t generation); /* -> FINALIZING */
int ledger_finalized(struct control *control, uint32_t slab, uint32_t seat,
                     uint64_t generation); /* -> FREE + credit */
/* PROVING or FINALIZING -> READY: the proof failed or its device did; the same contents are proved
 * again. */
int ledger_reprove(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation);
/* FILLING, READY, PROVING or FINALIZING -> FREE + credit; its holder has stopped using it. `seat`
 * SEAT_NONE for READY. */
int ledger_abandon(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation);

/*
 * Takes from `seat`, whose holder is dead, all that it held: FILLING -> FREE with the credit;
 * ASSIGNED, PROVING and FINALIZING -> READY. Idempotent. Calls `each` (may be NULL) for every slab
 * taken, after the change, with the state it had.
 */
void ledger_reclaim(struct control *control, uint32_t seat,
                    void (*each)(void *arg, uint32_t slab, int was_state, uint64_t generation),
                    void *arg);

/* How many slabs of a lane are in each state; counts[SLAB_STATES]. */
void ledger_count(const struct control *control, uint32_t lane, uint32_t *counts);
/* Whether every slab of the region is FREE. */
int ledger_all_free(const struct control *control);
/* A FREE slab of the lane, `preferred` if that one is FREE; or -ENOSPC. */
int ledger_find_free(const struct control *control, uint32_t lane, int64_t preferred);

#endif
