/*
 * Multi-scalar multiplication in G1 and G2 (msm.h has the method): both groups from the same
 * templates. Called by a device with points of a key and scalars of its own; a SIGKILL leaves
 * nothing. At most 2^31 points.
 *
 * Count of field multiplications, n points, c bits a window, W = ceil((bits of r + 1) / c) windows:
 * W * (6 n + 24 * 2^(c-1)), inversions aside (one to some thousand additions).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/msm/msm.h"
#include "kernels/curve/group.h"
#include "kernels/msm/layout.h"
#include "kernels/ranges.h"

#if CURVE_NUMBER == 1
#define SCALAR_BITS 254
#else
#define SCALAR_BITS 255
#endif

/* How many scalars are more than some bits long; the others have no digits in the upper windows. */
static size_t scalars_count_wide(const uint64_t *scalar, size_t count)
{
    size_t wide = 0;
    for (size_t i = 0; i < count; i++, scalar += SCALAR_WORDS)
        wide += (scalar[0] >> WINDOW_BITS_MAX | scalar[1] | scalar[2] | scalar[3]) != 0;
    return wide;
}

#define GROUP g1
#define COORDINATE fq
#include "kernels/msm/segment_template.h"
#include "kernels/msm/window_template.h"
#include "kernels/msm/msm_template.h"
#undef GROUP
#undef COORDINATE

#define GROUP g2
#define COORDINATE fq2
#include "kernels/msm/segment_template.h"
#include "kernels/msm/window_template.h"
#include "kernels/msm/msm_template.h"
#undef GROUP
#undef COORDINATE

int CURVE_FN(msm_g1)(struct g1 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel)
{
    struct g1_chunk all = {points, scalars, count};
    return g1_msm_run(out, all, scratch, parallel);
}

int CURVE_FN(msm_g2)(struct g2 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel)
{
    struct g2_chunk all = {points, scalars, count};
    return g2_msm_run(out, all, scratch, parallel);
}

size_t CURVE_FN(msm_scratch_bytes)(enum group group, size_t count, unsigned threads)
{
    return group == GROUP_G1 ? g1_msm_scratch(count, threads) : g2_msm_scratch(count, threads);
}
