/*
 * What is Groth16's own: the assembly of a proof from its sums, and the table of a curve that puts
 * all kernels behind struct curve (kernels/curves.h, whose contracts these are). Pure; a SIGKILL
 * leaves nothing.
 */
#ifndef PAWL_KERNELS_GROTH16_GROTH16_H
#define PAWL_KERNELS_GROTH16_GROTH16_H

#include "kernels/curves.h"
#include "kernels/field/curve_select.h"

void CURVE_FN(proof_assemble)(struct proof *out, const struct proof_sums *sums,
                              const struct verification_key *key, const uint64_t *r,
                              const uint64_t *s);

extern const struct curve CURVE_FN(curve);

#endif
