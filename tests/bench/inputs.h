/*
 * What the operations of operations.c work on: points, scalars, vectors, a matrix, a prepared key
 * and a proof, made on the spot. Everything is random and the same at each call; inputs_free frees
 * all. Aborts where memory is short.
 */
#ifndef PAWL_TESTS_BENCH_INPUTS_H
#define PAWL_TESTS_BENCH_INPUTS_H

#include "kernels/curves.h"

#define INPUTS_ENTRIES 3 /* of a row: half of them one */

struct inputs {
    size_t count;
    void *points_g1, *points_g2;
    uint64_t *scalars; /* plain, of full length */
    uint64_t *vector[3];
    void *table, *scratch, *prepared;
    uint32_t *row_start, *wire;
    uint64_t (*value)[FR_WORDS];
    uint8_t *index;
    struct sparse_matrix matrix;
    struct verification_key key;
    void *ic;
    struct proof_sums sums;
    struct proof proof;
    struct g1 g1;
    struct g2 g2;
};

void inputs_make(struct inputs *out, const struct curve *curve, unsigned log2,
                 struct parallel *parallel);
/* Only what an assembly and a check need: a key with two publics. */
void inputs_make_proof(struct inputs *out, const struct curve *curve);
void inputs_free(struct inputs *inputs);

#endif
