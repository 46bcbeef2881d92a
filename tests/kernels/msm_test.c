/*
 * Multi-scalar multiplication of points that are known multiples of the generator, with the mixes
 * that break such code, both groups, both curves, several numbers of threads, in the form in use.
 */
#include "tests/kernels/msm_mix.h"

static void mix_check(const struct side *side, const struct mix *mix)
{
    static const unsigned threads[] = {1, 5, 2, 16};
    size_t tries = mix->count == COUNT_MAX ? 2 : 4;
    union point want, got;
    mix_expect(side, mix, &want);
    for (size_t i = 0; i < tries; i++) {
        struct parallel parallel = threads_make(threads[i]);
        assert_int_equal(mix_run(side, mix, &got, &parallel), 0);
        assert_memory_equal(&got, &want, sizeof(got));
    }
}

static void kinds_check(const struct side *side, size_t count)
{
    struct mix mix = mix_make(side, count);
    for (size_t f = 0; f < sizeof(factor_kinds) / sizeof(*factor_kinds); f++) {
        for (size_t s = 0; s < sizeof(scalar_kinds) / sizeof(*scalar_kinds); s++) {
            uint64_t state = count + 100 * f + s;
            for (size_t i = 0; i < count; i++)
                mix_set(side, &mix, i, factor_kinds[f](i), scalar_kinds[s].make(side, i, &state));
            mix_check(side, &mix);
        }
    }
    mix_free(&mix);
}

static void side_check(const struct curve *curve, enum group group)
{
    static const size_t counts[] = {0, 1, 2, 3, 100};
    struct side side = side_make(curve, group);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        kinds_check(&side, counts[i]);
    /* several segments, several chunks where there are threads, skew and all */
    struct mix mix = mix_make(&side, COUNT_MAX);
    for (size_t s = 1; s < sizeof(scalar_kinds) / sizeof(*scalar_kinds); s++) {
        uint64_t state = s;
        for (size_t i = 0; i < COUNT_MAX; i++)
            mix_set(&side, &mix, i, i % 11 ? distinct(i) : 0,
                    scalar_kinds[s].make(&side, i, &state));
        mix_check(&side, &mix);
    }
    mix_free(&mix);
    free(side.multiple);
}

static void msm_bn254_g1(void **state)
{
    (void)state;
    side_check(curve_by_id(CURVE_BN254), GROUP_G1);
}

static __attribute__((unused)) void msm_bn254_g2(void **state)
{
    (void)state;
    side_check(curve_by_id(CURVE_BN254), GROUP_G2);
}

static __attribute__((unused)) void msm_bls12381_g1(void **state)
{
    (void)state;
    side_check(curve_by_id(CURVE_BLS12381), GROUP_G1);
}

static __attribute__((unused)) void msm_bls12381_g2(void **state)
{
    (void)state;
    side_check(curve_by_id(CURVE_BLS12381), GROUP_G2);
}

static int always_cancelled(struct parallel *self)
{
    (void)self;
    return 1;
}

static void msm_is_cancelled(void **state)
{
    (void)state;
    struct side side = side_make(curve_by_id(CURVE_BN254), GROUP_G1);
    struct mix mix = mix_make(&side, 100);
    struct parallel parallel = threads_make(2);
    union point out;
    uint64_t random = 1;
    for (size_t i = 0; i < mix.count; i++)
        mix_set(&side, &mix, i, distinct(i), dense(&side, i, &random));
    parallel.cancelled = always_cancelled;
    assert_int_equal(mix_run(&side, &mix, &out, &parallel), -ECANCELED);
    mix_free(&mix);
    free(side.multiple);
}

/* The vector form keeps all windows sorted. */
static void scratch_is_bounded(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *portable = curve_portable(id), *chosen = curve_by_id(id);
        for (enum group group = GROUP_G1; group <= GROUP_G2; group++) {
            assert_true(portable->msm_scratch_bytes(group, 1 << 20, 2) <= 64 << 20);
            assert_true(chosen->msm_scratch_bytes(group, 1 << 20, 2) <= 176 << 20);
        }
        assert_true(chosen->witness_sums_scratch_bytes(1 << 20, 1, 2) <= 176 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(msm_bn254_g1),
/* These share memory in the same way, and take ten minutes there. */
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(msm_bn254_g2),     cmocka_unit_test(msm_bls12381_g1),
        cmocka_unit_test(msm_bls12381_g2),
#endif
        cmocka_unit_test(msm_is_cancelled), cmocka_unit_test(scratch_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
