/*
 * The four sums of a proof over its witness, one multiplication after the other. Called through
 * struct curve (kernels/curves.h), whose contract this is; a SIGKILL leaves nothing but the
 * caller's buffers.
 */
#include "kernels/msm/msm.h"

int CURVE_FN(witness_sums)(struct proof_sums *out, const struct witness_points *points,
                           const uint64_t *witness, size_t wires, size_t first_private,
                           void *scratch, struct parallel *parallel)
{
    const uint64_t *private = witness + first_private * FR_WORDS;
    size_t privates = wires - first_private;
    int error = CURVE_FN(msm_g2)(&out->b2, points->b2, witness, wires, scratch, parallel);
    if (!error)
        error = CURVE_FN(msm_g1)(&out->a, points->a, witness, wires, scratch, parallel);
    if (!error)
        error = CURVE_FN(msm_g1)(&out->b1, points->b1, witness, wires, scratch, parallel);
    if (!error)
        error = CURVE_FN(msm_g1)(&out->c, points->c, private, privates, scratch, parallel);
    return error;
}

/* What msm_scratch_bytes gives need not grow with the count: each one is asked. */
size_t CURVE_FN(witness_sums_scratch_bytes)(size_t wires, size_t first_private, unsigned threads)
{
    size_t g2 = CURVE_FN(msm_scratch_bytes)(GROUP_G2, wires, threads);
    size_t g1 = CURVE_FN(msm_scratch_bytes)(GROUP_G1, wires, threads);
    size_t c = CURVE_FN(msm_scratch_bytes)(GROUP_G1, wires - first_private, threads);
    size_t most = g2 > g1 ? g2 : g1;
    return most > c ? most : c;
}
