/*
 * How sums are cut into tasks and where everything lies in the caller's scratch. Private to msm/;
 * no state.
 *
 * A task is some windows of one set of points: one, where there are many points, so many that a
 * batch is filled, where there are few. As many workers as there are threads take tasks from a
 * counter, the dearest first, each with a slot of scratch of its own.
 */
#ifndef PAWL_KERNELS_MSM_PLAN_IFMA_H
#define PAWL_KERNELS_MSM_PLAN_IFMA_H

#include "kernels/msm/digits.h"
#include "kernels/msm/layout.h"
#include "kernels/msm/pieces_ifma.h"
#include "kernels/msm/schedule_ifma.h"
#include "kernels/msm/weigh_ifma.h"

enum { TASK_ENTRIES = 1 << 15, SETS_MAX = 4 };

/* Offsets into a slot, and how much there is room for. */
struct slot_layout {
    size_t runs, pieces, entries;
    size_t run_at, piece_at, by_length_at, order_at, filtered_at, sum_at, bytes;
};

struct sums_layout {
    unsigned task_windows; /* of a task; the last one may have fewer */
    struct slot_layout slot;
    size_t id_at, digit_at, order_at, head_at, infinite_at, infinite_bytes, result_at, slots_at;
    size_t bytes;
};

/*
 * The cheapest window, in products: 6 and a bit for each digit, 13 to weigh a bucket and what it
 * costs to sort them all; what a window costs by itself (its last sums, which do not fill vectors).
 * Grows with `wide`, scalars of more than 16 bits.
 */
static inline unsigned plan_choose_window(size_t count, size_t wide, unsigned scalar_bits)
{
    unsigned best = WINDOW_BITS_MIN;
    uint64_t least = UINT64_MAX;
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++) {
        uint64_t a_window = 7 * (uint64_t)wide + count / 64 + ((uint64_t)16 << (c - 1)) + 1000;
        uint64_t cost = digit_windows(c, scalar_bits) * a_window;
        if (cost < least) {
            least = cost;
            best = c;
        }
    }
    return best;
}

static inline size_t plan_take(size_t *at, size_t bytes)
{
    size_t here = *at;
    *at += scratch_round(bytes);
    return here;
}

struct plan_input {
    size_t count; /* scalars */
    unsigned sets, threads, scalar_bits;
    size_t batch_bytes, point_bytes; /* of the dearest group */
};

/* A window and how many scalars are of more than 16 bits, at least and at most. */
struct plan_case {
    unsigned window_bits;
    size_t wide_least, wide_most;
};

static inline unsigned plan_task_windows(size_t wide, unsigned windows, unsigned threads)
{
    size_t most = (windows + threads - 1) / threads, wanted = TASK_ENTRIES / (wide + 1);
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/* The entries that a task of so many windows has at most. */
static inline size_t plan_task_entries(const struct plan_input *in, const struct plan_case *k,
                                       unsigned windows)
{
    unsigned narrow = schedule_narrow_windows(k->window_bits);
    size_t all = windows * k->wide_most;
    size_t least = k->wide_most > TASK_ENTRIES ? k->wide_most : TASK_ENTRIES;
    return (all < least ? all : least) +
           (windows < narrow ? windows : narrow) * (in->count - k->wide_least);
}

static inline struct slot_layout plan_slot(const struct plan_input *in, const struct plan_case *k,
                                           unsigned windows)
{
    struct slot_layout s = {0};
    struct weigh_plan weigh = weigh_plan_make(k->window_bits);
    size_t entries = plan_task_entries(in, k, windows), ends = windows * weigh_entries(&weigh);
    size_t at = scratch_round(in->batch_bytes);
    s.runs = (size_t)windows << (k->window_bits - 1);
    s.pieces = s.runs + entries / PIECE_POINTS + 1;
    s.entries = ends > s.pieces ? ends : s.pieces;
    s.run_at = plan_take(&at, s.runs * sizeof(struct piece));
    s.piece_at = plan_take(&at, s.pieces * sizeof(struct piece));
    s.by_length_at = plan_take(&at, s.pieces * sizeof(uint32_t));
    s.order_at = plan_take(&at, s.entries * sizeof(uint32_t));
    s.filtered_at = plan_take(&at, (entries + 1) * sizeof(uint32_t));
    s.sum_at = plan_take(&at, 2 * s.pieces * in->point_bytes);
    s.bytes = at;
    return s;
}

static inline struct sums_layout plan_make(const struct plan_input *in, const struct plan_case *k)
{
    struct sums_layout l = {0};
    const unsigned bits = k->window_bits, windows = digit_windows(bits, in->scalar_bits);
    size_t entries = schedule_entries(k->wide_most, in->count - k->wide_most, windows,
                                      schedule_narrow_windows(bits));
    size_t at = 0, heads = windows * (((size_t)1 << (bits - 1)) + 1);
    l.task_windows = plan_task_windows(k->wide_least, windows, in->threads);
    l.slot = plan_slot(in, k, l.task_windows);
    l.infinite_bytes = scratch_round(in->count / 8 + 8);
    l.id_at = plan_take(&at, in->count * sizeof(uint32_t));
    l.digit_at = plan_take(&at, entries * sizeof(int16_t));
    l.order_at = plan_take(&at, entries * sizeof(uint32_t));
    l.head_at = plan_take(&at, heads * sizeof(uint32_t));
    l.infinite_at = plan_take(&at, in->sets * l.infinite_bytes);
    l.result_at = plan_take(&at, in->sets * windows * bits * in->point_bytes);
    l.slots_at = plan_take(&at, in->threads * l.slot.bytes);
    l.bytes = at;
    return l;
}

/* The most wide scalars of `count` for which plan_choose_window gives no more than c bits. */
static inline size_t plan_most_wide(size_t count, unsigned c, unsigned scalar_bits)
{
    size_t fits = 0, above = count + 1;
    while (above - fits > 1) {
        size_t middle = fits + (above - fits) / 2;
        if (plan_choose_window(count, middle, scalar_bits) <= c)
            fits = middle;
        else
            above = middle;
    }
    return fits;
}

/* Enough for every window that plan_choose_window may choose, however many scalars are wide. */
static inline size_t plan_scratch_bytes(const struct plan_input *in)
{
    unsigned widest = plan_choose_window(in->count, in->count, in->scalar_bits);
    struct plan_case k = {.wide_least = 0};
    size_t most = 0;
    for (k.window_bits = WINDOW_BITS_MIN; k.window_bits <= widest; k.window_bits++) {
        if (plan_choose_window(in->count, k.wide_least, in->scalar_bits) > k.window_bits)
            continue;
        k.wide_most = plan_most_wide(in->count, k.window_bits, in->scalar_bits);
        struct sums_layout l = plan_make(in, &k);
        most = l.bytes > most ? l.bytes : most;
        k.wide_least = k.wide_most + 1;
    }
    return most;
}

#endif
