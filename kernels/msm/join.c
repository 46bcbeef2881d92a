/*
 * Windows' sums that were made elsewhere (on a GPU) to the sum of a multiplication. Called through
 * struct curve (kernels/curves.h), whose contract this is; a SIGKILL leaves nothing.
 */
#include <errno.h>

#include "kernels/msm/msm.h"
#include "kernels/curve/group.h"

/* `count` elements of Fq, one after the other. */
static int all_canonical(const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!fq_is_canonical(words + i * FQ_LIMBS))
            return 0;
    }
    return 1;
}

#define GROUP g1
#define COORDINATE fq
#include "kernels/msm/join_template.h"
#undef GROUP
#undef COORDINATE

#define GROUP g2
#define COORDINATE fq2
#include "kernels/msm/join_template.h"
#undef GROUP
#undef COORDINATE

int CURVE_FN(msm_join_windows)(enum group group, void *out, const void *sums, unsigned windows,
                               unsigned window_bits)
{
    return group == GROUP_G1 ? g1_join_windows(out, sums, windows, window_bits)
                             : g2_join_windows(out, sums, windows, window_bits);
}
