/*
 * Which value an entry of a sparse matrix has (struct sparse_matrix, kernels/curves.h). No
 * state.
 */
#ifndef PAWL_KERNELS_SPARSE_MATRIX_H
#define PAWL_KERNELS_SPARSE_MATRIX_H

#include "kernels/curves.h"

/* The number of the entry's value: its own where there are as many values as entries. */
static inline uint32_t matrix_value_number(const struct sparse_matrix *matrix, uint32_t entry)
{
    switch (matrix->index_bytes) {
    case 0:
        return entry;
    case 1:
        return ((const uint8_t *)matrix->index)[entry];
    case 2:
        return ((const uint16_t *)matrix->index)[entry];
    default:
        return ((const uint32_t *)matrix->index)[entry];
    }
}

#endif
