/*
 * The edges of a slab's life, each one store of the slab's word. Called by the coordinator alone. A
 * SIGKILL of a worker at any point leaves a legal word that names it, for ledger_reclaim; a SIGKILL
 * of the coordinator ends the object's use.
 */
#include "shm/ledger.h"

#include <errno.h>
#include <stdatomic.h>

#include "shm/control.h"
#include "shm/credit.h"

static void ledger_store(struct control *control, uint32_t slab, struct slab_word word)
{
    /* Pairs with slab_word_load. */
    atomic_store_explicit(&control->slabs[slab].word, slab_word_pack(word), memory_order_release);
}

/* To FREE: the word first, then the credit, so that a credit never stands for a slab that is out.
 * The generation stays: it belongs to the filling. */
static void ledger_free(struct control *control, uint32_t slab, struct slab_word word)
{
    word.state = SLAB_FREE;
    word.seat = SEAT_NONE;
    ledger_store(control, slab, word);
    credit_return(control, control->slabs[slab].lane);
}

static void ledger_make_ready(struct control *control, uint32_t slab, struct slab_word word)
{
    word.state = SLAB_READY;
    word.seat = SEAT_NONE;
    ledger_store(control, slab, word);
}

static unsigned bit(enum slab_state state)
{
    return 1u << state;
}

/* The slab's word where generation, state (one of the set `states`) and seat are as the caller
 * thinks. */
static int ledger_look(const struct control *control, uint32_t slab, uint32_t seat,
                       uint64_t generation, unsigned states, struct slab_word *word)
{
    if (slab >= control->header->slab_count)
        return -ENOENT;
    *word = slab_word_load(control, slab);
    if (word->generation != generation)
        return -ESTALE;
    if (!(bit(word->state) & states))
        return -EINVAL;
    return word->seat == seat ? 0 : -ESTALE;
}

/* An edge that keeps its holder. */
static int ledger_advance(struct control *control, uint32_t slab, uint32_t seat,
                          uint64_t generation, enum slab_state from, enum slab_state to)
{
    struct slab_word word;
    int error = ledger_look(control, slab, seat, generation, bit(from), &word);

    if (error)
        return error;
    word.state = to;
    ledger_store(control, slab, word);
    return 0;
}

/* An edge to READY, which nobody holds. */
static int ledger_put_down(struct control *control, uint32_t slab, uint32_t seat,
                           uint64_t generation, unsigned states)
{
    struct slab_word word;
    int error = ledger_look(control, slab, seat, generation, states, &word);

    if (!error)
        ledger_make_ready(control, slab, word);
    return error;
}

/* An edge to FREE. */
static int ledger_give_back(struct control *control, uint32_t slab, uint32_t seat,
                            uint64_t generation, unsigned states)
{
    struct slab_word word;
    int error = ledger_look(control, slab, seat, generation, states, &word);

    if (!error)
        ledger_free(control, slab, word);
    return error;
}

int ledger_grant(struct control *control, uint32_t slab, uint32_t seat, uint64_t *generation)
{
    if (slab >= control->header->slab_count)
        return -ENOENT;
    struct slab_word word = slab_word_load(control, slab);
    if (word.state != SLAB_FREE || seat >= control->header->seat_count)
        return -EINVAL;
    if (word.generation == SLAB_GENERATION_MAX)
        return -EOVERFLOW;
    uint32_t lane = control->slabs[slab].lane;
    int error = credit_take(control, lane);
    if (error)
        return error;
    word.state = SLAB_FILLING;
    word.seat = seat;
    word.generation++;
    ledger_store(control, slab, word);
    /* One writer; nothing is ordered behind this counter. */
    _Atomic uint64_t *grants = &control->lanes[lane].credit.grants_total;
    atomic_store_explicit(grants, atomic_load_explicit(grants, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    *generation = word.generation;
    return 0;
}

int ledger_filled(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_put_down(control, slab, seat, generation, bit(SLAB_FILLING));
}

int ledger_assign(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    struct slab_word word;
    int error = ledger_look(control, slab, SEAT_NONE, generation, bit(SLAB_READY), &word);

    if (error)
        return error;
    if (seat >= control->header->seat_count)
        return -EINVAL;
    word.state = SLAB_ASSIGNED;
    word.seat = seat;
    ledger_store(control, slab, word);
    return 0;
}

int ledger_unassign(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_put_down(control, slab, seat, generation, bit(SLAB_ASSIGNED));
}

int ledger_start(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_advance(control, slab, seat, generation, SLAB_ASSIGNED, SLAB_PROVING);
}

int ledger_computed(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_advance(control, slab, seat, generation, SLAB_PROVING, SLAB_FINALIZING);
}

int ledger_finalized(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_give_back(control, slab, seat, generation, bit(SLAB_FINALIZING));
}

int ledger_reprove(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_put_down(control, slab, seat, generation,
                           bit(SLAB_PROVING) | bit(SLAB_FINALIZING));
}

int ledger_abandon(struct control *control, uint32_t slab, uint32_t seat, uint64_t generation)
{
    return ledger_give_back(control, slab, seat, generation,
                            bit(SLAB_FILLING) | bit(SLAB_READY) | bit(SLAB_PROVING) |
                                bit(SLAB_FINALIZING));
}

void ledger_reclaim(struct control *control, uint32_t seat,
                    void (*each)(void *arg, uint32_t slab, int was_state, uint64_t generation),
                    void *arg)
{
    /* READY and FREE slabs carry SEAT_NONE: no seat number matches them. */
    if (seat >= control->header->seat_count)
        return;
    for (uint32_t slab = 0; slab < control->header->slab_count; slab++) {
        struct slab_word word = slab_word_load(control, slab);

        if (word.seat != seat)
            continue;
        if (word.state == SLAB_FILLING)
            ledger_free(control, slab, word);
        else if (bit(word.state) & (bit(SLAB_ASSIGNED) | bit(SLAB_PROVING) | bit(SLAB_FINALIZING)))
            ledger_make_ready(control, slab, word);
        else
            continue;
        if (each)
            each(arg, slab, (int)word.state, word.generation);
    }
}

void ledger_count(const struct control *control, uint32_t lane, uint32_t *counts)
{
    for (int state = 0; state < SLAB_STATES; state++)
        counts[state] = 0;
    if (lane >= control->header->lane_count)
        return;
    const struct control_lane *entry = &control->lanes[lane];
    for (uint32_t i = 0; i < entry->slab_count; i++)
        counts[slab_word_load(control, entry->first_slab + i).state]++;
}

static int is_free(const struct control *control, uint32_t slab)
{
    return slab_word_load(control, slab).state == SLAB_FREE;
}

int ledger_all_free(const struct control *control)
{
    for (uint32_t slab = 0; slab < control->header->slab_count; slab++)
        if (slab_word_load(control, slab).state != SLAB_FREE)
            return 0;
    return 1;
}

int ledger_find_free(const struct control *control, uint32_t lane, int64_t preferred)
{
    if (lane >= control->header->lane_count)
        return -ENOSPC;
    const struct control_lane *entry = &control->lanes[lane];
    int64_t first = entry->first_slab, end = first + entry->slab_count;

    if (preferred >= first && preferred < end && is_free(control, (uint32_t)preferred))
        return (int)preferred;
    for (int64_t slab = first; slab < end; slab++)
        if (is_free(control, (uint32_t)slab))
            return (int)slab;
    return -ENOSPC;
}
