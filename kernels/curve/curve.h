/*
 * The point functions behind a curve's table (curves.h states their contracts). Stateless.
 */
#ifndef PAWL_KERNELS_CURVE_CURVE_H
#define PAWL_KERNELS_CURVE_CURVE_H

#include "kernels/curves.h"
#include "kernels/field/curve_select.h"

extern const struct g1 CURVE_FN(g1_generator);
extern const struct g2 CURVE_FN(g2_generator);

enum point_check CURVE_FN(g1_check)(const void *point);
enum point_check CURVE_FN(g2_check)(const void *point);
int CURVE_FN(g1_in_subgroup)(const void *point);
int CURVE_FN(g2_in_subgroup)(const void *point);
void CURVE_FN(g1_multiply)(struct g1 *out, const struct g1 *point, const uint64_t *scalar);
void CURVE_FN(g2_multiply)(struct g2 *out, const struct g2 *point, const uint64_t *scalar);
void CURVE_FN(g1_add)(struct g1 *out, const struct g1 *a, const struct g1 *b);
void CURVE_FN(g2_add)(struct g2 *out, const struct g2 *a, const struct g2 *b);

/* subgroup.c; on BN254 every point of G1 is in the subgroup, and nothing is computed. */
int CURVE_FN(points_in_subgroup)(enum group group, const void *points, size_t count,
                                 const uint8_t seed[32], void *scratch, struct parallel *parallel);
size_t CURVE_FN(subgroup_scratch_bytes)(enum group group, size_t count, unsigned threads);

#endif
