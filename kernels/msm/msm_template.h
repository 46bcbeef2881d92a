/*
 * A whole multiplication: tasks, workers, joining of the windows. Included by msm.c once for each
 * group (so no guard), after window_template.h and with the same names.
 */

struct GROUP_FN(msm) {
    struct digit_plan plan;
    struct msm_layout layout;
    struct GROUP_FN(chunk) all;
    struct parallel *parallel;
    unsigned char *slots;
    GROUP_XYZZ *sum; /* of task window * chunks + chunk */
    atomic_size_t next_task;
    atomic_int cancelled;
};

/* The parts of a slot, for up to `buckets` buckets and `points` points a chunk. */
static void GROUP_FN(layout_slot)(struct msm_layout *layout, size_t buckets, size_t points)
{
    layout->bucket_at = scratch_round(sizeof(struct GROUP_FN(segment)));
    layout->bucket_end_at = layout->bucket_at + scratch_round(buckets * sizeof(GROUP_AFFINE));
    layout->order_at = layout->bucket_end_at + scratch_round(buckets * sizeof(uint32_t));
    layout->slot_bytes = layout->order_at + scratch_round(points * sizeof(uint32_t));
}

/* Enough for every window that digit_choose_window may choose for `count` points, wide or not. */
static struct msm_layout GROUP_FN(layout_bound)(size_t count, unsigned threads)
{
    struct msm_layout bound = {0};
    unsigned widest = digit_choose_window(count, count, SCALAR_BITS);
    size_t points = 0, tasks = 0;
    for (unsigned c = WINDOW_BITS_MIN; c <= widest; c++) {
        unsigned windows = digit_windows(c, SCALAR_BITS);
        size_t chunk = layout_chunk_points(count, c, windows, threads);
        size_t all = windows * layout_chunks(count, c, windows, threads);
        points = chunk > points ? chunk : points;
        tasks = all > tasks ? all : tasks;
    }
    GROUP_FN(layout_slot)(&bound, (size_t)1 << (widest - 1), points);
    bound.sums_bytes = scratch_round(tasks * sizeof(GROUP_XYZZ));
    return bound;
}

static void GROUP_FN(msm_task)(struct GROUP_FN(msm) * msm, struct GROUP_FN(slot) * slot,
                               size_t task)
{
    const struct msm_layout *layout = &msm->layout;
    unsigned window = (unsigned)(task / layout->chunks);
    size_t begin = task % layout->chunks * layout->chunk_points;
    size_t left = begin < msm->all.count ? msm->all.count - begin : 0;
    struct GROUP_FN(chunk) chunk = {msm->all.point + begin, msm->all.scalar + SCALAR_WORDS * begin,
                                    left < layout->chunk_points ? left : layout->chunk_points};
    GROUP_FN(window_sum)(&msm->sum[task], slot, &msm->plan, window, &chunk);
}

/* Takes tasks until there are none left; worker `index` has slot `index`. */
static void GROUP_FN(msm_worker)(void *arg, unsigned index)
{
    struct GROUP_FN(msm) *msm = arg;
    unsigned char *base = msm->slots + index * msm->layout.slot_bytes;
    struct GROUP_FN(slot)
        slot = {(void *)base, (void *)(base + msm->layout.bucket_at),
                (void *)(base + msm->layout.bucket_end_at), (void *)(base + msm->layout.order_at)};
    size_t tasks = msm->plan.windows * msm->layout.chunks;
    for (;;) {
        size_t task = atomic_fetch_add_explicit(&msm->next_task, 1, memory_order_relaxed);
        if (task >= tasks || atomic_load_explicit(&msm->cancelled, memory_order_relaxed))
            return;
        if (parallel_is_cancelled(msm->parallel)) {
            atomic_store_explicit(&msm->cancelled, 1, memory_order_relaxed);
            return;
        }
        GROUP_FN(msm_task)(msm, &slot, task);
    }
}

static void GROUP_FN(msm_join)(GROUP_POINT *out, const struct GROUP_FN(msm) * msm)
{
    GROUP_XYZZ sum = GROUP_FN(xyzz_infinity);
    GROUP_AFFINE affine;
    for (unsigned w = msm->plan.windows; w-- > 0;) {
        for (unsigned i = 0; i < msm->plan.window_bits; i++)
            GROUP_FN(xyzz_double)(&sum, &sum);
        for (size_t i = 0; i < msm->layout.chunks; i++)
            GROUP_FN(xyzz_add)(&sum, &sum, &msm->sum[w * msm->layout.chunks + i]);
    }
    GROUP_FN(xyzz_to_affine)(&affine, &sum);
    GROUP_FN(point_store)(out, &affine);
}

static int GROUP_FN(msm_run)(GROUP_POINT *out, struct GROUP_FN(chunk) all, void *scratch,
                             struct parallel *parallel)
{
    struct GROUP_FN(msm) msm = {.all = all, .parallel = parallel};
    unsigned threads = parallel->threads;
    unsigned c =
        digit_choose_window(all.count, scalars_count_wide(all.scalar, all.count), SCALAR_BITS);
    digit_plan_make(&msm.plan, c, SCALAR_BITS);
    msm.layout = GROUP_FN(layout_bound)(all.count, threads);
    msm.layout.chunks = layout_chunks(all.count, c, msm.plan.windows, threads);
    msm.layout.chunk_points = layout_chunk_points(all.count, c, msm.plan.windows, threads);
    msm.sum = scratch;
    msm.slots = (unsigned char *)scratch + msm.layout.sums_bytes;
    parallel->run(parallel, GROUP_FN(msm_worker), &msm, threads);
    if (atomic_load(&msm.cancelled))
        return -ECANCELED;
    GROUP_FN(msm_join)(out, &msm);
    return 0;
}

static size_t GROUP_FN(msm_scratch)(size_t count, unsigned threads)
{
    struct msm_layout bound = GROUP_FN(layout_bound)(count, threads);
    return bound.sums_bytes + threads * bound.slot_bytes;
}
