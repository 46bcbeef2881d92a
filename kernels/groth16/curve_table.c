/*
 * The table of the curve that this file is compiled for: each operation's form. kernels/curves.c
 * hands it out by id.
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

const struct curve CURVE_FN(curve) = {
    .id = CURVE_NUMBER,
    .name = CURVE_NAME,
    .fq_bytes = 8 * FQ_LIMBS,
    .g1_bytes = 16 * FQ_LIMBS,
    .g2_bytes = 32 * FQ_LIMBS,
    .two_adicity = FR_TWO_ADICITY,
    .fq_modulus = fq_modulus,
    .fr_modulus = fr_modulus,
    .fr_is_canonical = CURVE_FN(fr_is_canonical),
    .fr_to_montgomery = CURVE_FN(fr_to_montgomery),
    .fr_from_montgomery = CURVE_FN(fr_from_montgomery),
    .fr_multiply = CURVE_FN(fr_multiply),
    .fq_from_montgomery = CURVE_FN(fq_from_montgomery),
    .fq_to_montgomery = CURVE_FN(fq_to_montgomery),
    .g1_check = CURVE_FN(g1_check),
    .g2_check = CURVE_FN(g2_check),
    .g1_in_subgroup = CURVE_FN(g1_in_subgroup),
    .g2_in_subgroup = CURVE_FN(g2_in_subgroup),
    .points_in_subgroup = CURVE_FN(points_in_subgroup),
    .subgroup_scratch_bytes = CURVE_FN(subgroup_scratch_bytes),
    .g1_multiply = CURVE_FN(g1_multiply),
    .g2_multiply = CURVE_FN(g2_multiply),
    .g1_add = CURVE_FN(g1_add),
    .g2_add = CURVE_FN(g2_add),
    .g1_generator = &CURVE_FN(g1_generator),
    .g2_generator = &CURVE_FN(g2_generator),
    .msm_g1 = CURVE_FN(msm_g1),
    .msm_g2 = CURVE_FN(msm_g2),
    .msm_scratch_bytes = CURVE_FN(msm_scratch_bytes),
    .witness_sums = CURVE_FN(witness_sums),
    .witness_sums_scratch_bytes = CURVE_FN(witness_sums_scratch_bytes),
    .ntt_table_bytes = CURVE_FN(ntt_table_bytes),
    .ntt_table_make = CURVE_FN(ntt_table_make),
    .quotient = CURVE_FN(quotient),
    .rows_evaluate = CURVE_FN(rows_evaluate),
    .proof_assemble = CURVE_FN(proof_assemble),
    .proof_verify = CURVE_FN(proof_verify),
    .pairing_alphabeta = CURVE_FN(pairing_alphabeta),
};
