/*
 * The table of one curve in one form: included by curve_table.c and curve_table_ifma.c (so no
 * guard). An operation that gets a vector form moves from the first list to the second.
 */
#include "kernels/groth16/groth16.h"
#include "kernels/curve/curve.h"
#include "kernels/field/fields.h"
#include "kernels/field/scalars.h"
#include "kernels/msm/msm.h"
#include "kernels/ntt/ntt.h"
#include "kernels/pairing/pairing.h"
#include "kernels/rows/rows.h"

#if CURVE_NUMBER == 1
#define CURVE_NAME "bn128"
#else
#define CURVE_NAME "bls12381"
#endif

/* Operations on scalars and single points: ifma takes those of adx. */
#define BASE_OPERATIONS(X)                                                                         \
    X(fr_is_canonical)                                                                             \
    X(fr_to_montgomery)                                                                            \
    X(fr_from_montgomery)                                                                          \
    X(fr_multiply)                                                                                 \
    X(fq_from_montgomery)                                                                          \
    X(fq_to_montgomery)                                                                            \
    X(g1_check)                                                                                    \
    X(g2_check)                                                                                    \
    X(g1_in_subgroup)                                                                              \
    X(g2_in_subgroup)                                                                              \
    X(points_in_subgroup)                                                                          \
    X(subgroup_scratch_bytes)                                                                      \
    X(g1_multiply)                                                                                 \
    X(g2_multiply)                                                                                 \
    X(g1_add)                                                                                      \
    X(g2_add)                                                                                      \
    X(msm_join_windows)                                                                            \
    X(proof_assemble)                                                                              \
    X(proof_verify)                                                                                \
    X(pairing_alphabeta)                                                                           \
    X(prepared_key_bytes)                                                                          \
    X(prepared_key_make)                                                                           \
    X(prepared_assemble)                                                                           \
    X(prepared_verify)

/* Operations with a vector form of their own, in files named *_ifma.c. */
#define FORM_OPERATIONS(X)                                                                         \
    X(ntt_table_bytes)                                                                             \
    X(ntt_table_make)                                                                              \
    X(rows_evaluate)                                                                               \
    X(quotient)                                                                                    \
    X(msm_g1)                                                                                      \
    X(msm_g2)                                                                                      \
    X(msm_scratch_bytes)                                                                           \
    X(witness_sums)                                                                                \
    X(witness_sums_scratch_bytes)

#define DECLARE_BASE(name) extern __typeof__(CURVE_FN(name)) BASE_FN(name);
BASE_OPERATIONS(DECLARE_BASE)
DECLARE_BASE(g1_generator)
DECLARE_BASE(g2_generator)

#define TAKE_BASE(name) .name = BASE_FN(name),
#define TAKE_FORM(name) .name = CURVE_FN(name),

extern const struct curve CURVE_FN(curve); /* kernels/curves.c names them all */
const struct curve CURVE_FN(curve) = {.id = CURVE_NUMBER,
                                      .form = FORM_NUMBER,
                                      .name = CURVE_NAME,
                                      .fq_bytes = 8 * FQ_LIMBS,
                                      .g1_bytes = 16 * FQ_LIMBS,
                                      .g2_bytes = 32 * FQ_LIMBS,
                                      .two_adicity = FR_TWO_ADICITY,
                                      .fq_modulus = fq_modulus,
                                      .fr_modulus = fr_modulus,
                                      .g1_generator = &BASE_FN(g1_generator),
                                      .g2_generator = &BASE_FN(g2_generator),
                                      BASE_OPERATIONS(TAKE_BASE) FORM_OPERATIONS(TAKE_FORM)};
