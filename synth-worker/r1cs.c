/*
 * Reads an r1cs and makes the matrix C of it. See r1cs.h.
 */
#include "synth-worker/r1cs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"
#include "shm/image.h"
#include "shm/program.h"
#include "synth-worker/coefficients.h"
#include "synth-worker/complaint.h"
#include "synth-worker/r1cs_read.h"
#include "synth-worker/zkey.h"

#define R1CS_VERSION 1u
#define VALUE_BYTES (FR_WORDS * sizeof(uint64_t))
#define HEADER_BYTES (4u + VALUE_BYTES + 16u + 8u + 4u)
#define TERM_BYTES (4u + VALUE_BYTES)

enum { SECTION_HEADER = 1, SECTION_CONSTRAINTS = 2 };

/* ---- one combination after the other ---- */

void r1cs_walk_begin(struct r1cs_walk *walk, const struct r1cs *r1cs)
{
    const struct binfile_section *section = &r1cs->file.section[SECTION_CONSTRAINTS];
    *walk = (struct r1cs_walk){.r1cs = r1cs, .at = r1cs->file.source.bytes + section->offset};
    walk->end = walk->at + section->length;
}

static int complain_cut(const struct r1cs_walk *walk, struct complaint *complaint)
{
    return complain_input(complaint,
                          "%.700s: section 2 ends within constraint %" PRIu32 " of %" PRIu32,
                          walk->r1cs->file.source.name, walk->row, walk->r1cs->constraints);
}

static int read_term(const struct r1cs_walk *walk, struct term *term, struct complaint *complaint)
{
    const struct r1cs *r1cs = walk->r1cs;
    term->wire = binfile_u32(walk->at);
    memcpy(term->value, walk->at + 4, sizeof term->value);
    if (term->wire >= r1cs->wires)
        return complain_input(
            complaint, "%.700s: constraint %" PRIu32 ": wire %" PRIu32 " is not below %" PRIu32,
            r1cs->file.source.name, walk->row, term->wire, r1cs->wires);
    if (!r1cs->curve->fr_is_canonical(term->value))
        return complain_input(complaint,
                              "%.700s: constraint %" PRIu32 ": the coefficient of wire %" PRIu32
                              " is not below the prime r",
                              r1cs->file.source.name, walk->row, term->wire);
    r1cs->curve->fr_to_montgomery(term->value, term->value);
    return 0;
}

int r1cs_walk_next(struct r1cs_walk *walk, struct complaint *complaint)
{
    if (walk->end - walk->at < 4)
        return complain_cut(walk, complaint);
    uint32_t count = binfile_u32(walk->at);
    walk->at += 4;
    if (count > (uint64_t)(walk->end - walk->at) / TERM_BYTES)
        return complain_cut(walk, complaint);
    int status = terms_open(&walk->terms, count);
    if (status)
        return complain_system(complaint, EXIT_MACHINE, -status,
                               "%.700s: no memory for %" PRIu32 " terms",
                               walk->r1cs->file.source.name, count);
    for (; walk->terms.count < count; walk->terms.count++, walk->at += TERM_BYTES) {
        status = read_term(walk, &walk->terms.term[walk->terms.count], complaint);
        if (status)
            return status;
    }
    walk->repeated = terms_merge(&walk->terms, walk->r1cs->curve);
    walk->side = (walk->side + 1) % R1CS_SIDES;
    walk->row += walk->side == R1CS_A;
    return 0;
}

/* ---- the header ---- */

static int check_section(const struct r1cs *r1cs, uint32_t id, struct complaint *complaint)
{
    const struct binfile_section *section = binfile_section(&r1cs->file, id, complaint);
    if (!section)
        return -EINVAL;
    if (section->count > 1)
        return complain_input(complaint, "%.700s: Section Duplicated %" PRIu32,
                              r1cs->file.source.name, id);
    return 0;
}

static int complain_other(const struct r1cs *r1cs, const char *what, uint64_t here, uint64_t key,
                          struct complaint *complaint)
{
    return complain_input(complaint,
                          "%.700s: has %" PRIu64 " %s, the key has %" PRIu64
                          ": it is of another circuit; give the r1cs that the key was made from",
                          r1cs->file.source.name, here, what, key);
}

static int take_header(struct r1cs *r1cs, const uint8_t *header, const struct zkey *zkey,
                       struct complaint *complaint)
{
    const char *name = r1cs->file.source.name;
    const uint8_t *counts = header + 4 + VALUE_BYTES;
    uint32_t wires = binfile_u32(counts);
    uint64_t publics = (uint64_t)binfile_u32(counts + 4) + binfile_u32(counts + 8);
    if (binfile_u32(header) != VALUE_BYTES ||
        memcmp(header + 4, zkey->curve->fr_modulus, VALUE_BYTES) != 0)
        return complain_input(complaint, "%.700s: section 1 names another prime than the key's",
                              name);
    if (wires != zkey->wires)
        return complain_other(r1cs, "wires", wires, zkey->wires, complaint);
    if (publics != zkey->public_count)
        return complain_other(r1cs, "public signals", publics, zkey->public_count, complaint);
    r1cs->curve = zkey->curve;
    r1cs->wires = wires;
    r1cs->public_count = zkey->public_count;
    r1cs->domain = UINT64_C(1) << zkey->log2_domain;
    r1cs->constraints = binfile_u32(counts + 24);
    if (r1cs->constraints + publics + 1 > r1cs->domain)
        return complain_input(complaint,
                              "%.700s: %" PRIu32 " constraints and %" PRIu64
                              " public signals do not fit the key's domain of %" PRIu64,
                              name, r1cs->constraints, publics, r1cs->domain);
    return 0;
}

static int read_header(struct r1cs *r1cs, const struct zkey *zkey, struct complaint *complaint)
{
    uint8_t header[HEADER_BYTES];
    int status = check_section(r1cs, SECTION_HEADER, complaint);
    if (!status)
        status = check_section(r1cs, SECTION_CONSTRAINTS, complaint);
    if (status)
        return status;
    const struct binfile_section *section = &r1cs->file.section[SECTION_HEADER];
    if (section->length != HEADER_BYTES)
        return complain_input(complaint,
                              "%.700s: section 1 has %" PRIu64 " bytes, %zu are called for",
                              r1cs->file.source.name, section->length, (size_t)HEADER_BYTES);
    status = binfile_read(&r1cs->file.source, section->offset, header, sizeof header, complaint);
    return status ? status : take_header(r1cs, header, zkey, complaint);
}

/* ---- C ---- */

/* No combination of C has more terms than fit into the section. */
static int open_c(struct r1cs *r1cs)
{
    uint64_t terms = r1cs->file.section[SECTION_CONSTRAINTS].length / TERM_BYTES;
    uint64_t one[FR_WORDS] = {1}, minus_one[FR_WORDS];
    uint32_t number;
    if (terms > UINT32_MAX - 2)
        return -EFBIG;
    r1cs->row_start = calloc((size_t)r1cs->constraints + 1, sizeof *r1cs->row_start);
    r1cs->wire = malloc((terms + 1) * sizeof *r1cs->wire);
    r1cs->number = malloc((terms + 1) * sizeof *r1cs->number);
    if (!r1cs->row_start || !r1cs->wire || !r1cs->number)
        return -ENOMEM;
    memcpy(minus_one, r1cs->curve->fr_modulus, sizeof minus_one);
    minus_one[0]--;
    r1cs->curve->fr_to_montgomery(one, one);
    r1cs->curve->fr_to_montgomery(minus_one, minus_one);
    int status = dictionary_open(&r1cs->values, (uint32_t)terms + 2);
    if (!status)
        status = dictionary_add(&r1cs->values, one, &number);
    return status ? status : dictionary_add(&r1cs->values, minus_one, &number);
}

static int keep_row(struct r1cs *r1cs, uint32_t row, const struct terms *terms)
{
    uint32_t entry = r1cs->row_start[row];
    for (uint32_t i = 0; i < terms->count; i++, entry++) {
        int status = dictionary_add(&r1cs->values, terms->term[i].value, &r1cs->number[entry]);
        if (status)
            return status;
        r1cs->wire[entry] = terms->term[i].wire;
    }
    r1cs->row_start[row + 1] = entry;
    return 0;
}

static int read_row(struct r1cs *r1cs, struct r1cs_walk *walk, struct complaint *complaint)
{
    uint32_t row = walk->row;
    for (unsigned side = 0; side < R1CS_SIDES; side++) {
        int status = r1cs_walk_next(walk, complaint);
        if (status)
            return status;
        r1cs->repeated += walk->repeated != 0;
    }
    int status = keep_row(r1cs, row, &walk->terms);
    return status ? complain_system(complaint, EXIT_MACHINE, -status,
                                    "%.700s: no memory for the constraints", r1cs->file.source.name)
                  : 0;
}

static int read_constraints(struct r1cs *r1cs, struct complaint *complaint)
{
    struct r1cs_walk walk;
    int status = open_c(r1cs);
    if (status)
        return complain_system(complaint, EXIT_MACHINE, -status,
                               "%.700s: no memory for the constraints", r1cs->file.source.name);
    r1cs_walk_begin(&walk, r1cs);
    while (walk.row < r1cs->constraints && !status)
        status = read_row(r1cs, &walk, complaint);
    if (!status && walk.at != walk.end)
        status = complain_input(complaint,
                                "%.700s: section 2 has %td bytes past its %" PRIu32 " constraints",
                                r1cs->file.source.name, walk.end - walk.at, r1cs->constraints);
    terms_free(&walk.terms);
    return status;
}

/* Numbers are worth it where they and the distinct values take less than a value for each entry. */
static void choose_index(struct r1cs *r1cs)
{
    uint64_t values = r1cs->values.count, entries = r1cs->row_start[r1cs->constraints];
    uint32_t width = image_index_bytes(values);
    if (entries * width + values * VALUE_BYTES < entries * VALUE_BYTES)
        r1cs->index_bytes = width;
}

int r1cs_read(struct r1cs *r1cs, const struct binfile_source *source, const struct zkey *zkey,
              struct complaint *complaint)
{
    *r1cs = (struct r1cs){0};
    int status = binfile_open(&r1cs->file, source, "r1cs", R1CS_VERSION, complaint);
    if (!status)
        status = read_header(r1cs, zkey, complaint);
    if (!status)
        status = read_constraints(r1cs, complaint);
    if (!status)
        choose_index(r1cs);
    return status;
}

void r1cs_free(struct r1cs *r1cs)
{
    free(r1cs->row_start);
    free(r1cs->wire);
    free(r1cs->number);
    dictionary_close(&r1cs->values);
    *r1cs = (struct r1cs){0};
}

uint32_t r1cs_values(const struct r1cs *r1cs)
{
    return r1cs->index_bytes ? r1cs->values.count : r1cs->row_start[r1cs->constraints];
}

static void place_number(const struct coefficient_matrix *out, uint32_t width, uint32_t entry,
                         uint32_t number)
{
    if (width == 1)
        ((uint8_t *)out->index)[entry] = (uint8_t)number;
    else if (width == 2)
        ((uint16_t *)out->index)[entry] = (uint16_t)number;
    else
        ((uint32_t *)out->index)[entry] = number;
}

void r1cs_place(const struct r1cs *r1cs, const struct coefficient_matrix *out)
{
    uint32_t entries = r1cs->row_start[r1cs->constraints];
    memcpy(out->row_start, r1cs->row_start, ((size_t)r1cs->constraints + 1) * sizeof(uint32_t));
    memcpy(out->wire, r1cs->wire, (size_t)entries * sizeof(uint32_t));
    for (uint32_t i = 0; i < entries; i++) {
        if (r1cs->index_bytes)
            place_number(out, r1cs->index_bytes, i, r1cs->number[i]);
        else
            memcpy(out->value[i], r1cs->values.value[r1cs->number[i]], VALUE_BYTES);
    }
    if (r1cs->index_bytes)
        memcpy(out->value, r1cs->values.value, (size_t)r1cs->values.count * VALUE_BYTES);
}
