/*
 * The upper and middle levels of a transform over a tile: up to 64 vectors in limbs, which is what
 * the first-level cache holds; and a tile's way from and to memory. Private to ntt/, called by
 * quotient_ifma.c from many threads at once, each with tiles of its own.
 *
 * Vectors are raw (shoup_ifma.h). What is said of a value below is its bounds in multiples of p;
 * products want them within 16.
 */
#ifndef PAWL_KERNELS_NTT_TILE_IFMA_H
#define PAWL_KERNELS_NTT_TILE_IFMA_H

#include "kernels/ntt/table_ifma.h"

enum { TILE_LEVELS = TABLE_BLOCK_LEVELS - LANE_LEVELS, TILE_VECTORS = 1 << TILE_LEVELS };

/* 2^depth vectors; as a part of the transform they are block `block` of their first level. */
struct tile_x8 {
    struct fr_x8 vector[TILE_VECTORS];
    unsigned depth;
    size_t block;
};

/*
 * The levels towards coefficients (ntt_tile_forward of levels.h): each adds 1 to the bounds. Comes
 * in within 0 .. 3.
 */
void CURVE_FN(ntt_tile_forward)(struct tile_x8 *tile, const struct shoup *root);
/* And back, in within -2 .. 3, out within 10. */
void CURVE_FN(ntt_tile_backward)(struct tile_x8 *tile, const struct shoup *root);

/*
 * The lowest three levels, the scaling, and the lowest three levels back, over the three arrays'
 * tiles of one block: in within -7 .. 10, out within 0 .. 3.
 */
void CURVE_FN(ntt_tiles_middle)(struct tile_x8 tile[ARRAYS], const struct table *table);

#endif
