/*
 * Windows' sums joined on the host, against multiples of the generator; both groups, both curves,
 * every form that this machine has.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/scalars.h"

enum { WINDOWS = 5 };

/* Windows' sums that are small multiples of the generator, some infinity. */
static const uint64_t factors[WINDOWS] = {3, 0, 1, 0, 7};

static void generator_times(const struct curve *curve, enum group group, const uint64_t *plain,
                            void *out)
{
    if (group == GROUP_G1)
        curve->g1_multiply(out, curve->g1_generator, plain);
    else
        curve->g2_multiply(out, curve->g2_generator, plain);
}

/* x | y | 1 | 1 at `out`, each a coordinate; nothing where the factor is zero. */
static void sum_make(const struct curve *curve, enum group group, uint64_t factor, char *out)
{
    size_t affine = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    uint64_t plain[FR_WORDS] = {factor}, one[FQ_WORDS_MAX] = {1};
    struct g2 point;
    memset(out, 0, 2 * affine);
    if (factor == 0)
        return;
    generator_times(curve, group, plain, &point);
    memcpy(out, point.word, affine);
    assert_int_equal(curve->fq_to_montgomery(one, one), 0);
    memcpy(out + affine, one, curve->fq_bytes);
    memcpy(out + affine + affine / 2, one, curve->fq_bytes);
}

static void join_check(const struct curve *curve, enum group group, unsigned window_bits)
{
    size_t bytes = 2 * (group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes);
    uint64_t sums[WINDOWS * 8 * FQ_WORDS_MAX], whole[FR_WORDS] = {0};
    struct g2 want = {{0}}, got = {{0}};
    for (unsigned w = 0; w < WINDOWS; w++) {
        unsigned bit = w * window_bits;
        sum_make(curve, group, factors[w], (char *)sums + w * bytes);
        whole[bit / 64] += factors[w] << bit % 64;
        if (bit % 64 > 61)
            whole[bit / 64 + 1] += factors[w] >> (64 - bit % 64);
    }
    generator_times(curve, group, whole, &want);
    assert_int_equal(curve->msm_join_windows(group, &got, sums, WINDOWS, window_bits), 0);
    assert_memory_equal(&got, &want, sizeof(got));
}

static void forms_check(enum group group)
{
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (enum cpu_form form = FORM_PORTABLE; form < FORM_COUNT; form++) {
            const struct curve *curve = curve_in_form(id, form);
            for (unsigned bits = 1; curve && bits <= 16; bits += 3)
                join_check(curve, group, bits);
        }
    }
}

static void windows_in_g1(void **state)
{
    (void)state;
    forms_check(GROUP_G1);
}

static void windows_in_g2(void **state)
{
    (void)state;
    forms_check(GROUP_G2);
}

static void no_windows_are_infinity(void **state)
{
    struct g1 got = {{1}}, infinity = {{0}};
    (void)state;
    assert_int_equal(curve_by_id(CURVE_BN254)->msm_join_windows(GROUP_G1, &got, NULL, 0, 16), 0);
    assert_memory_equal(&got, &infinity, sizeof(got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_in_g1),
        cmocka_unit_test(windows_in_g2),
        cmocka_unit_test(no_windows_are_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
