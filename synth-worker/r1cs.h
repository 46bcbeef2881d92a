/*
 * A circuit's constraints as circom writes them (.r1cs): what makes a check of A w * B w = C w
 * possible, for the key has no C.
 *
 * The file is a container (binfile.h). Section 1: u32 bytes of an element (32), the prime r, u32
 * wires, public outputs, public inputs, private inputs, u64 labels, u32 constraints. Section 2: for
 * each constraint the combinations A, B and C, each u32 terms and then u32 wire and 32 bytes plain
 * coefficient a term. A wire that is listed twice in a combination counts with the sum of its
 * coefficients, as in the key's making. Labels and custom gates (sections 3 to 5) are not read.
 *
 * Every count is held against the bytes that are left before it is used. Called by image_build.c on
 * bytes in memory; a SIGKILL leaves nothing.
 */
#ifndef PAWL_SYNTH_WORKER_R1CS_H
#define PAWL_SYNTH_WORKER_R1CS_H

#include <stdint.h>

#include "synth-worker/binfile.h"
#include "synth-worker/dictionary.h"

struct coefficient_matrix;
struct complaint;
struct curve;
struct sparse_matrix;
struct zkey;

struct r1cs {
    struct binfile file;
    const struct curve *curve;
    uint32_t wires, public_count, constraints;
    uint64_t domain;
    uint32_t repeated; /* combinations with a wire listed twice */
    /* C by rows, in the form of the image; row_start has constraints + 1 */
    uint32_t *row_start, *wire, *number;
    struct dictionary values; /* Montgomery; 1 and -1 come first */
    uint32_t index_bytes;     /* 0: the image has a value for each entry */
};

/*
 * Reads and checks all of the file against the header of its key and makes C. `source` is in
 * memory and must outlive it. 0, or -errno with the complaint naming the constraint. To be freed in
 * any case.
 */
int r1cs_read(struct r1cs *r1cs, const struct binfile_source *source, const struct zkey *zkey,
              struct complaint *complaint);
void r1cs_free(struct r1cs *r1cs);

/*
 * Whether the key's rows are this file's: rows below the number of constraints are its A and B, the
 * next public_count + 1 of A are the public signals, all others are empty. 0, or -errno with the
 * complaint naming the first row that differs.
 */
int r1cs_compare(const struct r1cs *r1cs, const struct sparse_matrix *a,
                 const struct sparse_matrix *b, struct complaint *complaint);

/* How many values C has in the image, and its arrays (coefficients.h) filled. */
uint32_t r1cs_values(const struct r1cs *r1cs);
void r1cs_place(const struct r1cs *r1cs, const struct coefficient_matrix *out);

#endif
