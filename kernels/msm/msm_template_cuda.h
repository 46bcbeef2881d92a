/*
 * The kernels that sum sorted points, for one group: included by msm_g1.cu and msm_g2.cu (so no
 * guard), with MSM_GROUP defined as g1 or g2. msm_cuda.h has the method, msm_kernels_cuda.h the
 * arguments. Keeps nothing; a SIGKILL leaves nothing but the caller's scratch.
 */
#include "kernels/curve/xyzz_cuda.h"
#include "kernels/msm/msm_kernels_cuda.h"

#define MSM_JOIN_(a, b, c) a##_##b##_##c
#define MSM_JOIN(a, b, c) MSM_JOIN_(a, b, c)
#define POINT_FN(name) MSM_JOIN(gpu, MSM_GROUP, name)
#define KERNEL(name)                                                                               \
    extern "C" __global__ void __launch_bounds__(MSM_SUM_THREADS) MSM_JOIN(msm, MSM_GROUP, name)

namespace
{
using affine = struct POINT_FN(affine);
using xyzz = struct POINT_FN(xyzz);

__device__ __forceinline__ uint32_t thread_number()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ void sum_store(uint64_t array, uint64_t at, const xyzz &sum)
{
    POINT_FN(xyzz_store)(reinterpret_cast<xyzz *>(array) + at, &sum);
}

__device__ __forceinline__ void sum_load(xyzz &sum, uint64_t array, uint64_t at)
{
    POINT_FN(xyzz_load)(&sum, reinterpret_cast<const xyzz *>(array) + at);
}

/*
 * The full addition is a function: what it costs to call is a twentieth of it, and copies of it at
 * six places take nvcc half a minute a group. The mixed one, nearly all the work, is at one place.
 */
__device__ __noinline__ void sum_add(xyzz *sum, const xyzz *other)
{
    POINT_FN(xyzz_add)(sum, other);
}

/* Entries of a slice: so many that the list is cut into `slices` at most. */
__device__ __forceinline__ uint32_t slice_length(uint32_t entries, uint32_t slices)
{
    uint32_t length = (uint32_t)(((uint64_t)entries + slices - 1) / slices);
    return length < MSM_SLICE_LEAST ? MSM_SLICE_LEAST : length;
}

/* How many partial sums the slices of a list hand on, and then each level of merging. */
__device__ __forceinline__ uint32_t partials_of(uint32_t items, uint32_t length)
{
    return 2 * (uint32_t)(((uint64_t)items + length - 1) / length);
}

/*
 * Where the sums of one slice go. The first and the last of its runs may have begun before or go on
 * behind it: they are handed on. What lies between is the whole of its bucket.
 */
struct slice_sums {
    uint64_t buckets, keys, partials;
    uint32_t slice, handed;

    __device__ __forceinline__ void hand_on(uint32_t key, const xyzz &sum)
    {
        uint64_t at = 2 * (uint64_t)slice + handed++;
        reinterpret_cast<uint32_t *>(keys)[at] = key;
        sum_store(partials, at, sum);
    }
    __device__ __forceinline__ void end_run(uint32_t key, const xyzz &sum)
    {
        if (handed == 0)
            hand_on(key, sum);
        else
            sum_store(buckets, key, sum);
    }
    __device__ __forceinline__ void end_slice(uint32_t key, xyzz &sum)
    {
        hand_on(key, sum);
        if (handed == 2)
            return;
        POINT_FN(xyzz_set_infinity)(&sum);
        hand_on(key, sum);
    }
};

/* The bucket, from `low` on, that has entry `at`: the last one that starts there or before. */
__device__ __forceinline__ uint32_t bucket_find(const uint32_t *start, uint32_t low, uint32_t count,
                                                uint32_t at)
{
    if (start[low + 1] > at)
        return low;
    for (uint32_t high = count; high - low > 1;) {
        uint32_t middle = low + (high - low) / 2;
        if (start[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

__device__ __forceinline__ void entry_add(xyzz &sum, const msm_accumulate_arguments &a,
                                          uint32_t entry)
{
    uint32_t number = entry / 2;
    if (number < a.first)
        return;
    affine point;
    POINT_FN(affine_load)(&point, reinterpret_cast<const affine *>(a.points) + (number - a.first));
    POINT_FN(xyzz_add_affine)(&sum, &point, entry & 1);
}

/* sum = factor * sum; the factor is below 2^bits. */
__device__ __forceinline__ void sum_multiply(xyzz &sum, uint32_t factor, uint32_t bits)
{
    if (POINT_FN(xyzz_is_infinity)(&sum))
        return;
    const xyzz once = sum;
    POINT_FN(xyzz_set_infinity)(&sum);
    while (bits-- > 0) {
        POINT_FN(xyzz_double)(&sum);
        if (factor >> bits & 1)
            sum_add(&sum, &once);
    }
}
} // namespace

KERNEL(accumulate)(const msm_accumulate_arguments a)
{
    const uint32_t *start = reinterpret_cast<const uint32_t *>(a.start);
    uint32_t entries = start[a.bucket_count], slice = thread_number();
    uint64_t length = slice_length(entries, a.slices), begin = slice * length;
    if (begin >= entries)
        return;
    uint32_t end = (uint32_t)(begin + length < entries ? begin + length : entries);
    slice_sums sums = {a.buckets, a.keys, a.partials, slice, 0};
    uint32_t key = bucket_find(start, 0, a.bucket_count, (uint32_t)begin);
    uint32_t run_end = start[key + 1];
    xyzz sum;
    POINT_FN(xyzz_set_infinity)(&sum);
    for (uint32_t i = (uint32_t)begin; i < end; i++) {
        if (i == run_end) {
            sums.end_run(key, sum);
            POINT_FN(xyzz_set_infinity)(&sum);
            key = bucket_find(start, key + 1, a.bucket_count, i);
            run_end = start[key + 1];
        }
        entry_add(sum, a, reinterpret_cast<const uint32_t *>(a.entries)[i]);
    }
    sums.end_slice(key, sum);
}

/* A level with few enough for one thread is the last, and whole; those behind it find nothing. */
KERNEL(merge)(const msm_merge_arguments a)
{
    uint32_t entries = reinterpret_cast<const uint32_t *>(a.start)[a.bucket_count];
    uint32_t items = partials_of(entries, slice_length(entries, a.slices));
    for (uint32_t level = 0; level < a.level; level++)
        items = items > MSM_MERGE_PARTIALS ? partials_of(items, MSM_MERGE_PARTIALS) : 0;
    uint32_t slice = thread_number(), begin = slice * MSM_MERGE_PARTIALS;
    if (begin >= items)
        return;
    uint32_t last = items <= MSM_MERGE_PARTIALS;
    uint32_t end = items - begin < MSM_MERGE_PARTIALS ? items : begin + MSM_MERGE_PARTIALS;
    const uint32_t *keys = reinterpret_cast<const uint32_t *>(a.keys_in);
    slice_sums sums = {a.buckets, a.keys_out, a.partials_out, slice, last};
    uint32_t key = keys[begin];
    xyzz sum, next;
    sum_load(sum, a.partials_in, begin);
    for (uint32_t i = begin + 1; i < end; i++) {
        sum_load(next, a.partials_in, i);
        if (keys[i] == key) {
            sum_add(&sum, &next);
            continue;
        }
        sums.end_run(key, sum);
        key = keys[i];
        sum = next;
    }
    if (last)
        sums.end_run(key, sum);
    else
        sums.end_slice(key, sum);
}

/* A thread has chunk j of a window: sum over its buckets b of (j * chunk_buckets + b + 1) S_b. */
KERNEL(weigh)(const msm_weigh_arguments a)
{
    uint32_t chunks = (1u << (a.window_bits - 1)) / a.chunk_buckets, number = thread_number();
    if (number >= a.windows * chunks)
        return;
    uint64_t first = (uint64_t)number * a.chunk_buckets; /* windows follow each other */
    xyzz running, sum, bucket;
    POINT_FN(xyzz_set_infinity)(&running);
    POINT_FN(xyzz_set_infinity)(&sum);
    for (uint32_t b = a.chunk_buckets; b-- > 0;) {
        sum_load(bucket, a.buckets, first + b);
        sum_add(&running, &bucket);
        sum_add(&sum, &running);
    }
    sum_multiply(running, number % chunks * a.chunk_buckets, a.window_bits - 1);
    sum_add(&sum, &running);
    sum_store(a.chunks, number, sum);
}

/* A block has a window. What one thread wrote before a barrier another reads after it. */
KERNEL(gather)(const msm_gather_arguments a)
{
    uint64_t first = (uint64_t)blockIdx.x * a.chunk_count;
    uint32_t thread = threadIdx.x;
    xyzz sum, other;
    POINT_FN(xyzz_set_infinity)(&sum);
    for (uint32_t i = thread; i < a.chunk_count; i += MSM_SUM_THREADS) {
        sum_load(other, a.chunks, first + i);
        sum_add(&sum, &other);
    }
    for (uint32_t half = MSM_SUM_THREADS / 2; half > 0; half /= 2) {
        if (thread >= half && thread < 2 * half && thread < a.chunk_count)
            sum_store(a.chunks, first + thread, sum);
        __syncthreads();
        if (thread < half && thread + half < a.chunk_count) {
            sum_load(other, a.chunks, first + thread + half);
            sum_add(&sum, &other);
        }
        __syncthreads();
    }
    if (thread > 0)
        return;
    if (a.ones && blockIdx.x == 0) {
        sum_load(other, a.ones, 0);
        sum_add(&sum, &other);
    }
    sum_store(a.result, blockIdx.x, sum);
}
