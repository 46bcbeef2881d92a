/*
 * Checks of many points, one after the other; check_points_ifma.c has eight at a time. Called
 * by kernels/point_checks.c, which has the contract. Stateless.
 */
#include "kernels/curve/check_points.h"

#include "kernels/curve/curve.h"

size_t CURVE_FN(points_checked)(enum group group, const void *points, size_t count)
{
    const size_t stride = (group == GROUP_G1 ? 16 : 32) * FQ_LIMBS;
    const char *at = points;
    for (size_t i = 0; i < count; i++, at += stride)
        if ((group == GROUP_G1 ? CURVE_FN(g1_check)(at) : CURVE_FN(g2_check)(at)) != POINT_OK)
            return i;
    return count;
}
