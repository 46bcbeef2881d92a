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

struct complaint;
struct zkey;

struct coefficient_counts {
    uint32_t rows[2];    /* the last row used + 1, of A and B; 0 for an empty matrix */
    uint32_t entries[2]; /* records of A and of B */
};

/* The arrays of one matrix, lengths as counted: row_start rows + 1, wire and value entries. */
struct coefficient_matrix {
    uint32_t *row_start;
    uint32_t *wire;
    uint64_t (*value)[4]; /* v * R mod r: Montgomery */
};

/* Checks every record (matrix id, row, signal, value below r) and counts. 0, or -EINVAL naming the
 * record. The key's source is in memory; zkey_check_sections came first. */
int coefficients_count(const struct zkey *zkey, struct coefficient_counts *counts,
                       struct complaint *complaint);
/* Fills both matrices; coefficients_count came first. */
void coefficients_place(const struct zkey *zkey, const struct coefficient_counts *counts,
                        struct coefficient_matrix matrix[2]);

#endif
