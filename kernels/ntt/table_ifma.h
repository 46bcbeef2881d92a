/*
 * What a domain's table holds in the AVX-512 form. Private to ntt/; made by table_ifma.c. Domains
 * of less than TABLE_LEAST levels have the scalar form's table.
 *
 * The lowest three levels of a transform lie within a vector. For vector j they evaluate a
 * polynomial of degree 7 at z_j rho^t, rho of order 8: x_m is multiplied by z_j^m ("twist"), then
 * transformed by constants that are the same for all j. With b = brv(j) and v the root of order 2n,
 * z_j = v^-2b there; on the way back it is v^2b; and the powers of v by which the coefficients are
 * scaled for the odd points are v^b times 8 constants. So the two twists are v^(b (1 - 2m)) and
 * v^(2bm), m the lane, and what is left to scale by is constants, in which the factors of the three
 * arrays are put as well. b is the sum of a block's part and of a vector's part within its block,
 * hence a twist the product of one of each.
 */
#ifndef PAWL_KERNELS_NTT_TABLE_IFMA_H
#define PAWL_KERNELS_NTT_TABLE_IFMA_H

#include <stddef.h>

#include "kernels/ntt/shoup_ifma.h"

enum {
    TABLE_LEAST = 6,        /* levels: eight vectors */
    TABLE_BLOCK_LEVELS = 9, /* of a block of the middle pass: 20 KiB in limbs */
    LANE_LEVELS = 3,
    LANES = 8,
    ARRAYS = 3
};

/* Twists of the vectors within a block, and of the blocks. */
struct twist_low {
    struct shoup_x8 in, out;
};
struct twist_high {
    struct fr_x8 in, out; /* vector form, canonical */
};

struct table_head {
    struct shoup inverse_root[3], root[3]; /* powers 1, 2, 3 of the root of order 8 */
    struct shoup scale[ARRAYS][LANES];     /* u: powers u of the root of order 16, and factors */
    uint64_t unused[4];
};
_Static_assert(sizeof(struct table_head) % 64 == 0, "table head");

struct table {
    const struct table_head *head;
    const struct twist_low *low;   /* a vector of a block */
    const struct twist_high *high; /* a block */
    const struct shoup *root;      /* T[j] of ntt.h, j < n / 16 */
    unsigned log2, block_levels;
};

static inline unsigned table_block_levels(unsigned log2_domain)
{
    return log2_domain < TABLE_BLOCK_LEVELS ? log2_domain : TABLE_BLOCK_LEVELS;
}

/* The parts of a table that lies at `at`. */
static inline struct table table_view(const void *at, unsigned log2_domain)
{
    struct table out = {.log2 = log2_domain, .block_levels = table_block_levels(log2_domain)};
    out.head = at;
    out.low = (const void *)(out.head + 1);
    out.high = (const void *)(out.low + ((size_t)1 << (out.block_levels - LANE_LEVELS)));
    out.root = (const void *)(out.high + ((size_t)1 << (log2_domain - out.block_levels)));
    return out;
}

#endif
