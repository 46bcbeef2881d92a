/*
 * Holds the rows of a key against the constraints of an r1cs (r1cs.h). A row is read from both,
 * brought to one form (terms.h) and compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "kernels/sparse_matrix.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/r1cs_read.h"

static int load_key_row(struct terms *terms, const struct sparse_matrix *matrix, uint64_t row,
                        const struct curve *curve)
{
    uint32_t begin = row < matrix->rows ? matrix->row_start[row] : 0;
    uint32_t end = row < matrix->rows ? matrix->row_start[row + 1] : 0;
    int status = terms_open(terms, end - begin);
    if (status)
        return status;
    for (uint32_t entry = begin; entry < end; entry++) {
        struct term *term = &terms->term[terms->count++];
        term->wire = matrix->wire[entry];
        memcpy(term->value, matrix->value[matrix_value_number(matrix, entry)], sizeof term->value);
    }
    terms_merge(terms, curve);
    return 0;
}

static int complain_row(const struct r1cs *r1cs, uint64_t row, char side,
                        struct complaint *complaint)
{
    const char *name = r1cs->file.source.name;
    if (row < r1cs->constraints)
        return complain_input(complaint,
                              "%.700s: constraint %" PRIu64
                              ": %c is not what the key has in that row; give the r1cs that the "
                              "key was made from",
                              name, row, side);
    return complain_input(complaint,
                          "%.700s: the key's row %" PRIu64 " of %c is none of the %" PRIu32
                          " constraints, nor a public signal's; give the r1cs that the key was "
                          "made from",
                          name, row, side, r1cs->constraints);
}

static int compare_row(const struct r1cs *r1cs, const struct sparse_matrix *matrix, uint64_t row,
                       const struct terms *want, char side, struct complaint *complaint)
{
    struct terms key = {0};
    int status = load_key_row(&key, matrix, row, r1cs->curve);
    if (status)
        status = complain_system(complaint, EXIT_MACHINE, -status, "%.700s: no memory for a row",
                                 r1cs->file.source.name);
    else if (!terms_equal(&key, want))
        status = complain_row(r1cs, row, side, complaint);
    terms_free(&key);
    return status;
}

/* What A has in the rows past the constraints: signal s, once, in row constraints + s. */
static void public_row(const struct r1cs *r1cs, uint64_t row, struct term *term,
                       struct terms *terms)
{
    uint64_t one[FR_WORDS] = {1};
    *terms = (struct terms){.term = term};
    if (row - r1cs->constraints > r1cs->public_count)
        return;
    terms->count = 1;
    term->wire = (uint32_t)(row - r1cs->constraints);
    r1cs->curve->fr_to_montgomery(term->value, one);
}

static int compare_rest(const struct r1cs *r1cs, const struct sparse_matrix *a,
                        const struct sparse_matrix *b, struct complaint *complaint)
{
    static const struct terms nothing;
    uint64_t end = (uint64_t)r1cs->constraints + r1cs->public_count + 1;
    int status = 0;
    end = a->rows > end ? a->rows : end;
    end = b->rows > end ? b->rows : end;
    for (uint64_t row = r1cs->constraints; row < end && !status; row++) {
        struct terms want;
        struct term term;
        public_row(r1cs, row, &term, &want);
        status = compare_row(r1cs, a, row, &want, 'A', complaint);
        if (!status)
            status = compare_row(r1cs, b, row, &nothing, 'B', complaint);
    }
    return status;
}

static int compare_constraint(struct r1cs_walk *walk, const struct sparse_matrix *a,
                              const struct sparse_matrix *b, struct complaint *complaint)
{
    uint32_t row = walk->row;
    int status = r1cs_walk_next(walk, complaint);
    if (!status)
        status = compare_row(walk->r1cs, a, row, &walk->terms, 'A', complaint);
    if (!status)
        status = r1cs_walk_next(walk, complaint);
    if (!status)
        status = compare_row(walk->r1cs, b, row, &walk->terms, 'B', complaint);
    return status ? status : r1cs_walk_next(walk, complaint);
}

int r1cs_compare(const struct r1cs *r1cs, const struct sparse_matrix *a,
                 const struct sparse_matrix *b, struct complaint *complaint)
{
    struct r1cs_walk walk;
    int status = 0;
    r1cs_walk_begin(&walk, r1cs);
    while (walk.row < r1cs->constraints && !status)
        status = compare_constraint(&walk, a, b, complaint);
    terms_free(&walk.terms);
    return status ? status : compare_rest(r1cs, a, b, complaint);
}
