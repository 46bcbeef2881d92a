/*
 * Section 4 to sparse matrices by counting sort: one pass checks and counts, one pass places.
 * Called by image_build.c on bytes in memory, so that both passes see the same. A SIGKILL leaves
 * nothing but the caller's buffers.
 */
#include "synth-worker/coefficients.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernels/curves.h"
#include "shm/image.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/zkey.h"

#define VALUE_BYTES (FR_WORDS * sizeof(uint64_t))

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

/* An empty dictionary but for 1 and -1 as the key has them, v * R^2. */
static int open_values(struct dictionary *values, const struct zkey *zkey)
{
    uint64_t one[FR_WORDS] = {1}, minus_one[FR_WORDS];
    uint32_t number;
    memcpy(minus_one, zkey->curve->fr_modulus, sizeof minus_one);
    minus_one[0]--;
    int status = dictionary_open(values, zkey->coefficient_count / 2 + 2);
    for (unsigned i = 0; i < 2 && !status; i++) {
        uint64_t *value = i == SPARSE_ONE ? one : minus_one;
        zkey->curve->fr_to_montgomery(value, value);
        zkey->curve->fr_to_montgomery(value, value);
        status = dictionary_add(values, value, &number);
    }
    return status;
}

/* A dictionary that is full is closed: there are too many values for it to be of use. */
static int count_record(struct coefficient_counts *counts, const struct record *record)
{
    struct dictionary *values = &counts->values[record->matrix];
    uint32_t *rows = &counts->rows[record->matrix], number;
    if (record->row >= *rows)
        *rows = record->row + 1;
    counts->entries[record->matrix]++;
    int status = values->limit ? dictionary_add(values, record->value, &number) : 0;
    if (status != -ENOSPC)
        return status;
    dictionary_close(values);
    return 0;
}

/* Numbers are worth it where they and the distinct values take less than a value for each entry. */
static void choose_index(struct coefficient_counts *counts, unsigned matrix)
{
    uint64_t values = counts->values[matrix].count, entries = counts->entries[matrix];
    uint32_t width = image_index_bytes(values);
    if (values && entries * width + values * VALUE_BYTES < entries * VALUE_BYTES)
        counts->index_bytes[matrix] = width;
}

static int count_records(const struct zkey *zkey, struct coefficient_counts *counts,
                         struct complaint *complaint)
{
    int status = open_values(&counts->values[0], zkey);
    if (!status)
        status = open_values(&counts->values[1], zkey);
    for (uint32_t i = 0; i < zkey->coefficient_count && !status; i++) {
        struct record record;
        read_record(&record, zkey, i);
        status = check_record(zkey, &record, i, complaint);
        if (status)
            return status;
        status = count_record(counts, &record);
    }
    if (status)
        return complain_system(complaint, EXIT_MACHINE, -status,
                               "%.700s: cannot count the distinct coefficients",
                               zkey->file.source.name);
    return 0;
}

int coefficients_count(const struct zkey *zkey, struct coefficient_counts *counts,
                       struct complaint *complaint)
{
    *counts = (struct coefficient_counts){0};
    int status = count_records(zkey, counts, complaint);
    for (unsigned m = 0; m < 2 && !status; m++)
        choose_index(counts, m);
    return status;
}

void coefficients_free(struct coefficient_counts *counts)
{
    for (unsigned m = 0; m < 2; m++)
        dictionary_close(&counts->values[m]);
}

uint32_t coefficients_values(const struct coefficient_counts *counts, unsigned matrix)
{
    return counts->index_bytes[matrix] ? counts->values[matrix].count : counts->entries[matrix];
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

/* The number of the record's value; it was counted, so it is there. */
static void place_number(struct dictionary *values, const struct coefficient_matrix *to,
                         uint32_t width, uint32_t place, const struct record *record)
{
    uint32_t number = 0;
    int status = dictionary_add(values, record->value, &number);
    assert(!status);
    if (width == 1)
        ((uint8_t *)to->index)[place] = (uint8_t)number;
    else if (width == 2)
        ((uint16_t *)to->index)[place] = (uint16_t)number;
    else
        ((uint32_t *)to->index)[place] = number;
}

static void place_distinct(const struct curve *curve, const struct dictionary *values,
                           const struct coefficient_matrix *to)
{
    for (uint32_t i = 0; i < values->count; i++)
        curve->fr_from_montgomery(to->value[i], values->value[i]);
}

void coefficients_place(const struct zkey *zkey, struct coefficient_counts *counts,
                        struct coefficient_matrix matrix[2])
{
    start_rows(zkey, counts, matrix);
    for (uint32_t i = 0; i < zkey->coefficient_count; i++) {
        struct record record;
        read_record(&record, zkey, i);
        struct coefficient_matrix *to = &matrix[record.matrix];
        uint32_t place = to->row_start[record.row]++, width = counts->index_bytes[record.matrix];
        to->wire[place] = record.signal;
        if (width)
            place_number(&counts->values[record.matrix], to, width, place, &record);
        else
            zkey->curve->fr_from_montgomery(to->value[place], record.value);
    }
    restore_rows(counts, matrix);
    for (unsigned m = 0; m < 2; m++)
        if (counts->index_bytes[m])
            place_distinct(zkey->curve, &counts->values[m], &matrix[m]);
}
