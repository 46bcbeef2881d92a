/*
 * The sum of one window over one chunk of points. Included by msm.c once for each group (so no
 * guard), after segment_template.h and with the same names.
 *
 * The points are sorted by bucket through a counting sort of their numbers (digits read twice),
 * added up per bucket by segments, and the buckets weighted by running sums: sum over b of b * B_b
 * = sum over b of (B_b + B_(b+1) + ...).
 */

/* One worker's scratch. An entry of `order` is the point's number times 2, plus 1 where it is to be
 * negated. */
struct GROUP_FN(slot) {
    struct GROUP_FN(segment) * segment;
    GROUP_AFFINE *bucket;
    uint32_t *bucket_end;
    uint32_t *order;
};

struct GROUP_FN(chunk) {
    const GROUP_AFFINE *point;
    const uint64_t *scalar;
    size_t count;
};

/* Counts the digits of the window: bucket_end[b] becomes the number of points in buckets up to b.
 * Returns their sum. */
static uint32_t GROUP_FN(window_count)(struct GROUP_FN(slot) * slot, const struct digit_plan *plan,
                                       unsigned window, const struct GROUP_FN(chunk) * chunk)
{
    size_t buckets = (size_t)1 << (plan->window_bits - 1);
    uint32_t total = 0;
    memset(slot->bucket_end, 0, buckets * sizeof(*slot->bucket_end));
    for (size_t i = 0; i < chunk->count; i++) {
        int32_t digit = digit_get(plan, chunk->scalar + SCALAR_WORDS * i, window);
        if (digit)
            slot->bucket_end[abs(digit) - 1]++;
    }
    for (size_t b = 0; b < buckets; b++) {
        total += slot->bucket_end[b];
        slot->bucket_end[b] = total;
    }
    return total;
}

/* Fills `order` from each bucket's end downwards, which leaves bucket_end[b] at the bucket's
 * beginning. */
static void GROUP_FN(window_sort)(struct GROUP_FN(slot) * slot, const struct digit_plan *plan,
                                  unsigned window, const struct GROUP_FN(chunk) * chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        int32_t digit = digit_get(plan, chunk->scalar + SCALAR_WORDS * i, window);
        if (digit)
            slot->order[--slot->bucket_end[abs(digit) - 1]] = (uint32_t)(2 * i + (digit < 0));
    }
}

static inline void GROUP_FN(window_append)(struct GROUP_FN(slot) * slot, uint32_t bucket,
                                           const GROUP_AFFINE *point, unsigned negate)
{
    GROUP_AFFINE negated;
    if (GROUP_FN(affine_is_infinity)(point))
        return;
    if (negate) {
        GROUP_FN(affine_neg)(&negated, point);
        point = &negated;
    }
    GROUP_FN(segment_append)(slot->segment, bucket, point, slot->bucket);
}

/* All points of the window into their buckets; points come in no order of memory, hence the
 * prefetch. */
static void GROUP_FN(window_fill)(struct GROUP_FN(slot) * slot, uint32_t total, size_t buckets,
                                  const struct GROUP_FN(chunk) * chunk)
{
    enum { AHEAD = 16 };
    uint32_t bucket = 0;
    memset(slot->bucket, 0, buckets * sizeof(*slot->bucket));
    slot->segment->length = 0;
    for (uint32_t i = 0; i < total; i++) {
        while (bucket + 1 < buckets && slot->bucket_end[bucket + 1] <= i)
            bucket++;
        if (i + AHEAD < total)
            __builtin_prefetch(&chunk->point[slot->order[i + AHEAD] / 2]);
        uint32_t entry = slot->order[i];
        GROUP_FN(window_append)(slot, bucket, &chunk->point[entry / 2], entry & 1);
    }
    GROUP_FN(segment_finish)(slot->segment, slot->bucket);
}

static void GROUP_FN(window_weigh)(GROUP_XYZZ *out, const GROUP_AFFINE *bucket, size_t buckets)
{
    GROUP_XYZZ running = GROUP_FN(xyzz_infinity), sum = GROUP_FN(xyzz_infinity);
    for (size_t b = buckets; b-- > 0;) {
        GROUP_FN(xyzz_add_affine)(&running, &running, &bucket[b]);
        GROUP_FN(xyzz_add)(&sum, &sum, &running);
    }
    *out = sum;
}

static void GROUP_FN(window_sum)(GROUP_XYZZ *out, struct GROUP_FN(slot) * slot,
                                 const struct digit_plan *plan, unsigned window,
                                 const struct GROUP_FN(chunk) * chunk)
{
    size_t buckets = (size_t)1 << (plan->window_bits - 1);
    uint32_t total = GROUP_FN(window_count)(slot, plan, window, chunk);
    if (total == 0) {
        *out = GROUP_FN(xyzz_infinity);
        return;
    }
    GROUP_FN(window_sort)(slot, plan, window, chunk);
    GROUP_FN(window_fill)(slot, total, buckets, chunk);
    GROUP_FN(window_weigh)(out, slot->bucket, buckets);
}
