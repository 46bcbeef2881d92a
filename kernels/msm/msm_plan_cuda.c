/*
 * Which plan a multiplication on a GPU gets: the cheapest that fits its scratch. Called through
 * msm_cuda.h when a key is loaded. No state; a SIGKILL leaves nothing.
 *
 * Counted in field products, n scalars, W windows of c bits, B = 2^(c-1) buckets each:
 *
 *     W (10 n + B (28 + (9 (c - 1) + 14) / chunk)) + S n      the mixed addition has 10 products,
 *                                                     the full one 14, the doubling 9
 *
 * A bucket takes two full additions, and a chunk of them c - 1 doublings and about as many
 * additions. S stands for the sorting: for a sum whose list is not kept (more than one pass) some
 * 3 products' time a scalar and pass, memory's rather than the multipliers'.
 */
#include <errno.h>
#include <string.h>

#include "kernels/msm/msm_plan_cuda.h"

enum {
    SLICES_A_MULTIPROCESSOR = 1024, /* two to four times as many as it holds */
    WEIGHERS_A_MULTIPROCESSOR = 128,
    CHUNK_BUCKETS_MOST = 32,
    PRODUCTS_MIXED = 10,
    PRODUCTS_FULL = 14,
    PRODUCTS_DOUBLE = 9,
    PRODUCTS_SORT = 3,
    PART_ALIGN = 256
};
#define ENTRIES_MOST ((uint64_t)1 << 31)

static unsigned modulus_bits(const uint64_t *modulus)
{
    return 64 * FR_WORDS - (unsigned)__builtin_clzll(modulus[FR_WORDS - 1]);
}

/* Few enough a thread that all multiprocessors have some to do. */
static uint32_t choose_chunk(uint32_t buckets, uint32_t window_buckets, uint32_t multiprocessors)
{
    uint32_t most = buckets / (multiprocessors * WEIGHERS_A_MULTIPROCESSOR), chunk = 1;
    while (2 * chunk <= most && 2 * chunk <= CHUNK_BUCKETS_MOST && 2 * chunk <= window_buckets)
        chunk *= 2;
    return chunk;
}

static uint32_t choose_slices(uint64_t entries, uint32_t multiprocessors)
{
    uint64_t useful = (entries + MSM_SLICE_LEAST - 1) / MSM_SLICE_LEAST;
    uint64_t most = (uint64_t)multiprocessors * SLICES_A_MULTIPROCESSOR;
    return (uint32_t)(useful < most ? useful : most);
}

static size_t part_take(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end = at + (bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    return at;
}

static void plan_lay_out(struct msm_cuda_plan *plan)
{
    struct msm_cuda_layout *at = &plan->at;
    size_t end = 0, sum = plan->xyzz_bytes[GROUP_G2], buckets = plan_buckets(plan);
    size_t chunks = (size_t)plan->windows_a_pass * plan_chunks_a_window(plan);
    at->entries = part_take(&end, sizeof(uint32_t) * plan_entries_most(plan));
    at->start = part_take(&end, sizeof(uint32_t) * (buckets + 1));
    at->cursor = part_take(&end, sizeof(uint32_t) * buckets);
    at->totals = part_take(&end, sizeof(uint32_t) * MSM_SCAN_COUNTS);
    at->buckets = part_take(&end, sum * buckets);
    for (uint32_t i = 0, partials = plan_partials(plan); i < 2; i++) {
        at->keys[i] = part_take(&end, sizeof(uint32_t) * partials);
        at->partials[i] = part_take(&end, sum * partials);
        partials = merge_partials_after(partials);
    }
    at->chunks = part_take(&end, sum * chunks);
    plan->scratch_bytes = end;
}

/* The rest of a plan whose count and sizes of sums are known. */
static void plan_shape(struct msm_cuda_plan *plan, unsigned window_bits, unsigned scalar_bits,
                       uint32_t passes, uint32_t multiprocessors)
{
    digit_plan_make(&plan->digits, window_bits, scalar_bits);
    uint32_t windows = plan->digits.windows;
    plan->windows_a_pass = (windows + passes - 1) / passes;
    plan->chunk_buckets = choose_chunk(plan->windows_a_pass << (window_bits - 1),
                                       plan_window_buckets(plan), multiprocessors);
    plan->slices = choose_slices(plan_entries_most(plan), multiprocessors);
    plan->result_bytes = msm_cuda_result_bytes(plan, GROUP_G2);
    plan_lay_out(plan);
}

static uint64_t plan_products(const struct msm_cuda_plan *plan)
{
    uint64_t bits = plan->digits.window_bits, windows = plan->digits.windows;
    uint64_t passes = (windows + plan->windows_a_pass - 1) / plan->windows_a_pass;
    uint64_t scale = PRODUCTS_DOUBLE * (bits - 1) + PRODUCTS_FULL;
    uint64_t weigh = plan_window_buckets(plan) * (2 * PRODUCTS_FULL + scale / plan->chunk_buckets);
    uint64_t sort = passes > 1 ? PRODUCTS_SORT * passes * plan->count : 0;
    return windows * (PRODUCTS_MIXED * (uint64_t)plan->count + weigh) + sort;
}

static int plan_is_possible(const struct msm_cuda_plan *plan, size_t scratch_most)
{
    return plan->scratch_bytes <= scratch_most && plan_entries_most(plan) <= ENTRIES_MOST;
}

/* The cheapest of those with windows of these bits, where it is cheaper than `best`. */
static void plan_better(struct msm_cuda_plan *best, uint64_t *least, unsigned window_bits,
                        unsigned scalar_bits, uint32_t multiprocessors, size_t scratch_most)
{
    struct msm_cuda_plan plan = *best;
    for (uint32_t passes = 1; passes <= digit_windows(window_bits, scalar_bits); passes++) {
        plan_shape(&plan, window_bits, scalar_bits, passes, multiprocessors);
        if (plan_is_possible(&plan, scratch_most) && plan_products(&plan) < *least) {
            *least = plan_products(&plan);
            *best = plan;
        }
    }
}

/* r - 1: both r are odd. */
static void minus_one_make(uint32_t out[8], const uint64_t *modulus)
{
    for (unsigned i = 0; i < 8; i++)
        out[i] = (uint32_t)(modulus[i / 2] >> 32 * (i % 2));
    out[0]--;
}

int msm_cuda_plan_make(struct msm_cuda_plan *plan, const struct curve *curve, size_t count,
                       const struct gpu_queue *queue, size_t scratch_most)
{
    unsigned scalar_bits = modulus_bits(curve->fr_modulus);
    uint64_t least = UINT64_MAX;
    if (count > MSM_CUDA_COUNT_MOST)
        return -E2BIG;
    *plan = (struct msm_cuda_plan){.count = (uint32_t)count,
                                   .xyzz_bytes = {2 * curve->g1_bytes, 2 * curve->g2_bytes}};
    minus_one_make(plan->minus_one, curve->fr_modulus);
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++)
        plan_better(plan, &least, c, scalar_bits, queue->multiprocessors, scratch_most);
    return least == UINT64_MAX ? -ENOSPC : 0;
}

size_t msm_cuda_result_bytes(const struct msm_cuda_plan *plan, enum group group)
{
    return (size_t)plan->digits.windows * plan->xyzz_bytes[group];
}

struct msm_cuda_additions msm_cuda_count_additions(const struct msm_cuda_plan *plan)
{
    uint64_t windows = plan->digits.windows, bits = plan->digits.window_bits;
    uint64_t chunks = windows * plan_chunks_a_window(plan);
    uint64_t passes = (windows + plan->windows_a_pass - 1) / plan->windows_a_pass;
    struct msm_cuda_additions out = {.mixed = windows * plan->count};
    out.full = 2 * windows * plan_window_buckets(plan) + chunks * (bits + 1);
    out.full += passes * plan_partials(plan) * MSM_MERGE_PARTIALS / (MSM_MERGE_PARTIALS - 2);
    out.doublings = chunks * (bits - 1);
    return out;
}
