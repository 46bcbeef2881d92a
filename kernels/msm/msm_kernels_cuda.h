/*
 * What the kernels of msm_sort.cu, msm_g1.cu and msm_g2.cu take: one structure each, by value, the
 * same in C (msm_cuda.c fills it in) and on the device. Addresses are the device's. Data only.
 */
#ifndef PAWL_KERNELS_MSM_MSM_KERNELS_CUDA_H
#define PAWL_KERNELS_MSM_MSM_KERNELS_CUDA_H

#include <assert.h>
#include <stdint.h>

enum {
    MSM_SORT_THREADS = 256,  /* a block of msm_sort.cu, one scalar a thread */
    MSM_SCAN_COUNTS = 1024,  /* that a block scans; its square bounds the buckets of a pass */
    MSM_SUM_THREADS = 128,   /* a block of the other kernels */
    MSM_SLICE_LEAST = 8,     /* entries that a thread of accumulate sums up */
    MSM_MERGE_PARTIALS = 16, /* that a thread of a merge sums up */
    MSM_OFFSET_WORDS = 10    /* of the digits' offset */
};

/* msm_sort_count, msm_sort_place: scalars to counts of buckets, and to the sorted list. */
struct msm_sort_arguments {
    uint64_t scalars; /* 8 words each */
    uint64_t counts;  /* a bucket: how many (count), where the next goes (place) */
    uint64_t entries; /* out, of place: 2 * number of the scalar, + 1 to negate */
    uint32_t count;   /* of scalars */
    uint32_t window_bits;
    uint32_t window_first, window_end; /* of this pass; 0 and -1, 1 are dealt with where 0 is */
    uint32_t offset[MSM_OFFSET_WORDS];
    uint32_t minus_one[8];
};
static_assert(sizeof(struct msm_sort_arguments) == 112, "one layout for host and device");

/*
 * msm_scan_blocks: start = sums of the counts before, within a block; totals = a block's sum.
 * msm_scan_totals (one block): totals = sums of the totals before; start[buckets] = all.
 * msm_scan_finish: start and counts = the sum of all counts before.
 */
struct msm_scan_arguments {
    uint64_t counts, start, totals;
    uint32_t buckets, blocks;
};
static_assert(sizeof(struct msm_scan_arguments) == 32, "one layout for host and device");

/* msm_g1_accumulate, msm_g2_accumulate: the sorted list to buckets and partial sums. */
struct msm_accumulate_arguments {
    uint64_t entries, start; /* start[buckets]: the length of the list */
    uint64_t points;
    uint64_t buckets;        /* out */
    uint64_t keys, partials; /* out, two for each slice: number of the bucket, sum */
    uint32_t bucket_count;
    uint32_t slices; /* at most */
    uint32_t first;  /* the scalar that points[0] belongs to */
    uint32_t reserved;
};
static_assert(sizeof(struct msm_accumulate_arguments) == 64, "one layout for host and device");

/* msm_g1_merge, msm_g2_merge: partial sums to buckets and fewer partial sums. */
struct msm_merge_arguments {
    uint64_t start; /* as above, for the number of partial sums */
    uint64_t keys_in, partials_in;
    uint64_t keys_out, partials_out;
    uint64_t buckets;
    uint32_t bucket_count, slices;
    uint32_t level; /* 0: of what accumulate made */
    uint32_t reserved;
};
static_assert(sizeof(struct msm_merge_arguments) == 64, "one layout for host and device");

/* msm_g1_weigh, msm_g2_weigh: a chunk of buckets to its weighed sum. */
struct msm_weigh_arguments {
    uint64_t buckets, chunks;
    uint32_t windows, window_bits, chunk_buckets, reserved;
};
static_assert(sizeof(struct msm_weigh_arguments) == 32, "one layout for host and device");

/* msm_g1_gather, msm_g2_gather, a block a window: the chunks of a window to its sum. Overwrites
 * the chunks. */
struct msm_gather_arguments {
    uint64_t chunks, result;
    uint64_t ones;        /* a sum that the first window's gets besides; 0: none */
    uint32_t chunk_count; /* of a window */
    uint32_t reserved;
};
static_assert(sizeof(struct msm_gather_arguments) == 32, "one layout for host and device");

#endif
