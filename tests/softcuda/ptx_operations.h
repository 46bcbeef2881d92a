/*
 * The table of operations that compute values from values: mnemonic, what its operands are, the
 * function. What moves memory, branches or looks across lanes has decoders of its own.
 */
#ifndef PAWL_TESTS_SOFTCUDA_PTX_OPERATIONS_H
#define PAWL_TESTS_SOFTCUDA_PTX_OPERATIONS_H

#include "tests/softcuda/ptx_warp.h"

struct ptx_operation {
    const char *mnemonic;
    /* One letter each, destination first: p predicate, h 16 bits, w 32, d 64; and before '<', more
     * than one destination. */
    const char *operands;
    void (*run)(struct ptx_warp *warp, const struct ptx_code *code);
};

/* Ends with a NULL mnemonic; the second of them is for machines with AVX-512. */
extern const struct ptx_operation ptx_operations_portable[];
extern const struct ptx_operation ptx_operations_avx512[];

/* The table for this machine. */
const struct ptx_operation *ptx_operations_for_cpu(void);

/* The operation by name, through an index made at the first call; NULL. */
const struct ptx_operation *ptx_operation_find(const char *mnemonic, size_t length);

#endif
