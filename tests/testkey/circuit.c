/*
 * Building a synthetic circuit and walking it to a witness (circuit.h). Part of the test key maker;
 * memory only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/testkey/circuit.h"

void *memory_resize(void *old, size_t count, size_t size)
{
    void *out = realloc(old, count * size + 1);
    if (!out) {
        fprintf(stderr, "testkey: no memory for %zu bytes\n", count * size);
        exit(71);
    }
    return out;
}

void circuit_init(struct circuit *circuit, const struct curve *curve, uint32_t publics)
{
    struct scalar one = scalar_from(curve, 1);
    *circuit = (struct circuit){.curve = curve, .wires = 1 + publics, .publics = publics};
    circuit_add_coefficient(circuit, one);
    circuit_add_coefficient(circuit, scalar_neg(curve, &one));
}

void circuit_free(struct circuit *circuit)
{
    for (int side = 0; side < SIDES; side++) {
        free(circuit->side[side].row_start);
        free(circuit->side[side].term);
    }
    free(circuit->row_kind);
    free(circuit->pool);
}

uint32_t circuit_add_wire(struct circuit *circuit)
{
    return circuit->wires++;
}

uint32_t circuit_add_coefficient(struct circuit *circuit, struct scalar value)
{
    if (circuit->pool_count == circuit->pool_capacity) {
        circuit->pool_capacity = 2 * circuit->pool_capacity + 64;
        circuit->pool = memory_resize(circuit->pool, circuit->pool_capacity, sizeof(value));
    }
    circuit->pool[circuit->pool_count] = value;
    return (uint32_t)circuit->pool_count++;
}

void circuit_add_term(struct circuit *circuit, enum side side, uint32_t wire, uint32_t coefficient)
{
    struct matrix *matrix = &circuit->side[side];
    if (matrix->count == matrix->capacity) {
        matrix->capacity = 2 * matrix->capacity + 1024;
        matrix->term = memory_resize(matrix->term, matrix->capacity, sizeof(*matrix->term));
    }
    matrix->term[matrix->count++] = (struct term){wire, coefficient};
}

static void circuit_grow_rows(struct circuit *circuit)
{
    circuit->row_capacity = 2 * circuit->row_capacity + 1024;
    for (int side = 0; side < SIDES; side++) {
        struct matrix *matrix = &circuit->side[side];
        matrix->row_start =
            memory_resize(matrix->row_start, circuit->row_capacity + 1, sizeof(uint32_t));
        matrix->row_start[0] = 0;
    }
    circuit->row_kind = memory_resize(circuit->row_kind, circuit->row_capacity, 1);
}

void circuit_close_row(struct circuit *circuit, enum row_kind kind)
{
    if (circuit->constraints == circuit->row_capacity)
        circuit_grow_rows(circuit);
    circuit->row_kind[circuit->constraints++] = (unsigned char)kind;
    for (int side = 0; side < SIDES; side++)
        circuit->side[side].row_start[circuit->constraints] = (uint32_t)circuit->side[side].count;
}

/* ---- witnesses ---- */

/* Terms begin .. end - 1 of a side, times the witness. */
static struct scalar terms_sum(const struct circuit *circuit, enum side side, size_t begin,
                               size_t end, const struct scalar *witness)
{
    const struct curve *curve = circuit->curve;
    struct scalar sum = {{0}};
    for (size_t i = begin; i < end; i++) {
        struct term term = circuit->side[side].term[i];
        struct scalar value = witness[term.wire];
        if (term.coefficient != COEFFICIENT_ONE)
            value = scalar_mul(curve, &value, &circuit->pool[term.coefficient]);
        sum = scalar_add(curve, &sum, &value);
    }
    return sum;
}

static void row_solve_product(const struct circuit *circuit, size_t row, struct scalar *witness)
{
    struct scalar sum[SIDES], value;
    for (int side = 0; side < SIDES; side++) {
        const uint32_t *start = &circuit->side[side].row_start[row];
        sum[side] =
            terms_sum(circuit, (enum side)side, start[0] + (side == SIDE_C), start[1], witness);
    }
    const struct matrix *c = &circuit->side[SIDE_C];
    value = scalar_mul(circuit->curve, &sum[SIDE_A], &sum[SIDE_B]);
    witness[c->term[c->row_start[row]].wire] = scalar_sub(circuit->curve, &value, &sum[SIDE_C]);
}

static void row_solve_adder(const struct circuit *circuit, size_t row, struct scalar *witness)
{
    const struct matrix *b = &circuit->side[SIDE_B];
    const struct term *term = b->term + b->row_start[row];
    const struct scalar one = scalar_from(circuit->curve, 1), zero = {{0}};
    size_t bits = (b->row_start[row + 1] - b->row_start[row]) / 3;
    int carry = 0;
    for (size_t i = 0; i < bits; i++) {
        carry += scalar_equal(&witness[term[i].wire], &one);
        carry += scalar_equal(&witness[term[bits + i].wire], &one);
        witness[term[2 * bits + i].wire] = carry & 1 ? one : zero;
        carry >>= 1;
    }
}

void circuit_make_witness(const struct circuit *circuit, struct scalar *witness, uint64_t seed)
{
    const struct scalar one = scalar_from(circuit->curve, 1), zero = {{0}};
    uint64_t state = seed;
    witness[0] = one;
    for (uint32_t i = 0; i < circuit->input_count; i++) {
        struct scalar *input = &witness[circuit->input_first + i];
        if (circuit->inputs_are_bits)
            *input = random_next(&state) >> 63 ? one : zero;
        else
            *input = scalar_random(circuit->curve, &state);
    }
    for (size_t row = 0; row < circuit->constraints; row++) {
        if (circuit->row_kind[row] == ROW_PRODUCT)
            row_solve_product(circuit, row, witness);
        else if (circuit->row_kind[row] == ROW_ADDER)
            row_solve_adder(circuit, row, witness);
    }
}
