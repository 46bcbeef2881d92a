/*
 * Pairings, and the verification of a proof: what stands behind a curve's table (curves.h states
 * the contracts), and the multi-pairing itself. Stateless.
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
/* The same before the final exponentiation. */
void CURVE_FN(pairing_miller)(struct fq12 *out, const struct g1_affine *p,
                              const struct g2_affine *q, unsigned count);

int CURVE_FN(proof_verify)(const struct verification_key *key, const uint64_t *publics,
                           const struct proof *proof);
void CURVE_FN(pairing_alphabeta)(uint64_t *out, const struct g1 *alpha1, const struct g2 *beta2);

/* prepared.c; `out` is of prepared_key_bytes, aligned to 64. */
size_t CURVE_FN(prepared_key_bytes)(uint32_t public_count);
void CURVE_FN(prepared_key_make)(void *out, const struct verification_key *key);
void CURVE_FN(prepared_assemble)(struct proof *out, const struct proof_sums *sums,
                                 const void *prepared, const uint64_t *r, const uint64_t *s);
int CURVE_FN(prepared_verify)(const void *prepared, const uint64_t *publics,
                              const struct proof *proof);

#endif
