/*
 * The butterflies: some levels of a transform over one tile of an array, small enough to stay in
 * the cache. A tile is 2^depth rows of `columns` elements, `stride` elements apart; it belongs to
 * block `block` of its first level. Private to ntt/: quotient.c picks the tiles.
 */
#ifndef PAWL_KERNELS_NTT_LEVELS_H
#define PAWL_KERNELS_NTT_LEVELS_H

#include <stddef.h>

#include "kernels/field/fields.h"

struct tile {
    struct fr *first;
    size_t stride, columns;
    unsigned depth;
    size_t block;
};

/* Natural order of values at the powers of w to coefficients, bit-reversed, times n: the levels of
 * the inverse. */
void CURVE_FN(ntt_tile_forward)(const struct tile *tile, const struct fr *table);
/* Bit-reversed coefficients to values in natural order: the same levels, last to first. */
void CURVE_FN(ntt_tile_backward)(const struct tile *tile, const struct fr *table);

#endif
