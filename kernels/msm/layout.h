/*
 * How a multiplication is cut into tasks and what scratch they need. Private to msm/, no state.
 *
 * A task is one window of one chunk of the points. As many workers as there are threads take tasks
 * from a counter; each has a slot of scratch of its own, so the slots, not the tasks, bound the
 * memory.
 */
#ifndef PAWL_KERNELS_MSM_LAYOUT_H
#define PAWL_KERNELS_MSM_LAYOUT_H

#include "kernels/msm/digits.h"

enum { TASKS_A_THREAD = 4, SCRATCH_ALIGN = 64, SEGMENT_POINTS = 4096 };

struct msm_layout {
    size_t chunks, chunk_points;
    size_t bucket_at, bucket_end_at, order_at, slot_bytes; /* of one worker */
    size_t sums_bytes;                                     /* of the sums of all tasks */
};

static inline size_t scratch_round(size_t bytes)
{
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

/* Enough chunks for all threads, but each with as many points as there are buckets to weight,
 * twice. */
static inline size_t layout_chunks(size_t count, unsigned window_bits, unsigned windows,
                                   unsigned threads)
{
    size_t wanted = threads < 2 ? 1 : (TASKS_A_THREAD * (size_t)threads + windows - 1) / windows;
    size_t most = count >> window_bits;
    size_t chunks = wanted < most ? wanted : most;
    return chunks < 1 ? 1 : chunks;
}

static inline size_t layout_chunk_points(size_t count, unsigned window_bits, unsigned windows,
                                         unsigned threads)
{
    size_t chunks = layout_chunks(count, window_bits, windows, threads);
    return (count + chunks - 1) / chunks;
}

#endif
