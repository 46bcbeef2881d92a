/*
 * A synthetic rank-1 constraint system and its witnesses. Wire 0 is one, wires 1 .. publics are
 * public.
 *
 * Rows are made one after another: terms are added to the sides A, B and C of the open row, then
 * the row is closed. A row says how its witness is found: ROW_PRODUCT defines the first wire of C
 * (whose coefficient is one) as A * B less the rest of C; ROW_ADDER defines bits, see there;
 * ROW_CHECK defines nothing. So a witness is made in one walk over the rows.
 */
#ifndef PAWL_TESTS_TESTKEY_CIRCUIT_H
#define PAWL_TESTS_TESTKEY_CIRCUIT_H

#include "tests/support/scalars.h"

enum side { SIDE_A, SIDE_B, SIDE_C, SIDES };

/* Coefficients are kept once, in the circuit's pool, and named by index. These two are always
 * there. */
enum { COEFFICIENT_ONE, COEFFICIENT_MINUS_ONE };

/*
 * ROW_ADDER: side B is x bits, y bits and z bits, w of each, z = x + y mod 2^w: the row makes z,
 * and constrains the carry, B as a number, to be a bit.
 */
enum row_kind { ROW_CHECK, ROW_PRODUCT, ROW_ADDER };

struct term {
    uint32_t wire, coefficient;
};

struct matrix {
    uint32_t *row_start; /* constraints + 1 */
    struct term *term;
    size_t count, capacity;
};

struct circuit {
    const struct curve *curve;
    uint32_t wires, publics, constraints, row_capacity;
    struct matrix side[SIDES];
    unsigned char *row_kind;
    struct scalar *pool; /* Montgomery */
    size_t pool_count, pool_capacity;
    uint32_t input_first, input_count; /* wires that a witness starts from */
    int inputs_are_bits;
};

void circuit_init(struct circuit *circuit, const struct curve *curve, uint32_t publics);
void circuit_free(struct circuit *circuit);
uint32_t circuit_add_wire(struct circuit *circuit);
/* The index of a new coefficient, Montgomery. */
uint32_t circuit_add_coefficient(struct circuit *circuit, struct scalar value);
void circuit_add_term(struct circuit *circuit, enum side side, uint32_t wire, uint32_t coefficient);
void circuit_close_row(struct circuit *circuit, enum row_kind kind);

/* Fills witness, `wires` elements, Montgomery, from inputs drawn with the seed. */
void circuit_make_witness(const struct circuit *circuit, struct scalar *witness, uint64_t seed);

/* Realloc that ends the program where there is no memory. */
void *memory_resize(void *old, size_t count, size_t size);

#endif
