/*
 * The credit counter. Called by the ledger's edges (take, return), by the coordinator (limit,
 * check) and by whoever shows the status (read). It is derived: taken - returned is the number of
 * slabs that are out, and available = max(0, limit - out), so that no path can leak a credit or
 * make one. A SIGKILL of the coordinator ends the object's use altogether.
 */
#include "shm/credit.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "shm/control.h"
#include "shm/trace.h"

/* All words here have one writer and are counters on their own: readers (credit_read,
 * credit_available) order nothing behind them, so loads and stores are relaxed. */
static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void put(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static struct control_credit *credit_of(const struct control *control, uint32_t lane)
{
    assert(lane < control->header->lane_count);
    return &control->lanes[lane].credit;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void derive_available(struct control_credit *credit)
{
    uint64_t out = get(&credit->taken_total) - get(&credit->returned_total);
    uint64_t limit = get(&credit->limit);

    put(&credit->available, limit > out ? limit - out : 0);
}

static void append_instant(struct control *control, uint32_t lane, enum trace_kind kind)
{
    const struct control_credit *credit = credit_of(control, lane);
    struct trace_event event = {
        .start_ns = monotonic_ns(),
        .kind = (uint16_t)kind,
        .lane = (uint16_t)lane,
        .slab = UINT32_MAX,
        .seat = SEAT_NONE,
        .limit = (uint32_t)get(&credit->limit),
        .available = (uint32_t)get(&credit->available),
    };

    trace_add(control, &event);
}

int credit_take(struct control *control, uint32_t lane)
{
    struct control_credit *credit = credit_of(control, lane);

    if (get(&credit->available) == 0)
        return -EAGAIN;
    put(&credit->taken_total, get(&credit->taken_total) + 1);
    derive_available(credit);
    append_instant(control, lane, TRACE_CREDIT_TAKE);
    return 0;
}

void credit_return(struct control *control, uint32_t lane)
{
    struct control_credit *credit = credit_of(control, lane);

    assert(get(&credit->returned_total) < get(&credit->taken_total));
    put(&credit->returned_total, get(&credit->returned_total) + 1);
    derive_available(credit);
    append_instant(control, lane, TRACE_CREDIT_RETURN);
}

void credit_set_limit(struct control *control, uint32_t lane, uint64_t limit)
{
    struct control_credit *credit = credit_of(control, lane);
    uint64_t slabs = control->lanes[lane].slab_count;

    put(&credit->limit, limit < slabs ? limit : slabs);
    derive_available(credit);
    append_instant(control, lane, TRACE_CREDIT_LIMIT);
}

void credit_note_starts(struct control *control, uint32_t lane, uint64_t starts)
{
    struct control_credit *credit = credit_of(control, lane);

    if (starts > get(&credit->starts_at_once_max))
        put(&credit->starts_at_once_max, starts);
}

uint64_t credit_available(const struct control *control, uint32_t lane)
{
    return get(&credit_of(control, lane)->available);
}

uint64_t credit_limit(const struct control *control, uint32_t lane)
{
    return get(&credit_of(control, lane)->limit);
}

void credit_read(const struct control *control, uint32_t lane, struct credit_view *view)
{
    const struct control_credit *credit = credit_of(control, lane);

    view->available = get(&credit->available);
    view->limit = get(&credit->limit);
    view->taken_total = get(&credit->taken_total);
    view->returned_total = get(&credit->returned_total);
    view->grants_total = get(&credit->grants_total);
    view->starts_at_once_max = get(&credit->starts_at_once_max);
}

void credit_check(const struct control *control, uint32_t lane)
{
    const struct control_lane *entry = &control->lanes[lane];
    struct credit_view view;
    uint64_t out = 0;

    credit_read(control, lane, &view);
    for (uint32_t i = 0; i < entry->slab_count; i++)
        out += slab_word_load(control, entry->first_slab + i).state != SLAB_FREE;
    assert(view.taken_total - view.returned_total == out);
    assert(view.available == (view.limit > out ? view.limit - out : 0));
}
