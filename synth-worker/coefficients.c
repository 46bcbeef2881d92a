/*
 * Section 4 to sparse matrices by counting sort: one pass checks and counts, one pass places.
 * Called by image_build.c on bytes in memory, so that both passes see the same. A SIGKILL leaves
 * nothing but the caller's buffers.
 */
#include "synth-worker/coefficients.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "synth-worker/complaint.h"
#include "synth-worker/zkey.h"

struct record {
    uint32_t matrix, row, signal;
    uint64_t value[FR_WORDS];
};

static void read_record(struct record *record, const struct zkey *zkey, uint32_t index)
{
    const uint8_t *at = zkey->file.source.bytes + zkey->file.section[ZKEY_COEFFICIENTS].offset + 4 +
                        (uint64_t)index * ZKEY_COEFFICIENT_BYTES;
    record->matrix = binfile_u32(at);
    record->row = binfile_u32(at + 4);
    record->signal = binfile_u32(at + 8);
    memcpy(record->value, at + 12, sizeof record->value);
}

static int refuse(const struct zkey *zkey, uint32_t index, const char *what, uint32_t value,
                  uint64_t limit, struct complaint *complaint)
{
    return complain_input(complaint,
                          "%.700s: section 4: coefficient %" PRIu32 ": %s %" PRIu32
                          " is not below %" PRIu64,
                          zkey->file.source.name, index, what, value, limit);
}

static int check_record(const struct zkey *zkey, const struct record *record, uint32_t index,
                        struct complaint *complaint)
{
    uint64_t domain = UINT64_C(1) << zkey->log2_domain;
    if (record->matrix > 1)
        return refuse(zkey, index, "matrix", record->matrix, 2, complaint);
    if (record->row >= domain)
        return refuse(zkey, index, "row", record->row, domain, complaint);
    if (record->signal >= zkey->wires)
        return refuse(zkey, index, "signal", record->signal, zkey->wires, complaint);
    if (!zkey->curve->fr_is_canonical(record->value))
        return complain_input(complaint,
                              "%.700s: section 4: coefficient %" PRIu32
                              ": the value is not below the prime r",
                              zkey->file.source.name, index);
    return 0;
}

int coefficients_count(const struct zkey *zkey, struct coefficient_counts *counts,
                       struct complaint *complaint)
{
    *counts = (struct coefficient_counts){0};
    for (uint32_t i = 0; i < zkey->coefficient_count; i++) {
        struct record record;
        read_record(&record, zkey, i);
        int status = check_record(zkey, &record, i, complaint);
        if (status)
            return status;
        uint32_t *rows = &counts->rows[record.matrix];
        if (record.row >= *rows)
            *rows = record.row + 1;
        counts->entries[record.matrix]++;
    }
    return 0;
}

/* row_start[i] becomes the number of records in the rows before row i. */
static void start_rows(const struct zkey *zkey, const struct coefficient_counts *counts,
                       struct coefficient_matrix matrix[2])
{
    for (unsigned m = 0; m < 2; m++)
        memset(matrix[m].row_start, 0, ((size_t)counts->rows[m] + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < zkey->coefficient_count; i++) {
        struct record record;
        read_record(&record, zkey, i);
        matrix[record.matrix].row_start[record.row + 1]++;
    }
    for (unsigned m = 0; m < 2; m++)
        for (uint32_t row = 0; row < counts->rows[m]; row++)
            matrix[m].row_start[row + 1] += matrix[m].row_start[row];
}

/* Placing moved every start to its row's end, which is the next row's start. */
static void restore_rows(const struct coefficient_counts *counts,
                         struct coefficient_matrix matrix[2])
{
    for (unsigned m = 0; m < 2; m++) {
        uint32_t *start = matrix[m].row_start;
        memmove(start + 1, start, counts->rows[m] * sizeof *start);
        start[0] = 0;
    }
}

void coefficients_place(const struct zkey *zkey, const struct coefficient_counts *counts,
                        struct coefficient_matrix matrix[2])
{
    start_rows(zkey, counts, matrix);
    for (uint32_t i = 0; i < zkey->coefficient_count; i++) {
        struct record record;
        read_record(&record, zkey, i);
        struct coefficient_matrix *to = &matrix[record.matrix];
        uint32_t place = to->row_start[record.row]++;
        to->wire[place] = record.signal;
        zkey->curve->fr_from_montgomery(to->value[place], record.value);
    }
    restore_rows(counts, matrix);
}
