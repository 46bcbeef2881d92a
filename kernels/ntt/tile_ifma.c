/*
 * Butterflies between the vectors of a tile (tile_ifma.h). Pure arithmetic on the caller's tile; a
 * SIGKILL leaves nothing.
 */
#include "kernels/ntt/tile_ifma.h"

/* (u, v) -> (u + z v, u - z v), z = -minus_z */
static void run_forward(struct fr_x8 *u, struct fr_x8 *v, size_t count, const struct shoup *minus_z)
{
    struct shoup_x8 factor;
    shoup_broadcast(&factor, minus_z);
    for (size_t i = 0; i < count; i++) {
        struct fr_x8 x = v[i], a = u[i];
        shoup_lift(&x);
        shoup_mul(&x, &x, &factor);
        fr_x8_add_raw(&v[i], &a, &x);
        fr_x8_sub_raw(&u[i], &a, &x);
    }
}

/* (u, v) -> (u + v, (u - v) / z) */
static void run_backward(struct fr_x8 *u, struct fr_x8 *v, size_t count,
                         const struct shoup *inverse_z)
{
    struct shoup_x8 factor;
    shoup_broadcast(&factor, inverse_z);
    for (size_t i = 0; i < count; i++) {
        struct fr_x8 x;
        fr_x8_sub_raw(&x, &u[i], &v[i]);
        fr_x8_add_raw(&u[i], &u[i], &v[i]);
        shoup_lift(&x);
        shoup_mul(&v[i], &x, &factor);
    }
}

/* Both of them for z = 1. */
static void run_plain(struct fr_x8 *u, struct fr_x8 *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fr_x8 x;
        fr_x8_sub_raw(&x, &u[i], &v[i]);
        fr_x8_add_raw(&u[i], &u[i], &v[i]);
        v[i] = x;
    }
}

/* 3 * 2^m - 1 - j for 2^m <= j < 2^(m+1): where the table has -T[j]^-1. */
static size_t index_of_minus_inverse(size_t j)
{
    size_t top = (size_t)1 << (8 * sizeof(long) - 1 - __builtin_clzl(j));
    return 3 * top - 1 - j;
}

static void level_run(struct tile_x8 *tile, unsigned level, const struct shoup *root, int forward)
{
    size_t half = (size_t)1 << (tile->depth - 1 - level), blocks = (size_t)1 << level;
    struct fr_x8 *u = tile->vector;
    for (size_t i = 0; i < blocks; i++, u += 2 * half) {
        size_t block = (tile->block << level) + i;
        if (block == 0)
            run_plain(u, u + half, half);
        else if (forward)
            run_forward(u, u + half, half, &root[index_of_minus_inverse(block)]);
        else
            run_backward(u, u + half, half, &root[block]);
    }
}

/* Every second level: the sums of block 0 double, for it has no products. */
void CURVE_FN(ntt_tile_forward)(struct tile_x8 *tile, const struct shoup *root)
{
    for (unsigned level = 0; level < tile->depth; level++) {
        level_run(tile, level, root, 1);
        if (tile->block == 0 && level % 2 == 1)
            for (size_t i = 0; i < (size_t)1 << (tile->depth - level); i++)
                shoup_reduce(&tile->vector[i]);
    }
}

/* What was a sum twice, from `level + 1` on; and all of block 0. */
static void sums_reduce(struct tile_x8 *tile, unsigned level)
{
    size_t quarter = (size_t)1 << (tile->depth - 2 - level), count = (size_t)1 << tile->depth;
    for (size_t first = 0; first < count; first += 4 * quarter)
        for (size_t i = 0; i < (first || tile->block ? quarter : 4 * quarter); i++)
            shoup_reduce(&tile->vector[first + i]);
}

/* Sums double the bounds at each level and products bring them back. */
void CURVE_FN(ntt_tile_backward)(struct tile_x8 *tile, const struct shoup *root)
{
    for (unsigned level = tile->depth; level-- > 0;) {
        level_run(tile, level, root, 0);
        if ((tile->depth - level) % 2 == 0)
            sums_reduce(tile, level);
    }
}
