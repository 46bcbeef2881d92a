/*
 * Adding up the points of many buckets in affine form, many additions to one inversion. Included by
 * msm.c once for each group (so no guard), with GROUP and COORDINATE set as for
 * kernels/curve/group_template.h.
 *
 * A segment is a list of (bucket, point), equal buckets side by side, no point at infinity. A round
 * adds neighbours of the same bucket pairwise; when a round finds no pair, every bucket has one
 * point. An addition takes 6 multiplications: 3 for its share of the inversion, slope, its square,
 * y.
 */
struct GROUP_FN(segment) {
    size_t length;
    uint32_t bucket[SEGMENT_POINTS];
    GROUP_AFFINE point[SEGMENT_POINTS];
    COORD denominator[SEGMENT_POINTS / 2];
    COORD prefix[SEGMENT_POINTS / 2];
};

/* The denominator of the slope through p and q; one, where their sum is infinity and has no slope.
 */
static inline void GROUP_FN(pair_denominator)(COORD *out, const GROUP_AFFINE *p,
                                              const GROUP_AFFINE *q)
{
    COORD_FN(sub)(out, &q->x, &p->x);
    if (!COORD_FN(is_zero)(out))
        return;
    if (COORD_FN(equal)(&p->y, &q->y))
        COORD_FN(double)(out, &p->y);
    if (COORD_FN(is_zero)(out))
        *out = COORD_FN(one);
}

/* out = p + q, given the inverse of pair_denominator; 0 where the sum is infinity, and out is not
 * written. */
static inline int GROUP_FN(pair_add)(GROUP_AFFINE *out, const GROUP_AFFINE *p,
                                     const GROUP_AFFINE *q, const COORD *inverse)
{
    COORD slope, t, x;
    if (!COORD_FN(equal)(&p->x, &q->x)) {
        COORD_FN(sub)(&slope, &q->y, &p->y);
    } else {
        if (!COORD_FN(equal)(&p->y, &q->y) || COORD_FN(is_zero)(&p->y))
            return 0;
        COORD_FN(square)(&t, &p->x);
        COORD_FN(double)(&slope, &t);
        COORD_FN(add)(&slope, &slope, &t);
    }
    COORD_FN(mul)(&slope, &slope, inverse);
    COORD_FN(square)(&t, &slope);
    COORD_FN(sub)(&t, &t, &p->x);
    COORD_FN(sub)(&x, &t, &q->x);
    COORD_FN(sub)(&t, &p->x, &x);
    COORD_FN(mul)(&t, &t, &slope);
    COORD_FN(sub)(&out->y, &t, &p->y);
    out->x = x;
    return 1;
}

/* Replaces count >= 1 denominators, none zero, by their inverses (Montgomery's trick). */
static void GROUP_FN(segment_invert)(struct GROUP_FN(segment) * s, size_t count, COORD *product)
{
    COORD_FN(inverse)(product, product);
    for (size_t i = count; i-- > 0;) {
        COORD inverse;
        COORD_FN(mul)(&inverse, product, &s->prefix[i]);
        COORD_FN(mul)(product, product, &s->denominator[i]);
        s->denominator[i] = inverse;
    }
}

static inline int GROUP_FN(segment_is_pair)(const struct GROUP_FN(segment) * s, size_t i)
{
    return i + 1 < s->length && s->bucket[i] == s->bucket[i + 1];
}

/* The denominators of this round's pairs, and the products of those before each; returns how many.
 */
static size_t GROUP_FN(segment_collect)(struct GROUP_FN(segment) * s, COORD *product)
{
    size_t pairs = 0;
    *product = COORD_FN(one);
    for (size_t i = 0; i < s->length; i++) {
        if (!GROUP_FN(segment_is_pair)(s, i))
            continue;
        GROUP_FN(pair_denominator)(&s->denominator[pairs], &s->point[i], &s->point[i + 1]);
        s->prefix[pairs] = *product;
        COORD_FN(mul)(product, product, &s->denominator[pairs]);
        pairs++;
        i++;
    }
    return pairs;
}

/* One round, in place: the list closes up over pairs and over sums at infinity. Returns the number
 * of pairs. */
static size_t GROUP_FN(segment_round)(struct GROUP_FN(segment) * s)
{
    COORD product;
    size_t pairs = GROUP_FN(segment_collect)(s, &product), pair = 0, kept = 0;
    if (pairs == 0)
        return 0;
    GROUP_FN(segment_invert)(s, pairs, &product);
    for (size_t i = 0; i < s->length; i++) {
        s->bucket[kept] = s->bucket[i];
        if (!GROUP_FN(segment_is_pair)(s, i)) {
            s->point[kept++] = s->point[i];
            continue;
        }
        kept += (size_t)GROUP_FN(pair_add)(&s->point[kept], &s->point[i], &s->point[i + 1],
                                           &s->denominator[pair++]);
        i++;
    }
    s->length = kept;
    return pairs;
}

/* Adds up the segment; all buckets but the last are done and go to `buckets`, the last stays for
 * what may follow. */
static void GROUP_FN(segment_reduce)(struct GROUP_FN(segment) * s, GROUP_AFFINE *buckets)
{
    while (GROUP_FN(segment_round)(s) > 0)
        ;
    if (s->length == 0)
        return;
    for (size_t i = 0; i + 1 < s->length; i++)
        buckets[s->bucket[i]] = s->point[i];
    s->bucket[0] = s->bucket[s->length - 1];
    s->point[0] = s->point[s->length - 1];
    s->length = 1;
}

static inline void GROUP_FN(segment_append)(struct GROUP_FN(segment) * s, uint32_t bucket,
                                            const GROUP_AFFINE *point, GROUP_AFFINE *buckets)
{
    if (s->length == SEGMENT_POINTS)
        GROUP_FN(segment_reduce)(s, buckets);
    s->bucket[s->length] = bucket;
    s->point[s->length++] = *point;
}

static void GROUP_FN(segment_finish)(struct GROUP_FN(segment) * s, GROUP_AFFINE *buckets)
{
    GROUP_FN(segment_reduce)(s, buckets);
    if (s->length)
        buckets[s->bucket[0]] = s->point[0];
}
