/*
 * Checks of a whole key's points: canonical and on the curve, as g1_check and g2_check see it, in
 * the form of the curve's table, which has eight lanes where the CPU has. Called where an image is
 * compiled. Pure.
 */
#ifndef PAWL_KERNELS_POINT_CHECKS_H
#define PAWL_KERNELS_POINT_CHECKS_H

#include "kernels/curves.h"

/* How many of `count` packed points are POINT_OK before the first that is not; count: all. */
size_t point_checks_run(const struct curve *curve, enum group group, const void *points,
                        size_t count);

#endif
