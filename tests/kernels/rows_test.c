/*
 * Row sums against sums made one product at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/scalars.h"

enum { WIRES = 40, ROWS = 60, LONG_ROW = 17, LONG = 300, PAST_ROWS = 5 };
enum { ENTRIES_MAX = ROWS * 8 + LONG, VALUES = 9 };

struct instance {
    struct scalar witness[WIRES]; /* plain */
    uint32_t row_start[ROWS + 1], wire[ENTRIES_MAX];
    uint64_t value[ENTRIES_MAX][FR_WORDS]; /* of each entry */
    uint64_t distinct[VALUES][FR_WORDS];   /* 1, -1, then others */
    uint32_t number[ENTRIES_MAX];          /* which of them an entry has */
    unsigned char index[4 * ENTRIES_MAX];  /* the same, as wide as asked for */
    struct sparse_matrix matrix;           /* with a value for each entry */
};

static struct scalar largest(const struct curve *curve)
{
    struct scalar out;
    memcpy(&out, curve->fr_modulus, sizeof(out));
    out.word[0]--;
    return out;
}

static void instance_fill_values(struct instance *x, const struct curve *curve, uint64_t *state)
{
    struct scalar one = scalar_from(curve, 1), minus_one = largest(curve);
    curve->fr_to_montgomery(minus_one.word, minus_one.word);
    for (size_t i = 0; i < VALUES; i++) {
        struct scalar value = scalar_random(curve, state);
        value = i == SPARSE_ONE ? one : i == SPARSE_MINUS_ONE ? minus_one : value;
        value = i == VALUES - 1 ? largest(curve) : value;
        memcpy(x->distinct[i], &value, sizeof(value));
    }
}

/* Rows of 0 to 7 entries, but for a long one; of the witness a quarter is zero, one, r - 1. */
static void instance_fill(struct instance *x, const struct curve *curve)
{
    uint64_t state = curve->id, entries = 0;
    instance_fill_values(x, curve, &state);
    for (size_t i = 0; i < WIRES; i++)
        x->witness[i] = i % 4 < 2    ? (struct scalar){{i % 4}}
                        : i % 4 == 2 ? largest(curve)
                                     : scalar_random(curve, &state);
    for (size_t row = 0; row < ROWS; row++) {
        x->row_start[row] = (uint32_t)entries;
        for (size_t i = 0; i < (row == LONG_ROW ? LONG : row % 8); i++, entries++) {
            x->wire[entries] = (uint32_t)(random_next(&state) % WIRES);
            x->number[entries] = (uint32_t)(random_next(&state) % VALUES);
            memcpy(x->value[entries], x->distinct[x->number[entries]], sizeof(x->value[0]));
        }
    }
    x->row_start[ROWS] = (uint32_t)entries;
    x->matrix = (struct sparse_matrix){
        .rows = ROWS, .row_start = x->row_start, .wire = x->wire, .value = x->value};
}

/* The same matrix with each value once. */
static struct sparse_matrix instance_indexed(struct instance *x, uint32_t index_bytes)
{
    for (uint32_t i = 0; i < x->row_start[ROWS]; i++)
        memcpy(x->index + i * index_bytes, &x->number[i], index_bytes);
    return (struct sparse_matrix){.rows = ROWS,
                                  .row_start = x->row_start,
                                  .wire = x->wire,
                                  .value = x->distinct,
                                  .index = x->index,
                                  .index_bytes = index_bytes};
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

static void expect_rows(const struct instance *x, const struct sparse_matrix *matrix,
                        const struct curve *curve)
{
    struct scalar out[ROWS + PAST_ROWS], zero = {{0}};
    curve->rows_evaluate(out[0].word, matrix, x->witness->word, 0, ROWS + PAST_ROWS);
    for (size_t row = 0; row < ROWS + PAST_ROWS; row++) {
        struct scalar want = row < ROWS ? row_slowly(x, curve, row) : zero;
        assert_true(scalar_equal(&out[row], &want));
    }
}

static void check_form(const struct curve *curve)
{
    static struct instance x;
    if (!curve)
        return;
    instance_fill(&x, curve);
    expect_rows(&x, &x.matrix, curve);
    for (uint32_t index_bytes = 1; index_bytes <= 4; index_bytes *= 2) {
        struct sparse_matrix matrix = instance_indexed(&x, index_bytes);
        expect_rows(&x, &matrix, curve);
    }
}

/* Every form against the definition, hence against the others, bit by bit. */
static void rows_match_definition(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++)
        for (int form = 0; form < FORM_COUNT; form++)
            check_form(curve_in_form(id, form));
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
