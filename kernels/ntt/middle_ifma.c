/*
 * The levels within a vector (tile_ifma.h; table_ifma.h has the mathematics). Eight vectors at a
 * time are twisted, transposed, transformed between vectors by constants, scaled, transformed back,
 * transposed and twisted back. Pure arithmetic on the caller's tiles.
 */
#include <string.h>

#include "kernels/ntt/tile_ifma.h"

/* Rows to columns, of one limb. */
VECTOR_INLINE void transpose(__m512i row[LANES])
{
    __m512i pair[LANES], quad[LANES];
    VECTOR_UNROLL
    for (int i = 0; i < LANES; i += 2) {
        pair[i] = _mm512_unpacklo_epi64(row[i], row[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
    }
    VECTOR_UNROLL
    for (int i = 0; i < LANES; i += 4) {
        VECTOR_UNROLL
        for (int k = 0; k < 2; k++) {
            quad[i + k] = _mm512_shuffle_i64x2(pair[i + k], pair[i + k + 2], 0x88);
            quad[i + k + 2] = _mm512_shuffle_i64x2(pair[i + k], pair[i + k + 2], 0xdd);
        }
    }
    VECTOR_UNROLL
    for (int i = 0; i < 4; i++) {
        row[i] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0x88);
        row[i + 4] = _mm512_shuffle_i64x2(quad[i], quad[i + 4], 0xdd);
    }
}

static void octet_transpose(struct fr_x8 x[LANES])
{
    VECTOR_UNROLL
    for (int limb = 0; limb < SHOUP_LIMBS; limb++) {
        __m512i row[LANES];
        VECTOR_UNROLL
        for (int i = 0; i < LANES; i++)
            row[i] = x[i].limb[limb];
        transpose(row);
        VECTOR_UNROLL
        for (int i = 0; i < LANES; i++)
            x[i].limb[limb] = row[i];
    }
}

/* (u, v) -> (u + v, u - v) */
VECTOR_INLINE void cross(struct fr_x8 *u, struct fr_x8 *v)
{
    struct fr_x8 difference;
    fr_x8_sub_raw(&difference, u, v);
    fr_x8_add_raw(u, u, v);
    *v = difference;
}

static void multiply(struct fr_x8 *x, const struct shoup *constant)
{
    struct shoup_x8 factor;
    shoup_broadcast(&factor, constant);
    shoup_lift(x);
    shoup_mul(x, x, &factor);
}

/* y[m] -> sum y[m] i^(u m), u as y[0], y[2], y[1], y[3]; i is root[1], of order 4 */
static void transform4(struct fr_x8 *y, const struct shoup *root)
{
    cross(&y[0], &y[2]);
    cross(&y[1], &y[3]);
    multiply(&y[3], &root[1]);
    cross(&y[0], &y[1]);
    cross(&y[2], &y[3]);
}

/* x[m] -> sum x[m] rho^(u m), at place order[u]; rho is root[0]. x within 3, out within 24; only
 * sum x[m], at place 0, is above 16, and that only where x is not negative. */
static void transform8(struct fr_x8 x[LANES], const struct shoup *root)
{
    for (int i = 0; i < 4; i++)
        cross(&x[i], &x[i + 4]);
    for (int i = 1; i < 4; i++)
        multiply(&x[i + 4], &root[i - 1]);
    transform4(x, root);
    transform4(x + 4, root);
}

/* Where transform8 leaves u. */
static const unsigned char place_of[LANES] = {0, 4, 2, 6, 1, 5, 3, 7};

/* Scales, and puts u at u. */
static void scale(struct fr_x8 x[LANES], const struct shoup factor[LANES])
{
    struct fr_x8 from[LANES];
    memcpy(from, x, sizeof(from));
    for (int u = 0; u < LANES; u++) {
        struct fr_x8 value = from[place_of[u]];
        struct shoup_x8 constant;
        shoup_broadcast(&constant, &factor[u]);
        if (u)
            shoup_lift(&value);
        else
            shoup_carry(&value);
        shoup_mul(&x[u], &value, &constant);
    }
}

static void reorder(struct fr_x8 x[LANES])
{
    struct fr_x8 from[LANES];
    memcpy(from, x, sizeof(from));
    for (int u = 0; u < LANES; u++)
        x[u] = from[place_of[u]];
}

/* Lane by lane: within 16 to 0 .. 3. */
static void twist(struct fr_x8 *x, const struct fr_x8 *by)
{
    fr_x8_lift_loaded_raw(x);
    fr_x8_normalize_wrapping(x);
    fr_x8_mul(x, x, by);
}

/* The twists of eight vectors: the block's times the vectors', from 0 to 2. */
static void make_twists(struct fr_x8 in[LANES], struct fr_x8 out[LANES],
                        const struct twist_high *high, const struct twist_low low[LANES])
{
    struct fr_x8 zero;
    fr_x8_zero(&zero);
    for (int i = 0; i < LANES; i++) {
        shoup_mul_from(&in[i], &zero, &high->in, &low[i].in);
        fr_x8_normalize_wrapping(&in[i]);
        shoup_mul_from(&out[i], &zero, &high->out, &low[i].out);
        fr_x8_normalize_wrapping(&out[i]);
    }
}

static void octet_run(struct fr_x8 x[LANES], const struct fr_x8 in[LANES],
                      const struct fr_x8 out[LANES], const struct table_head *head, unsigned array)
{
    for (int i = 0; i < LANES; i++)
        twist(&x[i], &in[i]);
    octet_transpose(x);
    transform8(x, head->inverse_root);
    scale(x, head->scale[array]);
    transform8(x, head->root);
    reorder(x);
    octet_transpose(x);
    for (int i = 0; i < LANES; i++)
        twist(&x[i], &out[i]);
}

void CURVE_FN(ntt_tiles_middle)(struct tile_x8 tile[ARRAYS], const struct table *table)
{
    const struct twist_high *high = &table->high[tile->block];
    struct fr_x8 in[LANES], out[LANES];
    for (size_t i = 0; i < (size_t)1 << tile->depth; i += LANES) {
        make_twists(in, out, high, &table->low[i]);
        for (unsigned array = 0; array < ARRAYS; array++)
            octet_run(&tile[array].vector[i], in, out, table->head, array);
    }
}
