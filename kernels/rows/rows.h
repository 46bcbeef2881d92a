/*
 * Rows of a sparse matrix times a witness. Called through struct curve (kernels/curves.h), whose
 * contract this is. Pure; a SIGKILL leaves nothing but the caller's buffer.
 *
 * A value is v * R, a witness word plain, so their Montgomery product is v * w, plain; a row is
 * summed up in that form and brought into Montgomery form once, by one product with R^2. Witness
 * values 0 cost nothing, 1 an addition; values 1 and -1 that the matrix numbers (SPARSE_ONE) cost
 * an addition.
 */
#ifndef PAWL_KERNELS_ROWS_ROWS_H
#define PAWL_KERNELS_ROWS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/field/curve_select.h"

struct sparse_matrix;

void CURVE_FN(rows_evaluate)(uint64_t *out, const struct sparse_matrix *matrix,
                             const uint64_t *witness, size_t begin, size_t end);

#endif
