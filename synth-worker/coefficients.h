/*
 * Section 4 of a proving key, made into two sparse matrices by rows.
 *
 * The section is `count` records of u32 matrix (0: A, 1: B), u32 row, u32 signal and a value of 32
 * bytes, v * R^2 mod r. The records may stand in any order: they are counted, then placed, so that
 * within a row they keep the order of the file. A (row, signal) that occurs twice stays twice; the
 * row sums it.
 */
#ifndef PAWL_SYNTH_WORKER_COEFFICIENTS_H
#define PAWL_SYNTH_WORKER_COEFFICIENTS_H

#include <stdint.h>

#include "synth-worker/dictionary.h"

struct complaint;
struct zkey;

/* Of A and of B. */
struct coefficient_counts {
    uint32_t rows[2];            /* the last row used + 1; 0 for an empty matrix */
    uint32_t entries[2];         /* records */
    struct dictionary values[2]; /* as the key has them; 1 and -1 come first */
    uint32_t index_bytes[2];     /* of the number of a value; 0: the image has a value per entry */
};

/* The arrays of one matrix, lengths as counted: row_start rows + 1, wire entries. */
struct coefficient_matrix {
    uint32_t *row_start;
    uint32_t *wire;
    uint64_t (*value)[4]; /* v * R mod r: Montgomery; coefficients_values of them */
    void *index;          /* entries, index_bytes each; NULL where that is 0 */
};

/* Checks every record (matrix id, row, signal, value below r) and counts. 0, or -errno, naming the
 * record. The key's source is in memory; zkey_check_sections came first. To be freed in any case.
 */
int coefficients_count(const struct zkey *zkey, struct coefficient_counts *counts,
                       struct complaint *complaint);
void coefficients_free(struct coefficient_counts *counts);
/* How many values matrix 0 (A) or 1 (B) has in the image. */
uint32_t coefficients_values(const struct coefficient_counts *counts, unsigned matrix);
/* Fills both matrices; coefficients_count came first. */
void coefficients_place(const struct zkey *zkey, struct coefficient_counts *counts,
                        struct coefficient_matrix matrix[2]);

#endif
