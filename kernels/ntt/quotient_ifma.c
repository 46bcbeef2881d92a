/*
 * The scalars of H in eight lanes of AVX-512: values of a*b - c at the odd points of the double
 * domain (ntt.h, and quotient in kernels/curves.h). Called by a device with arrays that are its
 * own; a SIGKILL leaves nothing.
 *
 * Each pass takes tiles of 64 vectors of the three arrays through its levels: one pass for up to
 * six upper levels each way, and one in the middle for the nine lowest both ways. The first pass
 * makes c, the last combines. Between passes a vector lies where its eight elements were, as four
 * words of all eight each, reduced to below 2^256.
 *
 * A group is eight elements side by side in memory, 256 bytes.
 */
#include <errno.h>

#include "kernels/ntt/domain.h"
#include "kernels/ntt/ntt.h"
#include "kernels/ntt/tile_ifma.h"
#include "kernels/ranges.h"

extern __typeof__(CURVE_FN(quotient)) BASE_FN(quotient);

enum { GROUP_WORDS = LANES * FR_LIMBS };

struct pass {
    uint64_t *array[ARRAYS];
    struct table table;
    unsigned level, depth;
    enum direction { FORWARD, MIDDLE, BACKWARD } direction;
    int first, last;
};

/* Where a tile lies: vector i is the group first + i * stride. */
struct place {
    size_t first, stride, block;
};

static struct place place_of(const struct pass *pass, size_t tile)
{
    size_t groups = (size_t)1 << (pass->table.log2 - LANE_LEVELS - pass->level);
    struct place out = {.stride = groups >> pass->depth};
    out.block = tile / out.stride;
    out.first = out.block * groups + tile % out.stride;
    return out;
}

static uint64_t *group_at(const struct pass *pass, unsigned array, const struct place *place,
                          size_t i)
{
    return pass->array[array] + GROUP_WORDS * (place->first + i * place->stride);
}

/* ---- groups ---- */

static void group_load(struct fr_x8 *out, const uint64_t *group)
{
    __m512i word[FR_LIMBS];
    for (int i = 0; i < FR_LIMBS; i++)
        word[i] = _mm512_loadu_si512(group + LANES * i);
    fr_x8_cut(out, word, 0);
}

/* From within 16 to 1 .. 2 (and a little), limbs below 2^52. */
static void reduce(struct fr_x8 *x)
{
    shoup_reduce(x);
    for (int j = 0; j < SHOUP_LIMBS; j++)
        x->limb[j] = _mm512_add_epi64(x->limb[j], _mm512_set1_epi64((long long)fr_modulus_52[j]));
    fr_x8_normalize_wrapping(x);
}

/* 2^256 is above 2.2 r on both curves. */
static void group_store(uint64_t *group, struct fr_x8 *x)
{
    __m512i word[FR_LIMBS];
    reduce(x);
    fr_x8_join(word, x);
    for (int i = 0; i < FR_LIMBS; i++)
        _mm512_storeu_si512(group + LANES * i, word[i]);
}

/* a * b / 2^260 - c, plain, to elements side by side */
static void group_combine(uint64_t *group, struct fr_x8 *a, struct fr_x8 *b, struct fr_x8 *c)
{
    void *element[LANES];
    reduce(a);
    fr_x8_lift_loaded_raw(b);
    fr_x8_normalize_wrapping(b);
    fr_x8_mul(a, a, b);
    fr_x8_sub_raw(a, a, c);
    fr_x8_lift_loaded_raw(a);
    fr_x8_normalize_wrapping(a);
    fr_x8_canonical(a, a);
    for (int i = 0; i < LANES; i++)
        element[i] = group + FR_LIMBS * i;
    fr_x8_store_limbs(element, a);
}

/* ---- tiles ---- */

static void tiles_load(struct tile_x8 tile[ARRAYS], const struct pass *pass,
                       const struct place *place)
{
    for (unsigned array = 0; array < ARRAYS; array++) {
        tile[array].depth = pass->depth;
        tile[array].block = place->block;
        for (size_t i = 0; i < (size_t)1 << pass->depth; i++) {
            struct fr_x8 *out = &tile[array].vector[i];
            if (!pass->first)
                group_load(out, group_at(pass, array, place, i));
            else if (array < 2)
                fr_x8_load_plain_packed(out, group_at(pass, array, place, i));
            else
                fr_x8_mul(out, &tile[0].vector[i], &tile[1].vector[i]);
        }
    }
}

static void tiles_store(struct tile_x8 tile[ARRAYS], const struct pass *pass,
                        const struct place *place)
{
    for (size_t i = 0; i < (size_t)1 << pass->depth; i++) {
        if (pass->last) {
            group_combine(group_at(pass, 0, place, i), &tile[0].vector[i], &tile[1].vector[i],
                          &tile[2].vector[i]);
            continue;
        }
        for (unsigned array = 0; array < ARRAYS; array++)
            group_store(group_at(pass, array, place, i), &tile[array].vector[i]);
    }
}

static void pass_piece(void *arg, size_t begin, size_t end)
{
    const struct pass *pass = arg;
    struct tile_x8 tile[ARRAYS];
    for (size_t index = begin; index < end; index++) {
        const struct place place = place_of(pass, index);
        tiles_load(tile, pass, &place);
        for (unsigned array = 0; array < ARRAYS && pass->direction != BACKWARD; array++)
            CURVE_FN(ntt_tile_forward)(&tile[array], pass->table.root);
        if (pass->direction == MIDDLE)
            CURVE_FN(ntt_tiles_middle)(tile, &pass->table);
        for (unsigned array = 0; array < ARRAYS && pass->direction != FORWARD; array++)
            CURVE_FN(ntt_tile_backward)(&tile[array], pass->table.root);
        tiles_store(tile, pass, &place);
    }
}

/* ---- passes ---- */

static int pass_run(struct pass *pass, enum direction direction, unsigned level, unsigned depth,
                    struct parallel *parallel)
{
    if (parallel_is_cancelled(parallel))
        return -ECANCELED;
    pass->direction = direction;
    pass->level = level;
    pass->depth = depth;
    size_t tiles = (size_t)1 << (pass->table.log2 - LANE_LEVELS - depth);
    ranges_run(parallel, tiles, 1, pass_piece, pass);
    pass->first = 0;
    return 0;
}

int CURVE_FN(quotient)(uint64_t *a, uint64_t *b, uint64_t *c, unsigned log2_domain,
                       const void *table, struct parallel *parallel)
{
    if (log2_domain < TABLE_LEAST)
        return BASE_FN(quotient)(a, b, c, log2_domain, table, parallel);
    struct pass pass = {.array = {a, b, c}, .table = table_view(table, log2_domain), .first = 1};
    unsigned upper = log2_domain - pass.table.block_levels;
    unsigned passes = (upper + TILE_LEVELS - 1) / TILE_LEVELS;
    int error = 0;
    for (unsigned i = 0; i < passes && !error; i++) {
        unsigned level = upper * i / passes, end = upper * (i + 1) / passes;
        error = pass_run(&pass, FORWARD, level, end - level, parallel);
    }
    pass.last = passes == 0;
    if (!error)
        error = pass_run(&pass, MIDDLE, upper, pass.table.block_levels - LANE_LEVELS, parallel);
    for (unsigned i = passes; i-- > 0 && !error;) {
        unsigned level = upper * i / passes, end = upper * (i + 1) / passes;
        pass.last = i == 0;
        error = pass_run(&pass, BACKWARD, level, end - level, parallel);
    }
    return error;
}
