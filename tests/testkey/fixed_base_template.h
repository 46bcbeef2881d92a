/*
 * fixed_base.h for one group. Included by fixed_base_curve.h for G1 and for G2 (so no guard), with
 * GROUP, COORDINATE and segment_template.h. Every sum of points, of the table too, is a segment's.
 */
struct GROUP_FN(fixed_work) {
    const struct fixed_base *base;
    GROUP_AFFINE *out;
    const uint64_t *scalars;
    GROUP_AFFINE *window_base; /* 2^(c w) * generator */
};

/* Window w of the table, doubled in length step by step: T[m + i] = T[i] + T[m - 1]. */
static void GROUP_FN(table_window)(const struct GROUP_FN(fixed_work) * work,
                                   struct GROUP_FN(segment) * segment, size_t window)
{
    size_t length = (size_t)1 << (work->base->plan.window_bits - 1);
    GROUP_AFFINE *table = (GROUP_AFFINE *)work->base->table + window * length;
    table[0] = work->window_base[window];
    for (size_t m = 1; m < length; m *= 2) {
        segment->length = 0;
        for (size_t i = 0; i < m; i++) {
            GROUP_FN(segment_append)(segment, (uint32_t)(m + i), &table[i], table);
            GROUP_FN(segment_append)(segment, (uint32_t)(m + i), &table[m - 1], table);
        }
        GROUP_FN(segment_finish)(segment, table);
    }
}

static void GROUP_FN(table_piece)(void *arg, size_t begin, size_t end)
{
    struct GROUP_FN(segment) *segment = memory_resize(NULL, 1, sizeof(*segment));
    for (size_t window = begin; window < end; window++)
        GROUP_FN(table_window)(arg, segment, window);
    free(segment);
}

static void GROUP_FN(append_multiple)(const struct GROUP_FN(fixed_work) * work,
                                      struct GROUP_FN(segment) * segment, size_t i)
{
    const struct digit_plan *plan = &work->base->plan;
    const GROUP_AFFINE *table = work->base->table;
    for (unsigned w = 0; w < plan->windows; w++) {
        int32_t digit = digit_get(plan, work->scalars + SCALAR_WORDS * i, w);
        if (digit == 0)
            continue;
        size_t at = ((size_t)w << (plan->window_bits - 1)) + (size_t)(abs(digit) - 1);
        GROUP_AFFINE point = table[at];
        if (digit < 0)
            GROUP_FN(affine_neg)(&point, &point);
        GROUP_FN(segment_append)(segment, (uint32_t)i, &point, work->out);
    }
}

static void GROUP_FN(multiply_piece)(void *arg, size_t begin, size_t end)
{
    const struct GROUP_FN(fixed_work) *work = arg;
    struct GROUP_FN(segment) *segment = memory_resize(NULL, 1, sizeof(*segment));
    memset(work->out + begin, 0, (end - begin) * sizeof(*work->out));
    segment->length = 0;
    for (size_t i = begin; i < end; i++)
        GROUP_FN(append_multiple)(work, segment, i);
    GROUP_FN(segment_finish)(segment, work->out);
    free(segment);
}

static void GROUP_FN(fixed_multiply)(const struct fixed_base *base, void *out,
                                     const uint64_t *scalars, size_t count,
                                     struct parallel *parallel)
{
    struct GROUP_FN(fixed_work) work = {.base = base, .out = out, .scalars = scalars};
    ranges_run(parallel, count, 256, GROUP_FN(multiply_piece), &work);
}

static void GROUP_FN(fixed_make)(struct fixed_base *base, const GROUP_POINT *generator,
                                 size_t count, struct parallel *parallel)
{
    GROUP_AFFINE window_base[(SCALAR_BITS + WINDOW_BITS_MIN) / WINDOW_BITS_MIN];
    GROUP_XYZZ power;
    digit_plan_make(&base->plan, fixed_choose_window(count), SCALAR_BITS);
    GROUP_FN(point_load)(&window_base[0], generator);
    GROUP_FN(xyzz_from_affine)(&power, &window_base[0]);
    for (unsigned w = 1; w < base->plan.windows; w++) {
        for (unsigned i = 0; i < base->plan.window_bits; i++)
            GROUP_FN(xyzz_double)(&power, &power);
        GROUP_FN(xyzz_to_affine)(&window_base[w], &power);
    }
    size_t entries = (size_t)base->plan.windows << (base->plan.window_bits - 1);
    base->table = memory_resize(NULL, entries, sizeof(GROUP_AFFINE));
    base->multiply = GROUP_FN(fixed_multiply);
    struct GROUP_FN(fixed_work) work = {.base = base, .window_base = window_base};
    ranges_run(parallel, base->plan.windows, 1, GROUP_FN(table_piece), &work);
}
