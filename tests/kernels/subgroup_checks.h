/*
 * The strength of the subgroup check, which its answer does not show: every one of its 64 subset
 * sums must meet a wrong point in about half of all seeds. Includes the file that it tests. A test
 * program of one curve is this file behind its PAWL_CURVE. No state.
 */
#include "kernels/curve/subgroup.c"
#include "tests/kernels/vectors.h"

#include <stdlib.h>

#define SEEDS 24
#define POINTS 3

/* hits[j] = in how many of the seeds sum j was not in the subgroup */
static void count_hits(unsigned hits[SUBSET_SUMS], struct subgroup_plan plan)
{
    struct g2_affine points[POINTS];
    const size_t tasks = (size_t)plan.passes * plan.splits;
    void *scratch =
        malloc(tasks * (((size_t)1 << plan.width) + plan.width) * sizeof(struct g2_xyzz));
    assert_non_null(scratch);
    for (int i = 0; i < POINTS; i++)
        g2_point_load(&points[i], &g2_vectors[i].point);
    g2_point_load(&points[POINTS - 1], &g2_outside[0]);
    memset(hits, 0, sizeof(*hits) * SUBSET_SUMS);
    for (unsigned n = 0; n < SEEDS; n++) {
        uint8_t seed[32];
        for (unsigned i = 0; i < 32; i++)
            seed[i] = (uint8_t)(n * 89 + i * 31 + 1);
        struct subgroup_job job = {.plan = plan,
                                   .points = (const unsigned char *)points,
                                   .count = POINTS,
                                   .seed = seed,
                                   .buckets = scratch};
        assert_false(g2_subgroup_run(&job, &parallel_serial));
        for (unsigned j = 0; j < SUBSET_SUMS; j++)
            hits[j] += job.bad[j];
    }
    free(scratch);
}

static void assert_half_of_seeds_hit(struct subgroup_plan plan)
{
    unsigned hits[SUBSET_SUMS], all = 0;
    count_hits(hits, plan);
    for (unsigned j = 0; j < SUBSET_SUMS; j++) {
        assert_in_range(hits[j], 2, SEEDS - 2);
        all += hits[j];
    }
    assert_in_range(all, SEEDS * SUBSET_SUMS * 45 / 100, SEEDS * SUBSET_SUMS * 55 / 100);
}

static void every_sum_counts_with_few_points(void **state)
{
    (void)state;
    assert_half_of_seeds_hit(plan_make(POINTS, 1));
}

static void every_sum_counts_with_many_points_and_threads(void **state)
{
    (void)state;
    assert_half_of_seeds_hit(plan_make(WIDTH_LARGE_FROM, 10));
}

static void passes_make_enough_sums(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 70; threads++) {
        const struct subgroup_plan few = plan_make(1, threads);
        const struct subgroup_plan many = plan_make(1u << 20, threads);
        assert_true(few.width * few.passes >= SUBSET_SUMS);
        assert_true(many.width * many.passes >= SUBSET_SUMS);
        assert_true(many.passes * many.splits >= threads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_make_enough_sums),
        cmocka_unit_test(every_sum_counts_with_few_points),
        cmocka_unit_test(every_sum_counts_with_many_points_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
