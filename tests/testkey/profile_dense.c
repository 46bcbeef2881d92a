/*
 * The dense profile (profiles.h): constraints as a chain of Poseidon hashes over three elements has
 * them.
 *
 * A hash has 120 constraints. Most sides are single wires (x * x, x^2 * x^2); the sides where a
 * round's state goes in are sums: of 3 wires, mostly, of 60 at the change from partial to full
 * rounds. Each constraint makes one new wire. One wire in 120 is in no A, and 41 in 120 are in no
 * B.
 */
#include <stdlib.h>

#include "tests/testkey/operands.h"
#include "tests/testkey/profiles.h"

enum { HASH_ROWS = 120, LONG_ROW = 60, POOL_DRAWN = 512 };

struct dense {
    struct circuit *circuit;
    struct operands operands[2];
    uint64_t state;
    uint32_t first_drawn; /* of the random coefficients in the pool */
    uint32_t rows;
    uint64_t unused[2]; /* wires that side A, B never takes; the last, which nobody could, is one */
};

/* Terms of side A in row i of a hash: 60, 2, 3 nine or ten times, else 1: 199 a hash. */
static size_t dense_length_a(uint32_t row)
{
    uint32_t i = row % HASH_ROWS;
    if (i == 60)
        return LONG_ROW;
    if (i == 61)
        return 2;
    return i % 12 == 5 && (i != 5 || row / HASH_ROWS % 2) ? 3 : 1;
}

/* Of side B: 60 and 2 twice, 3 nineteen times: 278 a hash. Late, so that the first has wires for
 * them. */
static size_t dense_length_b(uint32_t row)
{
    uint32_t i = row % HASH_ROWS;
    if (i == 100 || i == 112)
        return LONG_ROW;
    if (i == 101 || i == 113)
        return 2;
    return i % 6 == 2 && i != 62 ? 3 : 1;
}

static void dense_add_side(struct dense *dense, enum side side, size_t length)
{
    uint32_t wire[LONG_ROW];
    size_t count = operands_take(&dense->operands[side], wire, length, &dense->state);
    for (size_t i = 0; i < count; i++) {
        uint32_t coefficient = COEFFICIENT_ONE;
        if (count > 1)
            coefficient = dense->first_drawn + (uint32_t)(random_next(&dense->state) % POOL_DRAWN);
        circuit_add_term(dense->circuit, side, wire[i], coefficient);
    }
}

static void dense_add_row(struct dense *dense, uint32_t row)
{
    dense_add_side(dense, SIDE_A, dense_length_a(row));
    dense_add_side(dense, SIDE_B, dense_length_b(row));
    uint32_t wire = circuit_add_wire(dense->circuit);
    circuit_add_term(dense->circuit, SIDE_C, wire, COEFFICIENT_ONE);
    circuit_close_row(dense->circuit, ROW_PRODUCT);
    for (int side = SIDE_A; side <= SIDE_B; side++) {
        if (!share_falls_on(row, dense->unused[side], dense->rows))
            operands_add(&dense->operands[side], wire);
    }
}

void profile_dense_make(struct circuit *circuit, const struct curve *curve, unsigned log2,
                        uint64_t seed)
{
    struct dense dense = {.circuit = circuit, .state = seed};
    dense.rows = profile_rows(log2, 32160);
    dense.unused[SIDE_A] = share_of(dense.rows, 268, 32160);
    dense.unused[SIDE_B] = share_of(dense.rows, 10989, 32160);
    circuit_init(circuit, curve, PUBLICS);
    circuit->input_first = 1;
    circuit->input_count = PUBLICS;
    for (uint32_t wire = 0; wire <= PUBLICS; wire++) { /* one meets no one: that would be 1 again */
        operands_add(&dense.operands[SIDE_A], (wire + 1) % (PUBLICS + 1));
        operands_add(&dense.operands[SIDE_B], wire);
    }
    dense.first_drawn = (uint32_t)circuit->pool_count;
    for (int i = 0; i < POOL_DRAWN; i++)
        circuit_add_coefficient(circuit, scalar_random(curve, &dense.state));
    for (uint32_t row = 0; row < dense.rows; row++)
        dense_add_row(&dense, row);
    free(dense.operands[SIDE_A].wire);
    free(dense.operands[SIDE_B].wire);
}
