/*
 * A task: some windows of one set of points. Included by msm_ifma.c once for each group (so no
 * guard), after weigh_template_ifma.h.
 */

/* A worker's scratch, cut for this group. */
struct GROUP_FN(slot) {
    GROUP_BATCH *batch;
    struct piece *run, *piece; /* a run is a bucket's points, or one of the last sums' ends */
    uint32_t *by_length, *order, *filtered;
    GROUP_AFFINE *sum, *other; /* sums of the last pass, and of the one before */
};

static struct GROUP_FN(slot)
    GROUP_FN(slot_cut)(const struct slot_layout *layout, unsigned char *base)
{
    struct GROUP_FN(slot) slot = {.batch = (void *)base,
                                  .run = (void *)(base + layout->run_at),
                                  .piece = (void *)(base + layout->piece_at),
                                  .by_length = (void *)(base + layout->by_length_at),
                                  .order = (void *)(base + layout->order_at),
                                  .filtered = (void *)(base + layout->filtered_at),
                                  .sum = (void *)(base + layout->sum_at)};
    slot.other = slot.sum + layout->pieces;
    GROUP_FN(batch_init)(slot.batch);
    return slot;
}

/* Cuts all runs into pieces; run i becomes the run of its pieces. Returns the longest run's pieces.
 */
static uint32_t GROUP_FN(runs_cut)(struct GROUP_FN(slot) * slot, size_t runs, uint32_t *pieces)
{
    uint32_t most = 0, count = 0;
    for (size_t i = 0; i < runs; i++) {
        uint32_t here = pieces_cut(&slot->piece[count], slot->run[i].begin, slot->run[i].length);
        slot->run[i] = (struct piece){count, here};
        most = here > most ? here : most;
        count += here;
    }
    *pieces = count;
    return most;
}

/* Each run of `from`'s order to one sum: run i's, if it has a point, is slot->sum[run[i].begin]. */
static void GROUP_FN(runs_reduce)(struct GROUP_FN(slot) * slot, size_t runs, GROUP_COLUMNS from)
{
    for (;;) {
        uint32_t most = GROUP_FN(runs_cut)(slot, runs, &from.pieces);
        GROUP_AFFINE *out = slot->other;
        from.piece = slot->piece;
        from.by_length = slot->by_length;
        from.out = out;
        GROUP_FN(columns_run)(slot->batch, &from);
        slot->other = slot->sum;
        slot->sum = out;
        if (most <= 1)
            return;
        for (uint32_t i = 0; i < from.pieces; i++)
            slot->order[i] = 2 * i;
        from = (GROUP_COLUMNS){.point = (const unsigned char *)out, .order = slot->order};
    }
}

/* The buckets of a window as runs of `order` (from `base` on): without those of the first wires. */
static void GROUP_FN(window_runs)(struct piece *run, const struct sum_set *set,
                                  const struct schedule *s, unsigned window, uint32_t base)
{
    const uint32_t *head = schedule_head(s, window), *order = schedule_order(s, window);
    for (size_t b = 1; b <= schedule_buckets(s); b++) {
        uint32_t begin = head[b - 1], end = head[b];
        while (begin < end && order[begin] / 2 < set->first)
            begin++;
        run[b - 1] = (struct piece){base + begin, end - begin};
    }
}

/* The same runs without the points at infinity. */
static void GROUP_FN(runs_filter)(struct GROUP_FN(slot) * slot, size_t runs,
                                  const struct sum_set *set, const uint32_t *order)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < runs; i++) {
        const uint32_t *from = order + slot->run[i].begin;
        uint32_t begin = kept;
        for (uint32_t k = 0; k < slot->run[i].length; k++) {
            slot->filtered[kept] = from[k];
            kept += !set_is_infinite(set, from[k] / 2);
        }
        slot->run[i] = (struct piece){begin, kept - begin};
    }
}

/* Buckets in slot->run, their sums in slot->sum, to window_bits sums a window, at `result`. */
static void GROUP_FN(task_weigh)(struct GROUP_FN(slot) * slot, const struct schedule *s,
                                 unsigned windows, GROUP_AFFINE *result)
{
    GROUP_WEIGH weigh = {.plan = weigh_plan_make(s->plan.window_bits),
                         .bucket = slot->run,
                         .sum = slot->sum,
                         .end = slot->other};
    size_t sums = (size_t)windows * s->plan.window_bits;
    uint32_t at = 0;
    GROUP_FN(weigh_run)(slot->batch, &weigh, windows);
    for (unsigned w = 0; w < windows; w++)
        at = weigh_list_ends(slot->order, at, &weigh.plan, w * weigh.plan.ends,
                             &slot->run[w * s->plan.window_bits]);
    GROUP_AFFINE *ends = slot->other;
    slot->other = slot->sum;
    slot->sum = ends;
    GROUP_FN(runs_reduce)
    (slot, sums, (GROUP_COLUMNS){.point = (const unsigned char *)ends, .order = slot->order});
    for (size_t i = 0; i < sums; i++)
        result[i] = slot->sum[slot->run[i].begin];
}

/* Windows first .. first + windows - 1 of the set. */
static void GROUP_FN(task_run)(const struct slot_layout *layout, unsigned char *base,
                               const struct sum_set *set, const struct schedule *s, unsigned first,
                               unsigned windows)
{
    struct GROUP_FN(slot) slot = GROUP_FN(slot_cut)(layout, base);
    const size_t runs = windows * schedule_buckets(s);
    GROUP_COLUMNS from = {
        .point = set->points, .first = set->first, .order = schedule_order(s, first)};
    GROUP_AFFINE *result = (GROUP_AFFINE *)set->result + (size_t)first * s->plan.window_bits;
    for (unsigned w = 0; w < windows; w++)
        GROUP_FN(window_runs)
    (slot.run + w * schedule_buckets(s), set, s, first + w,
     (uint32_t)(schedule_at(s, first + w) - schedule_at(s, first)));
    if (set->infinite) {
        GROUP_FN(runs_filter)(&slot, runs, set, from.order);
        from.order = slot.filtered;
    }
    GROUP_FN(runs_reduce)(&slot, runs, from);
    GROUP_FN(task_weigh)(&slot, s, windows, result);
}

/* The windows' sums to the whole, by Horner's rule over the bits. */
static void GROUP_FN(set_join)(const struct sum_set *set, const struct digit_plan *plan)
{
    const GROUP_AFFINE *result = set->result;
    GROUP_XYZZ sum = GROUP_FN(xyzz_infinity);
    GROUP_AFFINE affine;
    for (unsigned w = plan->windows; w-- > 0;) {
        const GROUP_AFFINE *part = result + (size_t)w * plan->window_bits;
        for (unsigned k = plan->window_bits; k-- > 0;) {
            GROUP_FN(xyzz_double)(&sum, &sum);
            if (k + 1 < plan->window_bits)
                GROUP_FN(xyzz_add_affine)(&sum, &sum, &part[k]);
        }
        GROUP_FN(xyzz_add_affine)(&sum, &sum, &part[plan->window_bits - 1]);
    }
    GROUP_FN(xyzz_to_affine)(&affine, &sum);
    GROUP_FN(point_store)(set->out, &affine);
}
