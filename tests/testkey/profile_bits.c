/*
 * The bits profile (profiles.h): constraints as SHA-256 has them, every wire but the publics a bit.
 *
 *     exclusive or of 3   m = b c;  (1 - 2b - 2c + 4m) a = out - b - c + 2m       A: 1, 4 terms two
 * rows majority            m = b c;  (b + c - 2m) a = out - m                      A: 1, 3 terms
 * two rows choice              (x - y) s = out - y                                     A: 2 terms
 *     a bit               (z - 1) z = 0                                           A: 2 terms
 *     addition of words   (carry - 1) carry = 0, carry = (X + Y - Z) / 2^w        A: 3w + 1, B: 3w
 * terms packing             (sum of 2^i b_i) 1 = public                             A: w terms
 *
 * How many of each, per 30,127 rows: 6,361, 1,952, the rest, 10,000, 141, and two.
 */
#include <stdlib.h>

#include "tests/testkey/operands.h"
#include "tests/testkey/profiles.h"

enum { WORD_MAX = 128, SHARES_WHOLE = 30127, UNFLAGGED_TAIL = 4 };

enum gadget { GADGET_XOR, GADGET_MAJORITY, GADGET_CHOICE, GADGET_ADDER, GADGETS };

struct bits {
    struct circuit *circuit;
    struct operands both;   /* bits by their own row: in A and B already */
    struct operands side_a; /* also those results that A takes */
    struct operands side_b;
    uint64_t state;
    uint32_t quota[GADGETS], done[GADGETS];
    uint32_t inputs, word_bits, public_bits;
    uint32_t results, outputs, for_a,
        for_b; /* gadgets' outputs: made, to be made; of which A, B take how many */
    uint32_t minus_two, two, four;
    uint32_t power[WORD_MAX], scaled[WORD_MAX],
        minus_scaled[WORD_MAX]; /* 2^i, +-2^(i - word_bits) */
};

static void term(struct bits *bits, enum side side, uint32_t wire, uint32_t coefficient)
{
    circuit_add_term(bits->circuit, side, wire, coefficient);
}

static uint32_t take_one(struct bits *bits, struct operands *from)
{
    uint32_t wire = 0;
    operands_take(from, &wire, 1, &bits->state);
    return wire;
}

/* A new gadget's output; some are for A, some for B, most for neither, and none of the last: who
 * would take them? */
static uint32_t result_new(struct bits *bits)
{
    uint32_t wire = circuit_add_wire(bits->circuit), i = bits->results++;
    if (i + UNFLAGGED_TAIL >= bits->outputs)
        return wire;
    if (share_falls_on(i, bits->for_a, bits->outputs))
        operands_add(&bits->side_a, wire);
    if (share_falls_on(i + bits->outputs / 2, bits->for_b, bits->outputs))
        operands_add(&bits->side_b, wire);
    return wire;
}

static void bit_check(struct bits *bits, uint32_t wire)
{
    term(bits, SIDE_A, wire, COEFFICIENT_ONE);
    term(bits, SIDE_A, 0, COEFFICIENT_MINUS_ONE);
    term(bits, SIDE_B, wire, COEFFICIENT_ONE);
    circuit_close_row(bits->circuit, ROW_CHECK);
    operands_add_used(&bits->both, wire);
    operands_add_used(&bits->side_a, wire);
    operands_add_used(&bits->side_b, wire);
}

/* m = b c, two different bits; b from A's list, c from those on both sides. */
static void middle(struct bits *bits, uint32_t *b, uint32_t *c, uint32_t *m)
{
    *b = take_one(bits, &bits->side_a);
    do
        *c = take_one(bits, &bits->both);
    while (*c == *b);
    *m = circuit_add_wire(bits->circuit);
    term(bits, SIDE_A, *b, COEFFICIENT_ONE);
    term(bits, SIDE_B, *c, COEFFICIENT_ONE);
    term(bits, SIDE_C, *m, COEFFICIENT_ONE);
    circuit_close_row(bits->circuit, ROW_PRODUCT);
}

static void gadget_xor(struct bits *bits)
{
    uint32_t b, c, m;
    middle(bits, &b, &c, &m);
    term(bits, SIDE_A, 0, COEFFICIENT_ONE);
    term(bits, SIDE_A, b, bits->minus_two);
    term(bits, SIDE_A, c, bits->minus_two);
    term(bits, SIDE_A, m, bits->four);
    term(bits, SIDE_B, take_one(bits, &bits->side_b), COEFFICIENT_ONE);
    term(bits, SIDE_C, result_new(bits), COEFFICIENT_ONE);
    term(bits, SIDE_C, b, COEFFICIENT_MINUS_ONE);
    term(bits, SIDE_C, c, COEFFICIENT_MINUS_ONE);
    term(bits, SIDE_C, m, bits->two);
    circuit_close_row(bits->circuit, ROW_PRODUCT);
}

static void gadget_majority(struct bits *bits)
{
    uint32_t b, c, m;
    middle(bits, &b, &c, &m);
    term(bits, SIDE_A, b, COEFFICIENT_ONE);
    term(bits, SIDE_A, c, COEFFICIENT_ONE);
    term(bits, SIDE_A, m, bits->minus_two);
    term(bits, SIDE_B, take_one(bits, &bits->side_b), COEFFICIENT_ONE);
    term(bits, SIDE_C, result_new(bits), COEFFICIENT_ONE);
    term(bits, SIDE_C, m, COEFFICIENT_MINUS_ONE);
    circuit_close_row(bits->circuit, ROW_PRODUCT);
}

static void gadget_choice(struct bits *bits)
{
    uint32_t xy[2] = {0, 0};
    operands_take(&bits->side_a, xy, 2, &bits->state);
    term(bits, SIDE_A, xy[0], COEFFICIENT_ONE);
    term(bits, SIDE_A, xy[1], COEFFICIENT_MINUS_ONE);
    term(bits, SIDE_B, take_one(bits, &bits->side_b), COEFFICIENT_ONE);
    term(bits, SIDE_C, result_new(bits), COEFFICIENT_ONE);
    term(bits, SIDE_C, xy[1], COEFFICIENT_MINUS_ONE);
    circuit_close_row(bits->circuit, ROW_PRODUCT);
}

/* The row of the carry makes the bits of Z; then each of them is checked. */
static void gadget_adder(struct bits *bits)
{
    uint32_t width = bits->word_bits, wire[3 * WORD_MAX];
    operands_take(&bits->both, wire, 2 * (size_t)width, &bits->state);
    for (uint32_t i = 2 * width; i < 3 * width; i++)
        wire[i] = circuit_add_wire(bits->circuit);
    for (uint32_t i = 0; i < 3 * width; i++) {
        uint32_t power = (i < 2 * width ? bits->scaled : bits->minus_scaled)[i % width];
        term(bits, SIDE_A, wire[i], power);
        term(bits, SIDE_B, wire[i], power);
    }
    term(bits, SIDE_A, 0, COEFFICIENT_MINUS_ONE);
    circuit_close_row(bits->circuit, ROW_ADDER);
    for (uint32_t i = 2 * width; i < 3 * width; i++)
        bit_check(bits, wire[i]);
}

static void public_pack(struct bits *bits, uint32_t wire)
{
    uint32_t bit[WORD_MAX];
    size_t count = operands_take(&bits->side_a, bit, bits->public_bits, &bits->state);
    for (size_t i = 0; i < count; i++)
        term(bits, SIDE_A, bit[i], bits->power[i]);
    term(bits, SIDE_B, 0, COEFFICIENT_ONE);
    term(bits, SIDE_C, wire, COEFFICIENT_ONE);
    circuit_close_row(bits->circuit, ROW_PRODUCT);
}

/* ---- how many of what ---- */

static uint32_t share(uint64_t rows, uint64_t part)
{
    return (uint32_t)share_of(rows, part, SHARES_WHOLE);
}

/* Two adders at least, with words as wide as B needs: 13,408 terms more than rows, 3w - 1 an adder.
 */
static void plan_adders(struct bits *bits, uint64_t rows)
{
    uint32_t adders = share(rows, 141), more = share(rows, 13408);
    adders = adders < 2 ? 2 : adders;
    bits->quota[GADGET_ADDER] = adders;
    bits->word_bits = (more + 2 * adders) / (3 * adders);
    bits->word_bits = bits->word_bits < 1 ? 1 : bits->word_bits;
}

static void plan_make(struct bits *bits, uint64_t rows)
{
    plan_adders(bits, rows);
    uint32_t z = bits->quota[GADGET_ADDER] * bits->word_bits, checked = share(rows, 10000);
    bits->inputs = checked > z + 2 * bits->word_bits ? checked - z : 2 * bits->word_bits;
    bits->inputs = bits->inputs < 4 ? 4 : bits->inputs;
    checked = bits->inputs + z;
    bits->quota[GADGET_XOR] = share(rows, 6361);
    bits->quota[GADGET_MAJORITY] = share(rows, 1952);
    uint32_t others = checked + bits->quota[GADGET_ADDER] + 2 * bits->quota[GADGET_MAJORITY];
    while (others + 2 * bits->quota[GADGET_XOR] > rows)
        bits->quota[GADGET_XOR]--;
    bits->quota[GADGET_CHOICE] = (uint32_t)rows - others - 2 * bits->quota[GADGET_XOR];
    uint32_t middles = bits->quota[GADGET_XOR] + bits->quota[GADGET_MAJORITY];
    uint32_t wires = 1 + PUBLICS + checked + 2 * middles + bits->quota[GADGET_CHOICE];
    bits->outputs = middles + bits->quota[GADGET_CHOICE];
    /* of 29,854 wires, 19,209 are in A and 10,896 in B */
    uint64_t in_a = (uint64_t)wires * 19209 / 29854, in_b = (uint64_t)wires * 10896 / 29854;
    uint32_t in_a_anyway = 1 + PUBLICS + checked + middles;
    bits->for_a = in_a > in_a_anyway ? (uint32_t)in_a - in_a_anyway : 0;
    bits->for_b = in_b > checked + 1 ? (uint32_t)in_b - checked - 1 : 0;
    uint64_t width = rows / 60;
    bits->public_bits = width < 4 ? 4 : width > WORD_MAX ? WORD_MAX : (uint32_t)width;
}

static void coefficients_make(struct bits *bits)
{
    struct circuit *circuit = bits->circuit;
    const struct curve *curve = circuit->curve;
    struct scalar two = scalar_from(curve, 2), power = scalar_from(curve, 1);
    struct scalar scaled = scalar_pow_small(curve, &two, bits->word_bits);
    scaled = scalar_inverse(curve, &scaled);
    bits->two = circuit_add_coefficient(circuit, two);
    bits->minus_two = circuit_add_coefficient(circuit, scalar_neg(curve, &two));
    bits->four = circuit_add_coefficient(circuit, scalar_from(curve, 4));
    for (uint32_t i = 0; i < WORD_MAX; i++) {
        bits->power[i] = circuit_add_coefficient(circuit, power);
        bits->scaled[i] = circuit_add_coefficient(circuit, scaled);
        bits->minus_scaled[i] = circuit_add_coefficient(circuit, scalar_neg(curve, &scaled));
        power = scalar_mul(curve, &power, &two);
        scaled = scalar_mul(curve, &scaled, &two);
    }
}

/* The gadget that is furthest behind its quota, after `step` of `steps`. */
static enum gadget gadget_next(const struct bits *bits, uint64_t step, uint64_t steps)
{
    int64_t most = INT64_MIN;
    int best = 0;
    for (int i = 0; i < GADGETS; i++) {
        int64_t due = (int64_t)((step + 1) * bits->quota[i]);
        int64_t behind = due - (int64_t)(steps * bits->done[i]);
        if (bits->done[i] < bits->quota[i] && behind > most) {
            most = behind;
            best = i;
        }
    }
    return (enum gadget)best;
}

static void gadgets_make(struct bits *bits)
{
    static void (*const make[GADGETS])(struct bits *) = {gadget_xor, gadget_majority, gadget_choice,
                                                         gadget_adder};
    uint64_t steps = 0;
    for (int i = 0; i < GADGETS; i++)
        steps += bits->quota[i];
    for (uint64_t step = 0; step < steps; step++) {
        enum gadget gadget = gadget_next(bits, step, steps);
        make[gadget](bits);
        bits->done[gadget]++;
    }
}

void profile_bits_make(struct circuit *circuit, const struct curve *curve, unsigned log2,
                       uint64_t seed)
{
    struct bits bits = {.circuit = circuit, .state = seed};
    uint32_t rows = profile_rows(log2, 30165);
    circuit_init(circuit, curve, PUBLICS);
    plan_make(&bits, rows - PUBLICS);
    coefficients_make(&bits);
    circuit->input_first = circuit->wires;
    circuit->input_count = bits.inputs;
    circuit->inputs_are_bits = 1;
    for (uint32_t i = 0; i < bits.inputs; i++)
        bit_check(&bits, circuit_add_wire(circuit));
    gadgets_make(&bits);
    for (uint32_t i = 1; i <= PUBLICS; i++)
        public_pack(&bits, i);
    free(bits.both.wire);
    free(bits.side_a.wire);
    free(bits.side_b.wire);
}
