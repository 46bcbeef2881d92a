/*
 * Multi-scalar multiplication, sum scalar_i * point_i, in G1 and G2. Called through struct curve
 * (kernels/curves.h), whose contract this is. Memory and threads are the caller's; a SIGKILL leaves
 * nothing but his buffers.
 *
 * The mathematics is Pippenger's bucket method. A scalar is cut into signed digits of c bits, a
 * window each (digits.h); within a window every point goes to the bucket of its digit's absolute
 * value; the buckets of a window, weighted, are a window's sum; the sums of the windows are joined
 * by Horner's rule with c doublings between.
 *
 * A bucket's points are added in affine form, many additions at once, so that one inversion serves
 * all (Montgomery's trick): 6 multiplications an addition instead of 10. For that the points of a
 * window are sorted by bucket and taken in segments (segment_template.h): neighbours of the same
 * bucket are added pairwise, until each bucket of the segment has one point left. A full bucket is
 * as cheap as many small ones: witnesses of bits, which fill a single one, need nothing else.
 */
#ifndef PAWL_KERNELS_MSM_MSM_H
#define PAWL_KERNELS_MSM_MSM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/curves.h"
#include "kernels/field/curve_select.h"

int CURVE_FN(msm_g1)(struct g1 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel);
int CURVE_FN(msm_g2)(struct g2 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel);
size_t CURVE_FN(msm_scratch_bytes)(enum group group, size_t count, unsigned threads);
int CURVE_FN(witness_sums)(struct proof_sums *out, const struct witness_points *points,
                           const uint64_t *witness, size_t wires, size_t first_private,
                           void *scratch, struct parallel *parallel);
size_t CURVE_FN(witness_sums_scratch_bytes)(size_t wires, size_t first_private, unsigned threads);
int CURVE_FN(msm_join_windows)(enum group group, void *out, const void *sums, unsigned windows,
                               unsigned window_bits);

#endif
