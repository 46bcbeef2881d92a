/*
 * The two halves of a pairing, for pairing.c and verify.c of the same curve. Stateless.
 */
#ifndef PAWL_KERNELS_PAIRING_MILLER_H
#define PAWL_KERNELS_PAIRING_MILLER_H

#include "kernels/curve/group.h"
#include "kernels/field/tower.h"
#include "kernels/pairing/pairing.h"

/*
 * out = the product of the Miller functions of (p[i], q[i]), up to factors that the final
 * exponentiation removes. No point is infinity; count <= PAIRING_COUNT_MAX.
 */
void CURVE_FN(miller_loop)(struct fq12 *out, const struct g1_affine *p, const struct g2_affine *q,
                           unsigned count);

/* BN254: out = a^(2x(6x^2 + 3x + 1)(q^12 - 1)/r). BLS12-381: out = a^(3(q^12 - 1)/r). a is not 0.
 */
void CURVE_FN(final_exponentiation)(struct fq12 *out, const struct fq12 *a);

#endif
