/*
 * The groups: completeness of the additions, multiples against Python's, checks of hostile points.
 * A test program of one curve is this file behind its PAWL_CURVE. No state.
 */
#include "kernels/curve/curve.h"
#include "kernels/curve/group.h"
#include "kernels/parallel.h"
#include "tests/kernels/vectors.h"

#include <stdlib.h>

#define GROUP g1
#define COORDINATE fq
#define GROUP_ID GROUP_G1
#include "tests/kernels/curve_checks_template.h"
#define GROUP g2
#define COORDINATE fq2
#define GROUP_ID GROUP_G2
#include "tests/kernels/curve_checks_template.h"

#if !G1_COFACTOR_IS_ONE
static void g1_outsiders_are_caught(void **state)
{
    (void)state;
    g1_assert_outsiders_are_caught(g1_outside, COUNT(g1_outside));
}
#endif

static void g2_outsiders_are_caught(void **state)
{
    (void)state;
    g2_assert_outsiders_are_caught(g2_outside, COUNT(g2_outside));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_multiples_match_vectors),
        cmocka_unit_test(g2_multiples_match_vectors),
        cmocka_unit_test(g1_additions_are_complete),
        cmocka_unit_test(g2_additions_are_complete),
        cmocka_unit_test(g1_order_is_r),
        cmocka_unit_test(g2_order_is_r),
        cmocka_unit_test(g1_bad_points_are_named),
        cmocka_unit_test(g2_bad_points_are_named),
        cmocka_unit_test(g1_insiders_pass),
        cmocka_unit_test(g2_insiders_pass),
#if !G1_COFACTOR_IS_ONE
        cmocka_unit_test(g1_outsiders_are_caught),
#endif
        cmocka_unit_test(g2_outsiders_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
