/*
 * The scalars of H: values of a*b - c at the odd points of the double domain (ntt.h, and quotient
 * in kernels/curves.h). Each array goes to coefficients, is scaled by the powers of v, and comes
 * back. The upper levels go over the arrays in passes of a few levels, tile by tile; the lower
 * ones, the scaling and the lower levels of the way back touch each block of 2^BLOCK_LEVELS
 * elements just once. Called by a device with arrays that are its own; a SIGKILL leaves nothing.
 *
 * About 3 * n * (log2 n - 2) + 7 n multiplications: the factor 1 / n of the way to coefficients is
 * put in at the end.
 */
#include <errno.h>

#include "kernels/ntt/ntt.h"
#include "kernels/ntt/domain.h"
#include "kernels/ntt/levels.h"
#include "kernels/ranges.h"

enum { ARRAYS = 3, BLOCK_LEVELS = 10, PASS_LEVELS = 5, TILE_COLUMNS = 32 };

struct transform {
    struct fr *array[ARRAYS];
    const struct fr *table;
    struct parallel *parallel;
    unsigned log2, block_levels;
    unsigned level, depth; /* of the pass that is going on */
    int forward;
    struct fr inverse_n, inverse_n_plain;
};

static void tile_run(const struct transform *t, const struct tile *tile)
{
    if (t->forward)
        CURVE_FN(ntt_tile_forward)(tile, t->table);
    else
        CURVE_FN(ntt_tile_backward)(tile, t->table);
}

/* Tiles are numbered through all arrays, blocks and columns. */
static void pass_piece(void *arg, size_t begin, size_t end)
{
    const struct transform *t = arg;
    size_t stride = (size_t)1 << (t->log2 - t->level - t->depth);
    size_t tiles_a_block = stride / TILE_COLUMNS;
    size_t tiles_an_array = tiles_a_block << t->level;
    for (size_t i = begin; i < end; i++) {
        size_t in_array = i % tiles_an_array, block = in_array / tiles_a_block;
        struct fr *first = t->array[i / tiles_an_array] + (block << (t->log2 - t->level));
        struct tile tile = {first + in_array % tiles_a_block * TILE_COLUMNS, stride, TILE_COLUMNS,
                            t->depth, block};
        tile_run(t, &tile);
    }
}

static int pass_run(struct transform *t, unsigned level, unsigned depth, int forward)
{
    if (parallel_is_cancelled(t->parallel))
        return -ECANCELED;
    t->level = level;
    t->depth = depth;
    t->forward = forward;
    size_t tiles = (size_t)ARRAYS << (t->log2 - depth);
    ranges_run(t->parallel, tiles / TILE_COLUMNS, 1, pass_piece, t);
    return 0;
}

/* The levels above the blocks, in passes of nearly equal depth: down on the way out, up on the way
 * back. */
static int upper_levels_run(struct transform *t, int forward)
{
    unsigned upper = t->log2 - t->block_levels, passes = (upper + PASS_LEVELS - 1) / PASS_LEVELS;
    for (unsigned i = 0; i < passes; i++) {
        unsigned pass = forward ? i : passes - 1 - i;
        unsigned level = upper * pass / passes, end = upper * (pass + 1) / passes;
        int error = pass_run(t, level, end - level, forward);
        if (error)
            return error;
    }
    return 0;
}

static void middle_piece(void *arg, size_t begin, size_t end)
{
    const struct transform *t = arg;
    size_t length = (size_t)1 << t->block_levels, blocks = (size_t)1 << (t->log2 - t->block_levels);
    for (size_t i = begin; i < end; i++) {
        size_t block = i % blocks;
        struct fr *first = t->array[i / blocks] + block * length;
        struct tile tile = {first, 1, 1, t->block_levels, block};
        CURVE_FN(ntt_tile_forward)(&tile, t->table);
        for (size_t j = 0; j < length; j++)
            fr_mul(&first[j], &first[j], &t->table[block * length + j]);
        CURVE_FN(ntt_tile_backward)(&tile, t->table);
    }
}

static void product_piece(void *arg, size_t begin, size_t end)
{
    const struct transform *t = arg;
    for (size_t i = begin; i < end; i++)
        fr_mul(&t->array[2][i], &t->array[0][i], &t->array[1][i]);
}

/* All three are n times too large: h = (a * b / n - c) / n, and the last factor also ends the
 * Montgomery form. */
static void combine_piece(void *arg, size_t begin, size_t end)
{
    const struct transform *t = arg;
    for (size_t i = begin; i < end; i++) {
        struct fr h;
        fr_mul(&h, &t->array[0][i], &t->array[1][i]);
        fr_mul(&h, &h, &t->inverse_n);
        fr_sub(&h, &h, &t->array[2][i]);
        fr_mul(&t->array[0][i], &h, &t->inverse_n_plain);
    }
}

int CURVE_FN(quotient)(uint64_t *a, uint64_t *b, uint64_t *c, unsigned log2_domain,
                       const void *table, struct parallel *parallel)
{
    struct transform t = {.array = {(struct fr *)a, (struct fr *)b, (struct fr *)c},
                          .table = table,
                          .parallel = parallel,
                          .log2 = log2_domain};
    size_t n = (size_t)1 << log2_domain;
    t.block_levels = log2_domain < BLOCK_LEVELS ? log2_domain : BLOCK_LEVELS;
    domain_inverse_size(&t.inverse_n, log2_domain);
    fr_from_montgomery(&t.inverse_n_plain, &t.inverse_n);

    ranges_run(parallel, n, 1024, product_piece, &t);
    int error = upper_levels_run(&t, 1);
    if (error)
        return error;
    ranges_run(parallel, ARRAYS * (n >> t.block_levels), 1, middle_piece, &t);
    error = upper_levels_run(&t, 0);
    if (error)
        return error;
    ranges_run(parallel, n, 1024, combine_piece, &t);
    return 0;
}
