/*
 * Which copy of the checks serves a curve's table; see the header.
 */
#include "kernels/point_checks.h"

#include "kernels/curve/check_points.h"

typedef __typeof__(CURVE_FN(points_checked)) points_checked_function;

extern points_checked_function bls12381_portable_points_checked;
#ifdef __x86_64__
extern points_checked_function bn254_adx_points_checked, bls12381_adx_points_checked,
    bn254_ifma_points_checked, bls12381_ifma_points_checked;
#define CHECKS(curve)                                                                              \
    {                                                                                              \
        curve##_portable_points_checked, curve##_adx_points_checked, curve##_ifma_points_checked   \
    }
#else
#define CHECKS(curve)                                                                              \
    {                                                                                              \
        curve##_portable_points_checked                                                            \
    }
#endif

static points_checked_function *const checks[][FORM_COUNT] = {
    [CURVE_BN254] = CHECKS(bn254), [CURVE_BLS12381] = CHECKS(bls12381)};

size_t point_checks_run(const struct curve *curve, enum group group, const void *points,
                        size_t count)
{
    return checks[curve->id][curve->form](group, points, count);
}
