/*
 * A verification key made ready for many proofs: what depends on the key alone, computed once.
 * For prepared.c, verify.c and groth16/assemble.c of the same curve and form; the programs see a
 * buffer (curves.h). Read-only once made; points into the key's image by `key.ic` alone.
 */
#ifndef PAWL_KERNELS_PAIRING_PREPARED_H
#define PAWL_KERNELS_PAIRING_PREPARED_H

#include "kernels/curve/multiples.h"
#include "kernels/pairing/miller.h"

/* Public signals whose IC points get tables; a key with more gets none, and its sum is made bit by
 * bit. */
#define PREPARED_PUBLICS_MAX 8

/* The lines of a point of G2, divided by their y coefficients. */
struct prepared_lines {
    int finite; /* 0: the point is infinity and has no lines */
    struct line line[MILLER_LINES_MAX];
};

struct prepared_key {
    struct verification_key key;
    struct fq12 alphabeta; /* the Miller value of (alpha, beta) */
    struct prepared_lines gamma, delta;
    struct g1_affine delta1[MULTIPLES_TABLE_POINTS];
    struct g2_affine delta2[MULTIPLES_TABLE_POINTS];
    struct g1_affine ic[][MULTIPLES_TABLE_POINTS]; /* of IC_1 ... */
};

static inline uint32_t prepared_tables(uint32_t public_count)
{
    return public_count <= PREPARED_PUBLICS_MAX ? public_count : 0;
}

#endif
