/*
 * What msm_plan_cuda.c decides and msm_cuda.c launches: sizes that follow from a plan. Private to
 * msm/, no state.
 */
#ifndef PAWL_KERNELS_MSM_MSM_PLAN_CUDA_H
#define PAWL_KERNELS_MSM_MSM_PLAN_CUDA_H

#include "kernels/msm/msm_cuda.h"
#include "kernels/msm/msm_kernels_cuda.h"

static inline uint32_t plan_window_buckets(const struct msm_cuda_plan *plan)
{
    return 1u << (plan->digits.window_bits - 1);
}

/* Of a pass: its windows' and the one for scalars 1 and -1, which only the first pass fills. */
static inline uint32_t plan_buckets(const struct msm_cuda_plan *plan)
{
    return plan->windows_a_pass * plan_window_buckets(plan) + 1;
}

static inline uint32_t plan_chunks_a_window(const struct msm_cuda_plan *plan)
{
    return plan_window_buckets(plan) / plan->chunk_buckets;
}

static inline uint64_t plan_entries_most(const struct msm_cuda_plan *plan)
{
    return (uint64_t)plan->count * plan->windows_a_pass;
}

/* Partial sums that level 0 of the merging has at most, or those of the next level. */
static inline uint32_t plan_partials(const struct msm_cuda_plan *plan)
{
    return 2 * plan->slices;
}

static inline uint32_t merge_partials_after(uint32_t partials)
{
    return 2 * ((partials + MSM_MERGE_PARTIALS - 1) / MSM_MERGE_PARTIALS);
}

#endif
