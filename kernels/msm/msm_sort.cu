/*
 * Scalars to the list of their points, sorted by bucket: digits counted, the counts summed up, the
 * numbers of the points put where they belong. Launched by msm_cuda_sort; msm_cuda.h has the
 * method, msm_kernels_cuda.h the arguments. A SIGKILL leaves nothing but the caller's scratch.
 *
 * Within a bucket the order is chance's. Counters are taken by atomics on 32 bits, once for all
 * lanes of a warp that want the counter which its first lane wants: a list of equal scalars would
 * stand in a queue at one word otherwise.
 */
#include "kernels/msm/msm_kernels_cuda.h"

namespace
{
constexpr uint32_t whole_warp = 0xffffffff, no_bucket = 0xffffffff;
constexpr uint32_t counts_a_thread = MSM_SCAN_COUNTS / MSM_SORT_THREADS;

/* What a bucket's counter was before this lane's one was added; for no_bucket, whatever. */
__device__ __forceinline__ uint32_t counter_take(uint32_t *counts, uint32_t bucket)
{
    uint32_t lane = threadIdx.x % 32, before = 0;
    uint32_t wanting = __ballot_sync(whole_warp, bucket != no_bucket);
    if (wanting == 0)
        return 0;
    uint32_t leader = __ffs(wanting) - 1;
    uint32_t same = __ballot_sync(whole_warp, bucket == __shfl_sync(whole_warp, bucket, leader));
    if (lane == leader)
        before = atomicAdd(&counts[bucket], __popc(same));
    before = __shfl_sync(whole_warp, before, leader);
    if (same >> lane & 1)
        return before + __popc(same & ((1u << lane) - 1));
    return bucket == no_bucket ? 0 : atomicAdd(&counts[bucket], 1);
}

/* A scalar's words; zero for a lane past the last. */
__device__ __forceinline__ void scalar_load(uint32_t (&word)[8], const msm_sort_arguments &a,
                                            uint32_t number)
{
    uint4 low = make_uint4(0, 0, 0, 0), high = low;
    if (number < a.count) {
        const uint4 *scalar = reinterpret_cast<const uint4 *>(a.scalars) + 2 * (uint64_t)number;
        low = scalar[0];
        high = scalar[1];
    }
    word[0] = low.x, word[1] = low.y, word[2] = low.z, word[3] = low.w;
    word[4] = high.x, word[5] = high.y, word[6] = high.z, word[7] = high.w;
}

/* 0: none of these; 1: the scalar is 1; 2: it is -1; 3: it is 0. */
__device__ __forceinline__ uint32_t scalar_kind(const uint32_t (&word)[8],
                                                const msm_sort_arguments &a)
{
    uint32_t upper = 0, negative = 0;
    for (int i = 1; i < 8; i++)
        upper |= word[i];
    for (int i = 0; i < 8; i++)
        negative |= word[i] ^ a.minus_one[i];
    if (negative == 0)
        return 2;
    return upper != 0 || word[0] > 1 ? 0 : word[0] == 1 ? 1 : 3;
}

/* An entry of the list into its bucket, or only counted; all lanes of a warp come here together. */
template <bool placing>
__device__ __forceinline__ void entry_take(const msm_sort_arguments &a, uint32_t bucket,
                                           uint32_t entry)
{
    uint32_t at = counter_take(reinterpret_cast<uint32_t *>(a.counts), bucket);
    if (placing && bucket != no_bucket)
        reinterpret_cast<uint32_t *>(a.entries)[at] = entry;
}

template <bool placing>
__device__ __forceinline__ void digit_take(const msm_sort_arguments &a, uint32_t window,
                                           uint32_t bits, uint32_t number)
{
    uint32_t half = 1u << (a.window_bits - 1);
    uint32_t negate = bits < half, size = negate ? half - bits : bits - half;
    uint32_t bucket = (window - a.window_first) * half + size - 1;
    entry_take<placing>(a, size != 0 ? bucket : no_bucket, 2 * number + negate);
}

/*
 * All digits of a warp's scalars: the words of scalar + offset come off the addition one by one,
 * and what is whole of a window is taken off them. How often depends on the window's bits alone, so
 * that the lanes stay together.
 */
template <bool placing>
__device__ __forceinline__ void digits_take(const msm_sort_arguments &a, const uint32_t (&word)[8],
                                            uint32_t number)
{
    uint64_t carry = 0, bits = 0;
    uint32_t have = 0, window = 0;
#pragma unroll
    for (int i = 0; i < MSM_OFFSET_WORDS; i++) {
        carry += (uint64_t)(i < 8 ? word[i < 8 ? i : 0] : 0) + a.offset[i];
        bits |= (carry & 0xffffffff) << have;
        carry >>= 32;
        for (have += 32; have >= a.window_bits && window < a.window_end; window++) {
            if (window >= a.window_first)
                digit_take<placing>(a, window, (uint32_t)bits & ((1u << a.window_bits) - 1),
                                    number);
            bits >>= a.window_bits;
            have -= a.window_bits;
        }
        if (window >= a.window_end)
            return;
    }
}

template <bool placing> __device__ __forceinline__ void scalars_take(const msm_sort_arguments &a)
{
    uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t word[8];
    scalar_load(word, a, number);
    uint32_t kind = scalar_kind(word, a);
    /* Zeros in place of what has no digits here: nvcc would make two loops of a condition in this
     * one, and the lanes of a warp would meet at every vote from two places. */
    for (int i = 0; i < 8; i++)
        word[i] = kind == 0 ? word[i] : 0;
    if (__ballot_sync(whole_warp, kind == 0))
        digits_take<placing>(a, word, number);
    if (a.window_first == 0) {
        uint32_t ones = a.window_end << (a.window_bits - 1);
        uint32_t is_one = kind == 1 || kind == 2;
        entry_take<placing>(a, is_one ? ones : no_bucket, 2 * number + (kind == 2));
    }
}

/* The sum of `mine` of the threads before this one, and of all of the block. */
__device__ __forceinline__ uint32_t block_scan(uint32_t mine, uint32_t &all)
{
    __shared__ uint32_t sums[MSM_SORT_THREADS / 32];
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = mine, before = 0;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(whole_warp, sum, step);
        sum += lane >= step ? other : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    all = 0;
    for (uint32_t i = 0; i < MSM_SORT_THREADS / 32; i++) {
        before += i < warp ? sums[i] : 0;
        all += sums[i];
    }
    return before + sum - mine;
}

/* Sums before each of the counts that this block has, `length` at `in`; returns the sum of all. */
__device__ __forceinline__ uint32_t counts_scan(const uint32_t *in, uint32_t *out, uint32_t length)
{
    uint32_t count[counts_a_thread], mine = 0, all, first = threadIdx.x * counts_a_thread;
    for (uint32_t i = 0; i < counts_a_thread; i++) {
        count[i] = first + i < length ? in[first + i] : 0;
        mine += count[i];
    }
    uint32_t before = block_scan(mine, all);
    for (uint32_t i = 0; i < counts_a_thread; i++) {
        if (first + i < length)
            out[first + i] = before;
        before += count[i];
    }
    return all;
}

__device__ __forceinline__ uint32_t block_length(uint32_t all)
{
    uint32_t first = blockIdx.x * MSM_SCAN_COUNTS;
    return all - first < MSM_SCAN_COUNTS ? all - first : MSM_SCAN_COUNTS;
}
} // namespace

extern "C" __global__ void __launch_bounds__(MSM_SORT_THREADS)
    msm_sort_count(const msm_sort_arguments arguments)
{
    scalars_take<false>(arguments);
}

extern "C" __global__ void __launch_bounds__(MSM_SORT_THREADS)
    msm_sort_place(const msm_sort_arguments arguments)
{
    scalars_take<true>(arguments);
}

extern "C" __global__ void __launch_bounds__(MSM_SORT_THREADS)
    msm_scan_blocks(const msm_scan_arguments a)
{
    uint64_t at = (uint64_t)blockIdx.x * MSM_SCAN_COUNTS;
    uint32_t all = counts_scan(reinterpret_cast<const uint32_t *>(a.counts) + at,
                               reinterpret_cast<uint32_t *>(a.start) + at, block_length(a.buckets));
    if (threadIdx.x == 0)
        reinterpret_cast<uint32_t *>(a.totals)[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(MSM_SORT_THREADS)
    msm_scan_totals(const msm_scan_arguments a)
{
    uint32_t *totals = reinterpret_cast<uint32_t *>(a.totals);
    uint32_t all = counts_scan(totals, totals, a.blocks);
    if (threadIdx.x == 0)
        reinterpret_cast<uint32_t *>(a.start)[a.buckets] = all;
}

extern "C" __global__ void __launch_bounds__(MSM_SORT_THREADS)
    msm_scan_finish(const msm_scan_arguments a)
{
    uint32_t *start =
        reinterpret_cast<uint32_t *>(a.start) + (uint64_t)blockIdx.x * MSM_SCAN_COUNTS;
    uint32_t *counts =
        reinterpret_cast<uint32_t *>(a.counts) + (uint64_t)blockIdx.x * MSM_SCAN_COUNTS;
    uint32_t before = reinterpret_cast<const uint32_t *>(a.totals)[blockIdx.x];
    uint32_t length = block_length(a.buckets);
    for (uint32_t i = threadIdx.x; i < length; i += MSM_SORT_THREADS) {
        start[i] += before;
        counts[i] = start[i];
    }
}
