/*
 * Row sums (rows.h), eight rows in the lanes of AVX-512. Called as rows.c is. Pure; a SIGKILL
 * leaves nothing but the caller's buffer.
 *
 * Each step takes the next entry of every row: a row that has ended multiplies zero. Products are
 * summed up in full, ten columns of 52 bits, and reduced once a row: a value is v 2^256, a witness
 * word plain, so the Montgomery reduction by 2^260 leaves v w / 2^4, and one product with 2^520
 * gives v w 2^256. A column gets ten halves of 52 bits an entry, so a part of PART_ENTRIES stays
 * far below 64 bits, and below 5p once reduced. No value or witness is special: skipping 0 and 1
 * would cost more than the product does.
 */
#include <string.h>

#include "kernels/field/vector_ifma.h"
#include "kernels/sparse_matrix.h"
#include "kernels/rows/rows.h"

enum { LANES = 8, LIMBS = 5, PART_ENTRIES = 128 };

static const uint64_t nothing[FR_WORDS];

struct eight {
    const struct sparse_matrix *matrix;
    const uint64_t *witness;
    uint32_t at[LANES], end[LANES]; /* entries of each row still to be added */
};

struct columns {
    __m512i sum[2 * LIMBS];
};

VECTOR_INLINE void add_product(struct columns *t, const struct fr_x8 *a, const struct fr_x8 *b)
{
    VECTOR_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        VECTOR_UNROLL
        for (int j = 0; j < LIMBS; j++) {
            t->sum[i + j] = vector_low(t->sum[i + j], a->limb[i], b->limb[j]);
            t->sum[i + j + 1] = vector_high(t->sum[i + j + 1], a->limb[i], b->limb[j]);
        }
    }
}

/* out = t / 2^260 mod p, below 5p */
static void columns_reduce(struct fr_x8 *out, struct columns *t)
{
    const __m512i inverse = _mm512_set1_epi64(FR_NEGATIVE_INVERSE & VECTOR_MASK52);
    VECTOR_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        const __m512i m = vector_low(_mm512_setzero_si512(), t->sum[i], inverse);
        VECTOR_UNROLL
        for (int j = 0; j < LIMBS; j++) {
            const __m512i p = _mm512_set1_epi64((long long)fr_modulus_52[j]);
            t->sum[i + j] = vector_low(t->sum[i + j], m, p);
            t->sum[i + j + 1] = vector_high(t->sum[i + j + 1], m, p);
        }
        t->sum[i + 1] = _mm512_add_epi64(t->sum[i + 1], _mm512_srli_epi64(t->sum[i], 52));
    }
    VECTOR_UNROLL
    for (int i = 0; i < LIMBS; i++)
        out->limb[i] = t->sum[LIMBS + i];
    fr_x8_normalize(out);
}

static void add_entries(struct columns *t, struct eight *rows)
{
    const struct sparse_matrix *matrix = rows->matrix;
    const void *wire[LANES], *value[LANES];
    struct fr_x8 w, v;
    for (int i = 0; i < LANES; i++) {
        wire[i] = value[i] = nothing;
        if (rows->at[i] == rows->end[i])
            continue;
        const uint32_t entry = rows->at[i]++;
        wire[i] = rows->witness + (size_t)FR_WORDS * matrix->wire[entry];
        value[i] = matrix->value[matrix_value_number(matrix, entry)];
    }
    fr_x8_load_plain(&w, wire);
    fr_x8_load_plain(&v, value);
    add_product(t, &w, &v);
}

static uint32_t longest(const struct eight *rows)
{
    uint32_t most = 0;
    for (int i = 0; i < LANES; i++)
        most = rows->end[i] - rows->at[i] > most ? rows->end[i] - rows->at[i] : most;
    return most;
}

static void eight_evaluate(struct fr_x8 *out, struct eight *rows)
{
    fr_x8_zero(out);
    for (uint32_t left = longest(rows); left;) {
        const uint32_t part = left < PART_ENTRIES ? left : PART_ENTRIES;
        struct columns t;
        struct fr_x8 sum;
        memset(&t, 0, sizeof(t));
        for (uint32_t i = 0; i < part; i++)
            add_entries(&t, rows);
        columns_reduce(&sum, &t);
        fr_x8_add(out, out, &sum);
        fr_x8_reduce(out, out);
        left -= part;
    }
    fr_x8_to_montgomery(out, out);
    fr_x8_canonical(out, out);
}

static void eight_begin(struct eight *rows, size_t row, size_t end)
{
    for (size_t i = 0; i < LANES; i++) {
        const int there = row + i < end && row + i < rows->matrix->rows;
        rows->at[i] = there ? rows->matrix->row_start[row + i] : 0;
        rows->end[i] = there ? rows->matrix->row_start[row + i + 1] : 0;
    }
}

void CURVE_FN(rows_evaluate)(uint64_t *out, const struct sparse_matrix *matrix,
                             const uint64_t *witness, size_t begin, size_t end)
{
    struct eight rows = {.matrix = matrix, .witness = witness};
    for (size_t row = begin; row < end; row += LANES) {
        uint64_t values[LANES][FR_WORDS];
        void *element[LANES];
        struct fr_x8 sum;
        const size_t count = end - row < LANES ? end - row : LANES;
        eight_begin(&rows, row, end);
        eight_evaluate(&sum, &rows);
        for (int i = 0; i < LANES; i++)
            element[i] = values[i];
        fr_x8_store_limbs(element, &sum);
        memcpy(out + FR_WORDS * (row - begin), values, count * sizeof(values[0]));
    }
}
