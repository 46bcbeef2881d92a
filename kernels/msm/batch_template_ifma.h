/*
 * Many additions of points in affine form, eight at a time, one inversion for all (Montgomery's
 * trick). Included by msm_ifma.c once for each group (so no guard), with GROUP and COORDINATE set
 * as for kernels/curve/group_template.h. The memory is the caller's.
 *
 * A row is eight points, one in each lane, coordinates in vector form below 2p (vector_ifma.h). A
 * batch is a list of pairs of rows, in each of which row[p] += row[q], lane by lane; no row occurs
 * twice in it. row[q] is destroyed. An addition takes six products: three for its share of the
 * inversion, slope, its square, y.
 *
 * Infinity is a lane whose y limbs are all zero (no point of either curve has y = 0). It is looked
 * for only where it can be: in pairs that are marked RAGGED, until two points with the same x are
 * met. That shows in the product of all denominators, which is then zero. From there on the batch
 * is `complete`: each pair is looked at for infinity, equal and opposite points. So honest keys
 * never pay for them, and the others a few parts in a hundred.
 */
#define COORD_X8 struct COORD_FN(x8)
#define GROUP_ROW struct GROUP_FN(row)
#define GROUP_BATCH struct GROUP_FN(batch)

GROUP_ROW
{
    COORD_X8 x, y;
};

GROUP_BATCH
{
    COORD_X8 accumulator[BATCH_CHAINS];
    COORD_X8 one;
    COORD_X8 prefix[BATCH_PAIRS]; /* the product of its chain's denominators before a pair's own */
    GROUP_ROW row[BATCH_ROWS];
    struct batch_pair pair[BATCH_PAIRS];
    uint8_t keep[BATCH_PAIRS];  /* lanes in which row[p] is the sum already */
    uint8_t twice[BATCH_PAIRS]; /* lanes in which it is to be doubled */
    size_t pairs;
    int complete;
    struct columns_ahead ahead; /* points to fetch while additions run */
    struct columns_row list[2][BATCH_ROWS];
};

static void GROUP_FN(batch_init)(GROUP_BATCH *b)
{
    COORD_X8 one;
    COORD_FN(x8_broadcast)(&one, &COORD_FN(one));
    COORD_FN(x8_reduce)(&b->one, &one);
    b->pairs = 0;
    b->complete = 0;
    b->ahead = (struct columns_ahead){NULL, NULL, NULL};
}

static inline void GROUP_FN(batch_add)(GROUP_BATCH *b, uint32_t p, uint32_t q, uint32_t mark)
{
    b->pair[b->pairs++] = (struct batch_pair){p, q | mark};
}

/* ---- out of line: what is not in the inner loops ---- */

FIELD_OUT_OF_LINE void GROUP_FN(x8_multiply)(COORD_X8 *out, const COORD_X8 *a, const COORD_X8 *b)
{
    COORD_FN(x8_mul)(out, a, b);
}

/* out lane i = a lane (i + by) mod 8 */
static inline void GROUP_FN(x8_rotate)(COORD_X8 *out, const COORD_X8 *a, int by)
{
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i from = _mm512_add_epi64(lane, _mm512_set1_epi64(by));
    const __m512i *in = (const __m512i *)a;
    __m512i *to = (__m512i *)out;
    for (size_t i = 0; i < sizeof(*a) / sizeof(*in); i++)
        to[i] = _mm512_permutexvar_epi64(from, in[i]);
}

/* out = 1 / a in each lane, none zero: one inversion of the product of all lanes, times the others.
 */
FIELD_OUT_OF_LINE void GROUP_FN(x8_invert)(COORD_X8 *out, const COORD_X8 *a)
{
    COORD_X8 turned, product = *a, others;
    COORD word[8];
    void *pointer[8];
    for (int i = 0; i < 8; i++)
        pointer[i] = &word[i];
    GROUP_FN(x8_rotate)(&others, a, 1);
    GROUP_FN(x8_multiply)(&product, &product, &others);
    for (int by = 2; by < 8; by *= 2) {
        GROUP_FN(x8_rotate)(&turned, &product, by);
        GROUP_FN(x8_multiply)(&others, &others, &turned);
        GROUP_FN(x8_multiply)(&product, &product, &turned);
    }
    COORD_FN(x8_store)(pointer, &product);
    COORD_FN(inverse_gcd)(&word[0], &word[0]);
    COORD_FN(x8_broadcast)(&turned, &word[0]);
    COORD_FN(x8_reduce)(&turned, &turned);
    GROUP_FN(x8_multiply)(out, &turned, &others);
}

/* ---- denominators ---- */

/* Lanes whose limbs are all zero. */
static inline __mmask8 GROUP_FN(x8_nothing)(const COORD_X8 *a)
{
    const __m512i *limb = (const __m512i *)a;
    __m512i any = limb[0];
    for (size_t i = 1; i < sizeof(*a) / sizeof(*limb); i++)
        any = _mm512_or_si512(any, limb[i]);
    return _mm512_testn_epi64_mask(any, any);
}

static inline __mmask8 GROUP_FN(row_infinite)(const GROUP_ROW *row)
{
    return GROUP_FN(x8_nothing)(&row->y);
}

/* Where p is infinity, q takes its place; where either was, the sum is there and the denominator 1.
 */
static inline void GROUP_FN(pair_absorb)(GROUP_BATCH *b, size_t k, GROUP_ROW *p, const GROUP_ROW *q,
                                         COORD_X8 *denominator)
{
    __mmask8 p_infinite = GROUP_FN(row_infinite)(p), q_infinite = GROUP_FN(row_infinite)(q);
    COORD_FN(x8_select)(&p->x, p_infinite, &p->x, &q->x);
    COORD_FN(x8_select)(&p->y, p_infinite, &p->y, &q->y);
    b->keep[k] = p_infinite | q_infinite;
    COORD_FN(x8_select)(denominator, b->keep[k], denominator, &b->one);
}

/* Equal points: the denominator of the tangent. Opposite ones: infinity, and 1. */
FIELD_OUT_OF_LINE void GROUP_FN(pair_complete)(GROUP_BATCH *b, size_t k, GROUP_ROW *p,
                                               const GROUP_ROW *q, COORD_X8 *denominator)
{
    COORD_X8 zero, twice;
    GROUP_FN(pair_absorb)(b, k, p, q, denominator);
    __mmask8 same = COORD_FN(x8_is_zero_mask)(denominator);
    __mmask8 equal = same & COORD_FN(x8_equal_mask)(&p->y, &q->y), opposite = same & ~equal;
    COORD_FN(x8_double)(&twice, &p->y);
    COORD_FN(x8_select)(denominator, equal, denominator, &twice);
    COORD_FN(x8_select)(denominator, opposite, denominator, &b->one);
    COORD_FN(x8_zero)(&zero);
    COORD_FN(x8_select)(&p->x, opposite, &p->x, &zero);
    COORD_FN(x8_select)(&p->y, opposite, &p->y, &zero);
    b->twice[k] = equal;
    b->keep[k] |= opposite;
}

/* The denominator of each pair, left in row[q].x (the sum needs x_q as x_p + denominator only). */
static void GROUP_FN(batch_collect)(GROUP_BATCH *b)
{
    for (size_t k = 0; k < BATCH_CHAINS; k++)
        b->accumulator[k] = b->one;
    for (size_t k = 0; k < b->pairs; k++) {
        GROUP_ROW *p = &b->row[b->pair[k].p], *q = &b->row[b->pair[k].q & ~BATCH_RAGGED];
        COORD_X8 *accumulator = &b->accumulator[k % BATCH_CHAINS], denominator;
        COORD_FN(x8_sub)(&denominator, &q->x, &p->x);
        b->keep[k] = b->twice[k] = 0;
        if (b->complete)
            GROUP_FN(pair_complete)(b, k, p, q, &denominator);
        else if (b->pair[k].q & BATCH_RAGGED)
            GROUP_FN(pair_absorb)(b, k, p, q, &denominator);
        q->x = denominator;
        b->prefix[k] = *accumulator;
        COORD_FN(x8_mul)(accumulator, &denominator, accumulator);
    }
}

/* Undoes batch_collect: x_q again, save in lanes that are kept, where q is infinity or taken. */
static void GROUP_FN(batch_restore)(GROUP_BATCH *b)
{
    for (size_t k = 0; k < b->pairs; k++) {
        GROUP_ROW *p = &b->row[b->pair[k].p], *q = &b->row[b->pair[k].q & ~BATCH_RAGGED];
        COORD_X8 x, zero;
        COORD_FN(x8_zero)(&zero);
        COORD_FN(x8_add)(&x, &p->x, &q->x);
        COORD_FN(x8_reduce)(&q->x, &x);
        COORD_FN(x8_select)(&q->y, b->keep[k], &q->y, &zero);
    }
}

/* The inverse of each chain's product from one inversion of the product of all. 0 where that is
 * zero. */
static int GROUP_FN(batch_invert)(GROUP_BATCH *b)
{
    COORD_X8 before[BATCH_CHAINS], inverse, t;
    before[0] = b->accumulator[0];
    for (size_t k = 1; k < BATCH_CHAINS; k++)
        GROUP_FN(x8_multiply)(&before[k], &before[k - 1], &b->accumulator[k]);
    if (COORD_FN(x8_is_zero_mask)(&before[BATCH_CHAINS - 1]))
        return 0;
    GROUP_FN(x8_invert)(&inverse, &before[BATCH_CHAINS - 1]);
    for (size_t k = BATCH_CHAINS - 1; k > 0; k--) {
        t = b->accumulator[k];
        GROUP_FN(x8_multiply)(&b->accumulator[k], &inverse, &before[k - 1]);
        GROUP_FN(x8_multiply)(&inverse, &t, &inverse);
    }
    b->accumulator[0] = inverse;
    return 1;
}

/* ---- sums ---- */

/* The numerator of the tangent in the lanes that are doubled, and a denominator that leaves x_p for
 * x_q. */
FIELD_OUT_OF_LINE void GROUP_FN(pair_tangent)(__mmask8 lanes, const GROUP_ROW *p,
                                              COORD_X8 *numerator, COORD_X8 *denominator)
{
    COORD_X8 square, t;
    COORD_FN(x8_square)(&square, &p->x);
    COORD_FN(x8_double)(&t, &square);
    COORD_FN(x8_add)(&t, &t, &square);
    COORD_FN(x8_select)(numerator, lanes, numerator, &t);
    COORD_FN(x8_zero)(&t);
    COORD_FN(x8_lift_raw)(&t);
    COORD_FN(x8_select)(denominator, lanes, denominator, &t);
}

/* slope = (y_q - y_p) / (x_q - x_p), one after the other, for the inverses depend on each other */
static inline void GROUP_FN(block_slopes)(GROUP_BATCH *b, size_t begin, size_t count,
                                          COORD_X8 *slope)
{
    COORD_X8 numerator[BATCH_BLOCK];
    for (size_t i = count; i-- > 0;) {
        size_t k = begin + i;
        const GROUP_ROW *p = &b->row[b->pair[k].p];
        GROUP_ROW *q = &b->row[b->pair[k].q & ~BATCH_RAGGED];
        COORD_X8 *accumulator = &b->accumulator[k % BATCH_CHAINS];
        COORD_FN(x8_mul)(&slope[i], accumulator, &b->prefix[k]);
        COORD_FN(x8_mul)(accumulator, &q->x, accumulator);
        COORD_FN(x8_sub)(&numerator[i], &q->y, &p->y);
        if (b->twice[k])
            GROUP_FN(pair_tangent)(b->twice[k], p, &numerator[i], &q->x);
    }
    for (size_t i = 0; i < count; i++)
        COORD_FN(x8_mul)(&slope[i], &numerator[i], &slope[i]);
}

/* x = slope^2 - x_p - x_q, where q.x is x_q - x_p + 4p: positive with 12p more (8p at least are
 * taken away), and below 14p then */
static inline void GROUP_FN(pair_x)(COORD_X8 *x, const COORD_X8 *slope, const COORD_X8 *p_x,
                                    const COORD_X8 *denominator)
{
    COORD_X8 t;
    COORD_FN(x8_square)(&t, slope);
    COORD_FN(x8_sub_raw)(&t, &t, p_x);
    COORD_FN(x8_sub_raw)(&t, &t, p_x);
    COORD_FN(x8_sub_raw)(&t, &t, denominator);
    COORD_FN(x8_lift_raw)(&t);
    COORD_FN(x8_lift_raw)(&t);
    COORD_FN(x8_lift_raw)(&t);
    COORD_FN(x8_normalize)(&t);
    COORD_FN(x8_reduce)(x, &t);
}

static inline void GROUP_FN(pair_finish)(GROUP_BATCH *b, size_t k, const COORD_X8 *slope,
                                         const COORD_X8 *x)
{
    GROUP_ROW *p = &b->row[b->pair[k].p];
    COORD_X8 t, y;
    COORD_FN(x8_sub)(&t, &p->x, x);
    COORD_FN(x8_mul)(&t, &t, slope);
    COORD_FN(x8_sub)(&t, &t, &p->y);
    COORD_FN(x8_reduce)(&y, &t);
    if (b->keep[k] == 0) {
        p->x = *x;
        p->y = y;
        return;
    }
    COORD_FN(x8_select)(&p->x, b->keep[k], x, &p->x);
    COORD_FN(x8_select)(&p->y, b->keep[k], &y, &p->y);
}

/* Pairs are finished from the last to the first, a block at a time: within a block the products of
 * a stage do not depend on each other. */
static void GROUP_FN(batch_apply)(GROUP_BATCH *b)
{
    COORD_X8 slope[BATCH_BLOCK], x[BATCH_BLOCK];
    for (size_t end = b->pairs; end > 0;) {
        size_t count = end % BATCH_BLOCK ? end % BATCH_BLOCK : BATCH_BLOCK;
        size_t begin = end - count;
        columns_fetch(&b->ahead, 16 * BATCH_BLOCK, sizeof(GROUP_AFFINE));
        GROUP_FN(block_slopes)(b, begin, count, slope);
        for (size_t i = 0; i < count; i++)
            GROUP_FN(pair_x)
        (&x[i], &slope[i], &b->row[b->pair[begin + i].p].x,
         &b->row[b->pair[begin + i].q & ~BATCH_RAGGED].x);
        for (size_t i = 0; i < count; i++)
            GROUP_FN(pair_finish)(b, begin + i, &slope[i], &x[i]);
        end = begin;
    }
}

/* Does the additions of the list, and empties it. */
static void GROUP_FN(batch_run)(GROUP_BATCH *b)
{
    if (b->pairs == 0)
        return;
    GROUP_FN(batch_collect)(b);
    if (!GROUP_FN(batch_invert)(b)) {
        GROUP_FN(batch_restore)(b);
        b->complete = 1;
        GROUP_FN(batch_collect)(b);
        int invertible = GROUP_FN(batch_invert)(b);
        assert(invertible);
    }
    GROUP_FN(batch_apply)(b);
    b->pairs = 0;
}
