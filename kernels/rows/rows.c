/*
 * Row sums (rows.h). Called by synth-workers filling slabs, and by devices that evaluate rows
 * themselves.
 */
#include <string.h>

#include "kernels/rows/rows.h"
#include "kernels/curves.h"
#include "kernels/field/fields.h"

static inline int words_are(const struct fr *x, uint64_t small)
{
    return x->word[0] == small && (x->word[1] | x->word[2] | x->word[3]) == 0;
}

/* Two sums: of products, plain, and of the values that meet a witness of 1, Montgomery. */
static void row_evaluate(struct fr *out, const struct sparse_matrix *matrix,
                         const uint64_t *witness, size_t row)
{
    struct fr products = fr_zero, values = fr_zero, value, w;
    for (uint32_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
        memcpy(&w, witness + (size_t)FR_WORDS * matrix->wire[i], sizeof(w));
        if (words_are(&w, 0))
            continue;
        memcpy(&value, matrix->value[i], sizeof(value));
        if (words_are(&w, 1)) {
            fr_add(&values, &values, &value);
            continue;
        }
        fr_mul(&value, &value, &w);
        fr_add(&products, &products, &value);
    }
    if (!fr_is_zero(&products))
        fr_to_montgomery(&products, &products);
    fr_add(out, &products, &values);
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
