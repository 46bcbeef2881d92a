/*
 * fixed_base.h for one curve: included, with PAWL_CURVE defined, by a file for each. It takes the
 * segments of the kernels' multi-scalar multiplication in, so that there is one form of many
 * additions at once.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/curve/curve.h"
#include "kernels/curve/group.h"
#include "kernels/msm/layout.h"
#include "kernels/ranges.h"
#include "tests/testkey/circuit.h"
#include "tests/testkey/fixed_base.h"

#if CURVE_NUMBER == 1
#define SCALAR_BITS 254
#else
#define SCALAR_BITS 255
#endif

/* The least of additions for the multiples and for the table. */
static unsigned fixed_choose_window(size_t count)
{
    unsigned best = WINDOW_BITS_MIN;
    size_t least = SIZE_MAX;
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++) {
        size_t cost = digit_windows(c, SCALAR_BITS) * (count + ((size_t)1 << (c - 1)));
        if (cost < least) {
            least = cost;
            best = c;
        }
    }
    return best;
}

#define GROUP g1
#define COORDINATE fq
#include "kernels/msm/segment_template.h"
#include "tests/testkey/fixed_base_template.h"
#undef GROUP
#undef COORDINATE

#define GROUP g2
#define COORDINATE fq2
#include "kernels/msm/segment_template.h"
#include "tests/testkey/fixed_base_template.h"
#undef GROUP
#undef COORDINATE

void CURVE_JOIN(PAWL_CURVE, fixed_base_g1)(struct fixed_base *base, size_t count,
                                           struct parallel *parallel)
{
    g1_fixed_make(base, &CURVE_FN(g1_generator), count, parallel);
}

void CURVE_JOIN(PAWL_CURVE, fixed_base_g2)(struct fixed_base *base, size_t count,
                                           struct parallel *parallel)
{
    g2_fixed_make(base, &CURVE_FN(g2_generator), count, parallel);
}
