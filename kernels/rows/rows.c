/*
 * Row sums (rows.h). Called by synth-workers filling slabs, and by devices that evaluate rows
 * themselves.
 */
#include <string.h>

#include "kernels/rows/rows.h"
#include "kernels/field/fields.h"
#include "kernels/sparse_matrix.h"

/* A row so far: of products, plain, and of the values that meet a witness of 1, Montgomery. */
struct sums {
    struct fr products, values;
};

static inline int words_are(const struct fr *x, uint64_t small)
{
    return x->word[0] == small && (x->word[1] | x->word[2] | x->word[3]) == 0;
}

static void add_product(struct sums *sums, const uint64_t *value_words, const struct fr *w)
{
    struct fr value;
    memcpy(&value, value_words, sizeof(value));
    if (words_are(w, 1)) {
        fr_add(&sums->values, &sums->values, &value);
        return;
    }
    fr_mul(&value, &value, w);
    fr_add(&sums->products, &sums->products, &value);
}

static inline void add_entry(struct sums *sums, const struct sparse_matrix *matrix, uint32_t entry,
                             const uint64_t *witness)
{
    struct fr w;
    memcpy(&w, witness + (size_t)FR_WORDS * matrix->wire[entry], sizeof(w));
    if (words_are(&w, 0))
        return;
    uint32_t number = matrix_value_number(matrix, entry);
    if (!matrix->index_bytes || number > SPARSE_MINUS_ONE)
        add_product(sums, matrix->value[number], &w);
    else if (number == SPARSE_ONE)
        fr_add(&sums->products, &sums->products, &w);
    else
        fr_sub(&sums->products, &sums->products, &w);
}

static void row_evaluate(struct fr *out, const struct sparse_matrix *matrix,
                         const uint64_t *witness, size_t row)
{
    struct sums sums = {fr_zero, fr_zero};
    for (uint32_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
        add_entry(&sums, matrix, i, witness);
    if (words_are(&sums.products, 1))
        sums.products = fr_one;
    else if (!fr_is_zero(&sums.products))
        fr_to_montgomery(&sums.products, &sums.products);
    fr_add(out, &sums.products, &sums.values);
}

void CURVE_FN(rows_evaluate)(uint64_t *out, const struct sparse_matrix *matrix,
                             const uint64_t *witness, size_t begin, size_t end)
{
    for (size_t row = begin; row < end; row++, out += FR_WORDS) {
        struct fr value = fr_zero;
        if (row < matrix->rows)
            row_evaluate(&value, matrix, witness, row);
        memcpy(out, &value, sizeof(value));
    }
}
