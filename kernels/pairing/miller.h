/*
 * The two halves of a pairing, for the other files of this folder. Stateless.
 */
#ifndef PAWL_KERNELS_PAIRING_MILLER_H
#define PAWL_KERNELS_PAIRING_MILLER_H

#include "kernels/curve/group.h"
#include "kernels/field/tower.h"
#include "kernels/pairing/pairing.h"

/* One step's line through multiples of Q: y * y_P + x * x_P + constant (miller.c has the powers of
 * w). */
struct line {
    struct fq2 y, x, constant;
};
/* A tangent for each digit, a chord for each that is not zero, and two of a BN curve's end. */
#define MILLER_LINES_MAX (MILLER_DIGITS + (MILLER_DIGITS + 1) / 2 + 2)

/* out, of MILLER_LINES_MAX lines: those of Q, which is not infinity. Their number. */
unsigned CURVE_FN(miller_lines)(struct line *out, const struct g2_affine *q);

/* `lines` are miller_lines's. monic: each was divided by its `y`, which is not read, and p holds
 * x / y and 1 / y. P is not infinity. */
struct miller_pair {
    struct g1_affine p;
    const struct line *lines;
    int monic;
};

/* out = the product of the pairs' Miller functions, up to factors that the final exponentiation
 * removes. */
void CURVE_FN(miller_loop)(struct fq12 *out, const struct miller_pair *pairs, unsigned count);

/* BN254: out = a^(2x(6x^2 + 3x + 1)(q^12 - 1)/r). BLS12-381: out = a^(3(q^12 - 1)/r). a is not 0.
 */
void CURVE_FN(final_exponentiation)(struct fq12 *out, const struct fq12 *a);

#endif
