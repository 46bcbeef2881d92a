/*
 * Multiplications whose right sum is known: points that are known multiples of the generator, so
 * that one multiplication gives it; and the scalars and points that break such code. Header only,
 * for the tests of kernels/msm.
 */
#ifndef PAWL_TESTS_KERNELS_MSM_MIX_H
#define PAWL_TESTS_KERNELS_MSM_MIX_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/scalars.h"
#include "tests/support/threads.h"

/* Scalars of a mix at most; a test that needs fewer defines it before. */
#ifndef MIX_COUNT_MAX
#define MIX_COUNT_MAX 5000
#endif
enum { COUNT_MAX = MIX_COUNT_MAX };

/* One group of one curve behind the calls that the tests need. */
struct side {
    const struct curve *curve;
    enum group group;
    size_t point_bytes;
    unsigned char *multiple; /* i times the generator at i * point_bytes, i <= COUNT_MAX */
};

union point {
    struct g1 g1;
    struct g2 g2;
};

struct mix {
    size_t count;
    unsigned char *points;
    struct scalar *factors; /* of the generator, Montgomery */
    struct scalar *scalars; /* plain */
};

static void point_add(const struct side *side, union point *sum, const union point *b)
{
    if (side->group == GROUP_G1)
        side->curve->g1_add(&sum->g1, &sum->g1, &b->g1);
    else
        side->curve->g2_add(&sum->g2, &sum->g2, &b->g2);
}

static void generator_multiple(const struct side *side, union point *out,
                               const struct scalar *plain)
{
    memset(out, 0, sizeof(*out));
    if (side->group == GROUP_G1)
        side->curve->g1_multiply(&out->g1, side->curve->g1_generator, plain->word);
    else
        side->curve->g2_multiply(&out->g2, side->curve->g2_generator, plain->word);
}

static struct side side_make(const struct curve *curve, enum group group)
{
    size_t bytes = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    struct side side = {curve, group, bytes, malloc((COUNT_MAX + 1) * bytes)};
    struct scalar one = {{1}};
    union point sum = {0}, generator;
    assert_non_null(side.multiple);
    generator_multiple(&side, &generator, &one);
    for (size_t i = 0; i <= COUNT_MAX; i++) {
        memcpy(side.multiple + i * bytes, &sum, bytes);
        point_add(&side, &sum, &generator);
    }
    return side;
}

static struct mix mix_make(const struct side *side, size_t count)
{
    struct mix mix = {count, malloc(count * side->point_bytes + 8),
                      malloc((count + 1) * sizeof(struct scalar)),
                      malloc((count + 1) * sizeof(struct scalar))};
    assert_true(mix.points && mix.factors && mix.scalars);
    return mix;
}

static void mix_free(struct mix *mix)
{
    free(mix->points);
    free(mix->factors);
    free(mix->scalars);
}

static void mix_set(const struct side *side, struct mix *mix, size_t i, int64_t factor,
                    struct scalar scalar)
{
    size_t multiple = (size_t)(factor < 0 ? -factor : factor);
    struct scalar value = scalar_from(side->curve, multiple);
    union point point;
    memcpy(&point, side->multiple + multiple * side->point_bytes, side->point_bytes);
    if (factor < 0) {
        value = scalar_neg(side->curve, &value);
        struct scalar plain = scalar_plain(side->curve, &value);
        generator_multiple(side, &point, &plain);
    }
    memcpy(mix->points + i * side->point_bytes, &point, side->point_bytes);
    mix->factors[i] = value;
    mix->scalars[i] = scalar;
}

static void mix_expect(const struct side *side, const struct mix *mix, union point *out)
{
    struct scalar sum = {{0}};
    for (size_t i = 0; i < mix->count; i++) {
        /* a plain scalar times a Montgomery factor is plain */
        struct scalar term = scalar_mul(side->curve, &mix->scalars[i], &mix->factors[i]);
        sum = scalar_add(side->curve, &sum, &term);
    }
    generator_multiple(side, out, &sum);
}

static int mix_run(const struct side *side, const struct mix *mix, union point *out,
                   struct parallel *parallel)
{
    const struct curve *curve = side->curve;
    size_t bytes = curve->msm_scratch_bytes(side->group, mix->count, parallel->threads);
    unsigned char *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    assert_non_null(scratch);
    memset(scratch, 0xa5, bytes + 64); /* nothing may depend on it, nor be written past it */
    memset(out, 0, sizeof(*out));
    int result = side->group == GROUP_G1 ? curve->msm_g1(&out->g1, mix->points, mix->scalars->word,
                                                         mix->count, scratch, parallel)
                                         : curve->msm_g2(&out->g2, mix->points, mix->scalars->word,
                                                         mix->count, scratch, parallel);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(scratch[bytes + i], 0xa5);
    free(scratch);
    return result;
}

/* ---- what the mixes are made of ---- */

static struct scalar minus_one(const struct side *side)
{
    struct scalar one = {{1}}, out;
    words_subtract(out.word, side->curve->fr_modulus, one.word);
    return out;
}

static struct scalar only_zeros(const struct side *side, size_t i, uint64_t *state)
{
    (void)side, (void)i, (void)state;
    return (struct scalar){{0}};
}

static struct scalar only_ones(const struct side *side, size_t i, uint64_t *state)
{
    (void)side, (void)i, (void)state;
    return (struct scalar){{1}};
}

static struct scalar only_minus_ones(const struct side *side, size_t i, uint64_t *state)
{
    (void)i, (void)state;
    return minus_one(side);
}

static struct scalar dense(const struct side *side, size_t i, uint64_t *state)
{
    (void)i;
    return scalar_random(side->curve, state);
}

static struct scalar bits_mostly(const struct side *side, size_t i, uint64_t *state)
{
    return i % 500 == 3 ? scalar_random(side->curve, state)
                        : (struct scalar){{random_next(state) & 1}};
}

static struct scalar tiny(const struct side *side, size_t i, uint64_t *state)
{
    (void)side, (void)i;
    return (struct scalar){{random_next(state) & 0xffff}};
}

/* Digits at the edges of their range, whatever the window: runs of ones, single bits, all bits set
 * below a bit. */
static struct scalar edges(const struct side *side, size_t i, uint64_t *state)
{
    (void)state;
    struct scalar out = {{0}};
    unsigned bit = (unsigned)(i / 3) % 253;
    if (i % 3 == 0)
        out.word[bit / 64] = (uint64_t)1 << bit % 64;
    for (unsigned b = 0; i % 3 == 1 && b < bit; b++)
        out.word[b / 64] |= (uint64_t)1 << b % 64;
    if (i % 3 == 2) {
        out = minus_one(side);
        out.word[0] -= i;
    }
    return out;
}

static const struct scalar_kind {
    struct scalar (*make)(const struct side *side, size_t i, uint64_t *state);
} scalar_kinds[] = {{only_zeros}, {only_ones}, {only_minus_ones}, {dense}, {bits_mostly},
                    {tiny},       {edges}};

static int64_t distinct(size_t i)
{
    return 1 + (int64_t)(i * 7919 % COUNT_MAX);
}

static int64_t all_equal(size_t i)
{
    (void)i;
    return 17;
}

static int64_t opposite(size_t i)
{
    return i % 2 ? -3 : 3;
}

static int64_t infinities(size_t i)
{
    return i % 3 ? (int64_t)(i % 5) : 0;
}

static int64_t (*const factor_kinds[])(size_t i) = {distinct, all_equal, opposite, infinities};

#endif
