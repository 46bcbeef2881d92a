/*
 * Row sums against sums made one product at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/scalars.h"

enum { WIRES = 40, ROWS = 60, ENTRIES_MAX = ROWS * 8, PAST_ROWS = 5 };

struct instance {
    struct scalar witness[WIRES]; /* plain */
    uint32_t row_start[ROWS + 1], wire[ENTRIES_MAX];
    uint64_t value[ENTRIES_MAX][FR_WORDS];
    struct sparse_matrix matrix;
};

/* Rows of 0 to 7 entries; a third of the witness is zero, a third one. */
static void instance_fill(struct instance *x, const struct curve *curve)
{
    uint64_t state = curve->id, entries = 0;
    for (size_t i = 0; i < WIRES; i++)
        x->witness[i] = i % 3 < 2 ? (struct scalar){{i % 3}} : scalar_random(curve, &state);
    for (size_t row = 0; row < ROWS; row++) {
        x->row_start[row] = (uint32_t)entries;
        for (size_t i = 0; i < row % 8; i++, entries++) {
            struct scalar value = scalar_random(curve, &state);
            x->wire[entries] = (uint32_t)(random_next(&state) % WIRES);
            memcpy(x->value[entries], &value, sizeof(value));
        }
    }
    x->row_start[ROWS] = (uint32_t)entries;
    x->matrix = (struct sparse_matrix){
        .rows = ROWS, .row_start = x->row_start, .wire = x->wire, .value = x->value};
}

static struct scalar row_slowly(const struct instance *x, const struct curve *curve, size_t row)
{
    struct scalar sum = {{0}};
    for (uint32_t i = x->row_start[row]; i < x->row_start[row + 1]; i++) {
        struct scalar value, w = x->witness[x->wire[i]];
        memcpy(&value, x->value[i], sizeof(value));
        curve->fr_to_montgomery(w.word, w.word);
        w = scalar_mul(curve, &w, &value);
        sum = scalar_add(curve, &sum, &w);
    }
    return sum;
}

static void rows_match_definition(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        const struct curve *curve = curve_by_id(id);
        struct scalar out[ROWS + PAST_ROWS], zero = {{0}};
        struct instance x;
        instance_fill(&x, curve);
        curve->rows_evaluate(out[0].word, &x.matrix, x.witness->word, 0, ROWS + PAST_ROWS);
        for (size_t row = 0; row < ROWS + PAST_ROWS; row++) {
            struct scalar want = row < ROWS ? row_slowly(&x, curve, row) : zero;
            assert_true(scalar_equal(&out[row], &want));
        }
    }
}

static void rows_of_a_range(void **state)
{
    (void)state;
    const struct curve *curve = curve_by_id(CURVE_BN254);
    struct scalar out[12];
    struct instance x;
    instance_fill(&x, curve);
    memset(out, 0xa5, sizeof(out));
    curve->rows_evaluate(out[1].word, &x.matrix, x.witness->word, 20, 30);
    for (size_t i = 0; i < 10; i++) {
        struct scalar want = row_slowly(&x, curve, 20 + i);
        assert_true(scalar_equal(&out[1 + i], &want));
    }
    assert_int_equal(out[0].word[3], 0xa5a5a5a5a5a5a5a5);
    assert_int_equal(out[11].word[0], 0xa5a5a5a5a5a5a5a5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_definition),
        cmocka_unit_test(rows_of_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
