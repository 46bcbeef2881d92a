/*
 * Multiples of single points: sums of a few scalars times points, and tables of a fixed point's
 * multiples. For assembling and checking proofs; msm/ has the large sums.
 *
 * Scalars are cut into MULTIPLES_DIGITS signed digits of four bits, -8 to 8. With `g1` or `g2` in
 * front:
 *
 *     _multiply_add(out, points, digits, count)   out = sum of count <= MULTIPLES_POINTS_MAX
 * scalars times points, one doubling a bit for all (Straus 1964) _multiples_make(table, p) table[8
 * i + j - 1] = j 16^i p: MULTIPLES_TABLE_POINTS points _multiples_add(sum, table, digits) sum +=
 * scalar * p, without a doubling
 *
 * A table of infinity is infinity. Stateless; not in constant time.
 */
#ifndef PAWL_KERNELS_CURVE_MULTIPLES_H
#define PAWL_KERNELS_CURVE_MULTIPLES_H

#include "kernels/curve/group.h"

#define MULTIPLES_DIGITS (16 * FR_LIMBS)
#define MULTIPLES_TABLE_POINTS (8 * MULTIPLES_DIGITS)
#define MULTIPLES_POINTS_MAX 3
#define MULTIPLES_BATCH 64 /* points of a table made with one inversion */

/* digits of a scalar, lowest first; the scalar is below r, whose top bit is free, so the last digit
 * takes in its carry */
static inline void multiples_cut(int8_t digit[MULTIPLES_DIGITS], const uint64_t *scalar)
{
    int carry = 0;
    for (int i = 0; i < MULTIPLES_DIGITS; i++) {
        int value = (int)(scalar[i / 16] >> (4 * (i % 16)) & 15) + carry;
        carry = value > 8;
        digit[i] = (int8_t)(value - 16 * carry);
    }
}

#define GROUP g1
#define COORDINATE fq
#include "kernels/curve/multiples_template.h"

#define GROUP g2
#define COORDINATE fq2
#include "kernels/curve/multiples_template.h"

#endif
