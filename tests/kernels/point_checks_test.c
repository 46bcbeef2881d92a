/*
 * point_checks_run in every form that this machine has: the first bad point is found wherever it
 * stands among good ones and infinities, for every kind of badness, as g1_check and g2_check see
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu_form.h"
#include "kernels/curves.h"
#include "kernels/point_checks.h"

enum { POINTS = 35 };
enum badness { OTHER_POINT, X_TOO_LARGE, Y_TOO_LARGE, X_ZERO, Y_ZERO, ALL_ONES, BADNESSES };

struct points {
    const struct curve *curve;
    enum group group;
    size_t stride;
    unsigned char bytes[(POINTS + 1) * sizeof(struct g2)];
};

/* Multiples of the generator, every seventh of them infinity. */
static void points_make(struct points *out, const struct curve *curve, enum group group)
{
    struct g1 p = *curve->g1_generator;
    struct g2 q = *curve->g2_generator;
    *out = (struct points){.curve = curve, .group = group};
    out->stride = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    for (size_t i = 0; i < POINTS; i++) {
        if (i % 7 != 3)
            memcpy(out->bytes + i * out->stride, group == GROUP_G1 ? (void *)&p : (void *)&q,
                   out->stride);
        curve->g1_add(&p, &p, curve->g1_generator);
        curve->g2_add(&q, &q, curve->g2_generator);
    }
}

/* coordinate + q: the same element, not canonical; 0 where it does not fit the words */
static int enlarge(uint64_t *coordinate, const struct curve *curve)
{
    unsigned __int128 carry = 0;
    for (uint32_t i = 0; i < curve->fq_bytes / 8; i++) {
        carry += (unsigned __int128)coordinate[i] + curve->fq_modulus[i];
        coordinate[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return !carry;
}

/* The curve's generator, spoiled; the last Fq of x or y is the one that is touched. */
static int make_bad(unsigned char *out, const struct points *points, enum badness badness)
{
    const struct curve *curve = points->curve;
    uint64_t word[sizeof(struct g2) / 8] = {0};
    size_t half = points->stride / 16, fq = curve->fq_bytes / 8;
    int possible = 1;
    if (points->group == GROUP_G1)
        memcpy(word, curve->g1_generator, points->stride);
    else
        memcpy(word, curve->g2_generator, points->stride);
    if (badness == OTHER_POINT)
        word[0] ^= 1;
    if (badness == X_TOO_LARGE)
        possible = enlarge(word + half - fq, curve);
    if (badness == Y_TOO_LARGE)
        possible = enlarge(word + 2 * half - fq, curve);
    if (badness == X_ZERO)
        memset(word, 0, points->stride / 2);
    if (badness == Y_ZERO)
        memset(word + half, 0, points->stride / 2);
    if (badness == ALL_ONES)
        memset(word, 0xff, points->stride);
    memcpy(out, word, points->stride);
    return possible;
}

static void check_places(struct points *points, enum badness badness)
{
    unsigned char kept[sizeof(struct g2)], bad[sizeof(struct g2)];
    const struct curve *curve = points->curve;
    if (!make_bad(bad, points, badness))
        return;
    assert_int_not_equal(points->group == GROUP_G1 ? curve->g1_check(bad) : curve->g2_check(bad),
                         POINT_OK);
    for (size_t place = 0; place < POINTS; place++) {
        unsigned char *at = points->bytes + place * points->stride;
        memcpy(kept, at, points->stride);
        memcpy(at, bad, points->stride);
        assert_int_equal(point_checks_run(curve, points->group, points->bytes, POINTS), place);
        assert_int_equal(point_checks_run(curve, points->group, points->bytes, place), place);
        memcpy(at, kept, points->stride);
    }
}

static void check_all(const struct curve *curve)
{
    for (int group = 0; group < 2; group++) {
        struct points points;
        points_make(&points, curve, group ? GROUP_G2 : GROUP_G1);
        for (size_t count = 0; count <= POINTS; count++)
            assert_int_equal(point_checks_run(curve, points.group, points.bytes, count), count);
        for (int badness = 0; badness < BADNESSES; badness++)
            check_places(&points, (enum badness)badness);
    }
}

static void the_first_bad_point_is_found(void **state)
{
    (void)state;
    static const uint32_t ids[] = {CURVE_BN254, CURVE_BLS12381};
    for (int i = 0; i < 2; i++)
        for (int form = 0; form < FORM_COUNT; form++) {
            const struct curve *curve = curve_in_form(ids[i], (enum cpu_form)form);
            if (curve)
                check_all(curve);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_bad_point_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
