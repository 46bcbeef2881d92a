/*
 * Checks of many points at once, for one curve and form; kernels/point_checks.h is what the
 * programs call. Stateless.
 */
#ifndef PAWL_KERNELS_CURVE_CHECK_POINTS_H
#define PAWL_KERNELS_CURVE_CHECK_POINTS_H

#include "kernels/curves.h"
#include "kernels/field/curve_select.h"

/* How many of `count` packed points are POINT_OK before the first that is not; count: all. */
size_t CURVE_FN(points_checked)(enum group group, const void *points, size_t count);

#endif
