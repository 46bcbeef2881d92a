/*
 * Butterflies over a tile (levels.h). Pure arithmetic on the caller's array; called from many
 * threads at once, each with tiles of its own. The SIMD forms of this file stand beside it.
 */
#include "kernels/ntt/levels.h"

/* (u, v) -> (u + z v, u - z v) with z = -minus_z. */
static void run_forward(struct fr *u, struct fr *v, size_t count, const struct fr *minus_z)
{
    for (size_t i = 0; i < count; i++) {
        struct fr x;
        fr_mul(&x, &v[i], minus_z);
        fr_add(&v[i], &u[i], &x);
        fr_sub(&u[i], &u[i], &x);
    }
}

/* (u, v) -> (u + v, (u - v) / z). */
static void run_backward(struct fr *u, struct fr *v, size_t count, const struct fr *inverse_z)
{
    for (size_t i = 0; i < count; i++) {
        struct fr x;
        fr_sub(&x, &u[i], &v[i]);
        fr_add(&u[i], &u[i], &v[i]);
        fr_mul(&v[i], &x, inverse_z);
    }
}

/* Both of them for z = 1. */
static void run_plain(struct fr *u, struct fr *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fr x;
        fr_sub(&x, &u[i], &v[i]);
        fr_add(&u[i], &u[i], &v[i]);
        v[i] = x;
    }
}

/* 3 * 2^m - 1 - j for 2^m <= j < 2^(m+1): where the table has -T[j]^-1. */
static size_t index_of_minus_inverse(size_t j)
{
    size_t top = (size_t)1 << (8 * sizeof(long) - 1 - __builtin_clzl(j));
    return 3 * top - 1 - j;
}

/* One level of one block of the tile: its first half of rows against its second. */
static void block_run(const struct tile *tile, struct fr *u, size_t half, size_t block,
                      const struct fr *table, int forward)
{
    int whole = tile->stride == tile->columns;
    size_t rows = whole ? 1 : half, count = whole ? half * tile->columns : tile->columns;
    struct fr *v = u + half * tile->stride;
    for (size_t row = 0; row < rows; row++, u += tile->stride, v += tile->stride) {
        if (block == 0)
            run_plain(u, v, count);
        else if (forward)
            run_forward(u, v, count, &table[index_of_minus_inverse(block)]);
        else
            run_backward(u, v, count, &table[block]);
    }
}

static void level_run(const struct tile *tile, unsigned level, const struct fr *table, int forward)
{
    size_t half = (size_t)1 << (tile->depth - 1 - level), blocks = (size_t)1 << level;
    for (size_t i = 0; i < blocks; i++)
        block_run(tile, tile->first + 2 * half * tile->stride * i, half, (tile->block << level) + i,
                  table, forward);
}

void CURVE_FN(ntt_tile_forward)(const struct tile *tile, const struct fr *table)
{
    for (unsigned level = 0; level < tile->depth; level++)
        level_run(tile, level, table, 1);
}

void CURVE_FN(ntt_tile_backward)(const struct tile *tile, const struct fr *table)
{
    for (unsigned level = tile->depth; level-- > 0;)
        level_run(tile, level, table, 0);
}
