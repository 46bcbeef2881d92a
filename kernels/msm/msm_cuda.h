/*
 * Multi-scalar multiplication on a GPU: sum scalar_i * point_i in G1 and G2. A plan says which
 * kernels are launched with what scratch (msm_plan_cuda.c), three calls put them into a queue
 * (msm_cuda.c) and one joins the windows' sums on the host. Called by the CUDA device. Pure: no
 * memory of its own, no driver; a SIGKILL leaves nothing but the caller's buffers.
 *
 * The mathematics is Pippenger's (msm.h, digits.h): signed digits, a bucket for each absolute value
 * of a digit in each window. What a GPU asks for besides:
 *
 *   - One counting sort brings the points of all windows into the order of their buckets. Scalars
 *     0 vanish there; 1 and -1 go to a bucket of their own, past those of the windows, which is
 *     summed with weight one.
 *   - The sorted list is cut into slices of equal length, one for a thread, whatever the buckets
 *     are: so no mix of scalars makes one thread work longer than another. A bucket that lies
 *     within a slice is finished there. What a slice begins and ends with is handed on: two
 *     partial sums for each slice, again in the order of buckets, which are summed in the same way,
 *     MSM_MERGE_PARTIALS at a time, until one thread has the rest. A bucket with half of all
 *     points is thus added up by all threads and then as a tree.
 *   - Buckets are weighed in chunks: a thread has sum (b + 1) S_b over its chunk by running sums,
 *     and adds the chunk's first number times the chunk's sum by doublings. A block then adds up
 *     the chunks of a window.
 *
 * Each bucket is written by one thread, and additions are complete (xyzz_cuda.h). The order of the
 * points within a bucket is chance's; the sum, affine in the end, is not.
 *
 * One sort serves sums over several sets of points:
 *
 *     msm_cuda_plan_make(&plan, curve, wires, queue, most);
 *     msm_cuda_sort(queue, &plan, witness, scratch);
 *     msm_cuda_sum(queue, &plan, GROUP_G1, a, 0, scratch, result);
 *     msm_cuda_sum(queue, &plan, GROUP_G1, c, first_private, scratch, result_c);
 *     ... result copied to the host ...
 *     msm_cuda_finish(curve, &plan, GROUP_G1, copy, &sums.a);
 */
#ifndef PAWL_KERNELS_MSM_MSM_CUDA_H
#define PAWL_KERNELS_MSM_MSM_CUDA_H

#include "kernels/curves.h"
#include "kernels/gpu_queue.h"
#include "kernels/msm/digits.h"

#define MSM_CUDA_COUNT_MOST ((size_t)1 << 27)

/* Where each part of the scratch begins, in bytes; all parts are aligned to 256. */
struct msm_cuda_layout {
    size_t entries, start, cursor, totals, buckets, keys[2], partials[2], chunks;
};

struct msm_cuda_plan {
    struct digit_plan digits; /* window_bits, windows, the offset */
    uint32_t count;
    uint32_t windows_a_pass; /* fewer than all: the sort is made again for each pass of a sum */
    uint32_t slices;         /* at most: threads that sum the sorted list */
    uint32_t chunk_buckets;  /* a power of two: buckets that a thread weighs */
    uint32_t minus_one[8];   /* r - 1 */
    uint32_t xyzz_bytes[2];  /* of a sum in G1, G2 */
    struct msm_cuda_layout at;
    size_t scratch_bytes;
    size_t result_bytes; /* what a sum in either group needs at most */
    gpu_pointer scalars; /* of the last sort */
};

/* Additions of one sum at most, where no scalar is 0, 1 or -1. */
struct msm_cuda_additions {
    uint64_t mixed, full, doublings;
};

/*
 * A plan for `count` scalars (0 too) with scratch of at most `scratch_most` bytes: the cheapest by
 * msm_plan_cuda.c's formula. 0; -E2BIG past MSM_CUDA_COUNT_MOST; -ENOSPC where no plan is so small.
 */
int msm_cuda_plan_make(struct msm_cuda_plan *plan, const struct curve *curve, size_t count,
                       const struct gpu_queue *queue, size_t scratch_most);

/* What a sum in this group writes: one window sum (XYZZ) for each window. */
size_t msm_cuda_result_bytes(const struct msm_cuda_plan *plan, enum group group);

struct msm_cuda_additions msm_cuda_count_additions(const struct msm_cuda_plan *plan);

/*
 * Sorts plan->count scalars (plain, canonical, 32 bytes each, aligned to 16). Scalars and scratch
 * stay as they are until the last sum over them has run. 0 or the queue's -errno.
 */
int msm_cuda_sort(struct gpu_queue *queue, struct msm_cuda_plan *plan, gpu_pointer scalars,
                  gpu_pointer scratch);

/*
 * Puts the windows' sums of scalar_i * points[i - first], first <= i < count, over the scalars
 * last sorted, into `result` (msm_cuda_result_bytes). points: packed affine (curves.h), aligned to
 * 16. 0 or the queue's -errno.
 */
int msm_cuda_sum(struct gpu_queue *queue, const struct msm_cuda_plan *plan, enum group group,
                 gpu_pointer points, size_t first, gpu_pointer scratch, gpu_pointer result);

/*
 * Joins a host copy of `result` (aligned to 8) to the sum: `out` is a struct g1 or a struct g2.
 * 0; -EBADMSG where a word of it is no field element: the device went wrong, and out is infinity.
 */
int msm_cuda_finish(const struct curve *curve, const struct msm_cuda_plan *plan, enum group group,
                    const void *result, void *out);

#endif
