/*
 * Roots and sizes of domains of a power of two. Private to kernels/, no state.
 */
#ifndef PAWL_KERNELS_NTT_DOMAIN_H
#define PAWL_KERNELS_NTT_DOMAIN_H

#include "kernels/field/fields.h"

/* The root of order 2^log2_order, at most FR_TWO_ADICITY: all are powers of the same one, so each
 * is the next one's square. */
static inline void domain_root(struct fr *out, unsigned log2_order)
{
    *out = fr_root;
    for (unsigned i = FR_TWO_ADICITY; i > log2_order; i--)
        fr_square(out, out);
}

/* 1 / 2^log2_size */
static inline void domain_inverse_size(struct fr *out, unsigned log2_size)
{
    *out = fr_one;
    for (unsigned i = 0; i < log2_size; i++)
        fr_mul(out, out, &fr_two_inverse);
}

#endif
