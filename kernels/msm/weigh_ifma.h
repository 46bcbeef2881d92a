/*
 * How the buckets of a window are laid out for weighting (weigh_template_ifma.h), and which ends
 * make which sum. Private to msm/; no state.
 */
#ifndef PAWL_KERNELS_MSM_WEIGH_IFMA_H
#define PAWL_KERNELS_MSM_WEIGH_IFMA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/msm/pieces_ifma.h"

enum { WEIGH_ROWS = 256 };

/* 2^(window_bits - 1) buckets are `blocks` blocks of 8 lanes of `rows` = 2^levels rows. */
struct weigh_plan {
    uint32_t rows, levels, blocks;
    uint32_t lane_bits; /* 8 * blocks lanes */
    uint32_t ends;      /* of a window: (levels + 1) * 8 * blocks */
};

static inline struct weigh_plan weigh_plan_make(unsigned window_bits)
{
    struct weigh_plan plan = {.rows = 1, .lane_bits = 3};
    while (plan.rows < WEIGH_ROWS && 8 * plan.rows < 1u << (window_bits - 1)) {
        plan.rows *= 2;
        plan.levels++;
    }
    plan.blocks = (1u << (window_bits - 1)) / (8 * plan.rows);
    while (8 * plan.blocks > 1u << plan.lane_bits)
        plan.lane_bits++;
    plan.ends = (plan.levels + 1) * 8 * plan.blocks;
    return plan;
}

/* One sum: lanes of one kind of end with bit `bit` set, or all (bit < 0). */
static inline uint32_t weigh_list_lanes(uint32_t *order, uint32_t at, uint32_t end, uint32_t lanes,
                                        int bit, struct piece *run)
{
    uint32_t begin = at;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (bit < 0 || (lane >> bit & 1))
            order[at++] = 2 * (end + lane);
    *run = (struct piece){begin, at - begin};
    return at;
}

/*
 * The window_bits sums of a window whose ends begin at `end`: run k < window_bits - 1 weighs 2^k,
 * the last one 1. Writes entries from order[at] on, returns where they end; a run each.
 */
static inline uint32_t weigh_list_ends(uint32_t *order, uint32_t at, const struct weigh_plan *plan,
                                       uint32_t end, struct piece *run)
{
    const uint32_t lanes = 8 * plan->blocks, totals = end + plan->levels * lanes;
    for (uint32_t k = 0; k < plan->levels; k++)
        at = weigh_list_lanes(order, at, end + k * lanes, lanes, -1, run++);
    for (uint32_t bit = 0; bit < plan->lane_bits; bit++)
        at = weigh_list_lanes(order, at, totals, lanes, (int)bit, run++);
    return weigh_list_lanes(order, at, totals, lanes, -1, run);
}

/* Entries that weigh_list_ends writes at most. */
static inline size_t weigh_entries(const struct weigh_plan *plan)
{
    return plan->ends + (size_t)plan->lane_bits * 4 * plan->blocks;
}

#endif
