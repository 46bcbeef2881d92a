/*
 * Pairings, and the verification of a proof: what stands behind a curve's table (curves.h states
 * the contracts of the last two), and the multi-pairing itself. Stateless.
 */
#ifndef PAWL_KERNELS_PAIRING_PAIRING_H
#define PAWL_KERNELS_PAIRING_PAIRING_H

#include "kernels/curves.h"
#include "kernels/field/curve_select.h"

struct fq12;
struct g1_affine;
struct g2_affine;

/*
 * out = the product of e(p[i], q[i]), i < count <= PAIRING_COUNT_MAX, e the optimal ate pairing
 * raised as snarkjs raises it (final_exponentiation.c says how). Points are in their subgroups;
 * a pair with an infinity contributes 1.
 */
#define PAIRING_COUNT_MAX 4
void CURVE_FN(pairing_product)(struct fq12 *out, const struct g1_affine *p,
                               const struct g2_affine *q, unsigned count);

int CURVE_FN(proof_verify)(const struct verification_key *key, const uint64_t *publics,
                           const struct proof *proof);
void CURVE_FN(pairing_alphabeta)(uint64_t *out, const struct g1 *alpha1, const struct g2 *beta2);

#endif
