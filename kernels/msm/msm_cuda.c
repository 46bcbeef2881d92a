/*
 * The launches of a multiplication on a GPU, by a plan, and its end on the host. msm_cuda.h has
 * contract and method. Called by the CUDA device; no state; a SIGKILL leaves nothing.
 */
#include "kernels/msm/msm_cuda.h"
#include "kernels/msm/msm_plan_cuda.h"

/* What the launches of one sum share. */
struct sum_run {
    struct gpu_queue *queue;
    const struct msm_cuda_plan *plan;
    enum group group;
    gpu_pointer points, scratch, result;
    uint32_t first;                    /* scalar that the first point belongs to */
    uint32_t window_first, window_end; /* of this pass */
};

static uint32_t blocks_for(uint64_t threads, uint32_t block)
{
    return (uint32_t)((threads + block - 1) / block);
}

static int launch_run(struct gpu_queue *queue, const char *kernel, uint32_t blocks,
                      uint32_t threads, const void *arguments, size_t bytes)
{
    struct gpu_launch launch = {.kernel = kernel,
                                .blocks = blocks,
                                .threads = threads,
                                .arguments = arguments,
                                .argument_bytes = bytes};
    return queue->launch(queue, &launch);
}

/* ---- the sort ---- */

static int digits_launch(struct gpu_queue *queue, const struct msm_cuda_plan *plan,
                         const char *kernel, gpu_pointer scratch, uint32_t window_first,
                         uint32_t window_end)
{
    struct msm_sort_arguments arguments = {.scalars = plan->scalars,
                                           .counts = scratch + plan->at.cursor,
                                           .entries = scratch + plan->at.entries,
                                           .count = plan->count,
                                           .window_bits = plan->digits.window_bits,
                                           .window_first = window_first,
                                           .window_end = window_end};
    for (unsigned i = 0; i < MSM_OFFSET_WORDS; i++)
        arguments.offset[i] = (uint32_t)(plan->digits.offset[i / 2] >> 32 * (i % 2));
    for (unsigned i = 0; i < 8; i++)
        arguments.minus_one[i] = plan->minus_one[i];
    return launch_run(queue, kernel, blocks_for(plan->count, MSM_SORT_THREADS), MSM_SORT_THREADS,
                      &arguments, sizeof(arguments));
}

static int scan_launch(struct gpu_queue *queue, const struct msm_cuda_plan *plan,
                       gpu_pointer scratch)
{
    static const char *const kernels[] = {"msm_scan_blocks", "msm_scan_totals", "msm_scan_finish"};
    uint32_t buckets = plan_buckets(plan), blocks = blocks_for(buckets, MSM_SCAN_COUNTS);
    struct msm_scan_arguments arguments = {.counts = scratch + plan->at.cursor,
                                           .start = scratch + plan->at.start,
                                           .totals = scratch + plan->at.totals,
                                           .buckets = buckets,
                                           .blocks = blocks};
    int error = 0;
    for (unsigned i = 0; i < 3 && !error; i++)
        error = launch_run(queue, kernels[i], i == 1 ? 1 : blocks, MSM_SORT_THREADS, &arguments,
                           sizeof(arguments));
    return error;
}

static int windows_sort(struct gpu_queue *queue, const struct msm_cuda_plan *plan,
                        gpu_pointer scratch, uint32_t window_first, uint32_t window_end)
{
    int error = queue->clear(queue, scratch + plan->at.cursor,
                             sizeof(uint32_t) * (size_t)plan_buckets(plan));
    if (!error)
        error = digits_launch(queue, plan, "msm_sort_count", scratch, window_first, window_end);
    if (!error)
        error = scan_launch(queue, plan, scratch);
    if (!error)
        error = digits_launch(queue, plan, "msm_sort_place", scratch, window_first, window_end);
    return error;
}

static int plan_is_one_pass(const struct msm_cuda_plan *plan)
{
    return plan->windows_a_pass >= plan->digits.windows;
}

int msm_cuda_sort(struct gpu_queue *queue, struct msm_cuda_plan *plan, gpu_pointer scalars,
                  gpu_pointer scratch)
{
    plan->scalars = scalars;
    if (plan->count == 0 || !plan_is_one_pass(plan))
        return 0;
    return windows_sort(queue, plan, scratch, 0, plan->digits.windows);
}

/* ---- the sum ---- */

/* `kernels`: its names in G1 and G2. */
static int sum_launch(const struct sum_run *run, const char *const kernels[2], uint32_t blocks,
                      const void *arguments, size_t bytes)
{
    return launch_run(run->queue, kernels[run->group], blocks, MSM_SUM_THREADS, arguments, bytes);
}

static int accumulate_launch(const struct sum_run *run)
{
    static const char *const kernels[] = {"msm_g1_accumulate", "msm_g2_accumulate"};
    const struct msm_cuda_layout *at = &run->plan->at;
    struct msm_accumulate_arguments arguments = {.entries = run->scratch + at->entries,
                                                 .start = run->scratch + at->start,
                                                 .points = run->points,
                                                 .buckets = run->scratch + at->buckets,
                                                 .keys = run->scratch + at->keys[0],
                                                 .partials = run->scratch + at->partials[0],
                                                 .bucket_count = plan_buckets(run->plan),
                                                 .slices = run->plan->slices,
                                                 .first = run->first};
    return sum_launch(run, kernels, blocks_for(run->plan->slices, MSM_SUM_THREADS), &arguments,
                      sizeof(arguments));
}

static int merge_launch(const struct sum_run *run, uint32_t level, uint32_t partials)
{
    static const char *const kernels[] = {"msm_g1_merge", "msm_g2_merge"};
    const struct msm_cuda_layout *at = &run->plan->at;
    uint32_t in = level % 2, out = 1 - in;
    struct msm_merge_arguments arguments = {.start = run->scratch + at->start,
                                            .keys_in = run->scratch + at->keys[in],
                                            .partials_in = run->scratch + at->partials[in],
                                            .keys_out = run->scratch + at->keys[out],
                                            .partials_out = run->scratch + at->partials[out],
                                            .buckets = run->scratch + at->buckets,
                                            .bucket_count = plan_buckets(run->plan),
                                            .slices = run->plan->slices,
                                            .level = level};
    uint32_t threads = blocks_for(partials, MSM_MERGE_PARTIALS);
    return sum_launch(run, kernels, blocks_for(threads, MSM_SUM_THREADS), &arguments,
                      sizeof(arguments));
}

/* As many levels as the longest list needs; for a shorter one the last ones find nothing. */
static int merges_launch(const struct sum_run *run)
{
    uint32_t level = 0, partials = plan_partials(run->plan);
    int error = merge_launch(run, level, partials);
    while (!error && partials > MSM_MERGE_PARTIALS) {
        partials = merge_partials_after(partials);
        error = merge_launch(run, ++level, partials);
    }
    return error;
}

static int weigh_launch(const struct sum_run *run)
{
    static const char *const kernels[] = {"msm_g1_weigh", "msm_g2_weigh"};
    const struct msm_cuda_plan *plan = run->plan;
    uint32_t windows = run->window_end - run->window_first;
    struct msm_weigh_arguments arguments = {.buckets = run->scratch + plan->at.buckets,
                                            .chunks = run->scratch + plan->at.chunks,
                                            .windows = windows,
                                            .window_bits = plan->digits.window_bits,
                                            .chunk_buckets = plan->chunk_buckets};
    uint32_t threads = windows * plan_chunks_a_window(plan);
    return sum_launch(run, kernels, blocks_for(threads, MSM_SUM_THREADS), &arguments,
                      sizeof(arguments));
}

static int gather_launch(const struct sum_run *run)
{
    static const char *const kernels[] = {"msm_g1_gather", "msm_g2_gather"};
    const struct msm_cuda_plan *plan = run->plan;
    uint64_t sum_bytes = plan->xyzz_bytes[run->group];
    uint64_t ones = (uint64_t)run->window_end * plan_window_buckets(plan);
    struct msm_gather_arguments arguments = {.chunks = run->scratch + plan->at.chunks,
                                             .result = run->result + run->window_first * sum_bytes,
                                             .chunk_count = plan_chunks_a_window(plan)};
    if (run->window_first == 0)
        arguments.ones = run->scratch + plan->at.buckets + ones * sum_bytes;
    return sum_launch(run, kernels, run->window_end - run->window_first, &arguments,
                      sizeof(arguments));
}

/* The windows of one pass; their sort lies in scratch. Buckets that stay empty are infinity. */
static int windows_sum(const struct sum_run *run)
{
    size_t bytes = (size_t)plan_buckets(run->plan) * run->plan->xyzz_bytes[run->group];
    int error = run->queue->clear(run->queue, run->scratch + run->plan->at.buckets, bytes);
    if (!error)
        error = accumulate_launch(run);
    if (!error)
        error = merges_launch(run);
    if (!error)
        error = weigh_launch(run);
    if (!error)
        error = gather_launch(run);
    return error;
}

int msm_cuda_sum(struct gpu_queue *queue, const struct msm_cuda_plan *plan, enum group group,
                 gpu_pointer points, size_t first, gpu_pointer scratch, gpu_pointer result)
{
    struct sum_run run = {queue, plan, group, points, scratch, result, (uint32_t)first, 0, 0};
    uint32_t windows = plan->digits.windows;
    int error = 0;
    if (first >= plan->count)
        return queue->clear(queue, result, msm_cuda_result_bytes(plan, group));
    while (run.window_end < windows && !error) {
        run.window_first = run.window_end;
        run.window_end += plan->windows_a_pass;
        if (run.window_end > windows)
            run.window_end = windows;
        if (!plan_is_one_pass(plan))
            error = windows_sort(queue, plan, scratch, run.window_first, run.window_end);
        if (!error)
            error = windows_sum(&run);
    }
    return error;
}

int msm_cuda_finish(const struct curve *curve, const struct msm_cuda_plan *plan, enum group group,
                    const void *result, void *out)
{
    return curve->msm_join_windows(group, out, result, plan->digits.windows,
                                   plan->digits.window_bits);
}
