/*
 * Containers, and the two files that are not much more: witness and constraint system (output.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testkey/output.h"

static void output_fail(const char *path)
{
    fprintf(stderr, "testkey: %s cannot be written: %s\n", path, strerror(errno));
    exit(73);
}

FILE *output_open(const char *folder, const char *name, char path[512])
{
    if ((size_t)snprintf(path, 512, "%s/%s", folder, name) >= 512)
        errno = ENAMETOOLONG;
    FILE *file = strlen(path) < 511 ? fopen(path, "wbe") : NULL;
    if (!file)
        output_fail(path);
    return file;
}

void output_bytes(struct output *output, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, output->file) != count)
        output_fail(output->path);
}

void output_u32(struct output *output, uint32_t value)
{
    output_bytes(output, &value, sizeof(value));
}

static void output_u64(struct output *output, uint64_t value)
{
    output_bytes(output, &value, sizeof(value));
}

void output_begin(struct output *output, const char *folder, const char *name, char path[512],
                  const char type[4], uint32_t version, uint32_t sections)
{
    *output = (struct output){.file = output_open(folder, name, path), .path = path};
    output_bytes(output, type, 4);
    output_u32(output, version);
    output_u32(output, sections);
}

void output_section(struct output *output, uint32_t id)
{
    output_u32(output, id);
    output->length_at = ftell(output->file);
    output_u64(output, 0);
}

void output_end_section(struct output *output)
{
    long end = ftell(output->file);
    if (end < 0 || fseek(output->file, output->length_at, SEEK_SET))
        output_fail(output->path);
    output_u64(output, (uint64_t)(end - output->length_at) - sizeof(uint64_t));
    if (fseek(output->file, 0, SEEK_END))
        output_fail(output->path);
}

void output_close(struct output *output)
{
    if (fclose(output->file))
        output_fail(output->path);
}

static void output_modulus(struct output *output, const struct curve *curve)
{
    output_u32(output, 8 * FR_WORDS);
    output_bytes(output, curve->fr_modulus, 8 * FR_WORDS);
}

void write_witness(const char *folder, const char *name, const struct curve *curve,
                   const struct scalar *witness, uint32_t count)
{
    struct output output;
    char path[512];
    output_begin(&output, folder, name, path, "wtns", 2, 2);
    output_section(&output, 1);
    output_modulus(&output, curve);
    output_u32(&output, count);
    output_end_section(&output);
    output_section(&output, 2);
    output_bytes(&output, witness, (size_t)count * sizeof(*witness));
    output_end_section(&output);
    output_close(&output);
}

/* ---- r1cs ---- */

static void r1cs_header(struct output *output, const struct circuit *circuit)
{
    output_section(output, 1);
    output_modulus(output, circuit->curve);
    output_u32(output, circuit->wires);
    output_u32(output, 0); /* public outputs */
    output_u32(output, circuit->publics);
    output_u32(output, circuit->inputs_are_bits ? circuit->input_count : 0);
    output_u64(output, circuit->wires);
    output_u32(output, circuit->constraints);
    output_end_section(output);
}

static void r1cs_combination(struct output *output, const struct matrix *matrix,
                             const struct scalar *plain_pool, size_t row)
{
    output_u32(output, matrix->row_start[row + 1] - matrix->row_start[row]);
    for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++) {
        output_u32(output, matrix->term[i].wire);
        output_bytes(output, &plain_pool[matrix->term[i].coefficient], sizeof(struct scalar));
    }
}

void write_r1cs(const char *folder, const struct circuit *circuit)
{
    struct output output;
    char path[512];
    struct scalar *pool = memory_resize(NULL, circuit->pool_count, sizeof(*pool));
    for (size_t i = 0; i < circuit->pool_count; i++)
        pool[i] = scalar_plain(circuit->curve, &circuit->pool[i]);
    output_begin(&output, folder, "circuit.r1cs", path, "r1cs", 1, 3);
    r1cs_header(&output, circuit);
    output_section(&output, 2);
    for (size_t row = 0; row < circuit->constraints; row++) {
        for (int side = 0; side < SIDES; side++)
            r1cs_combination(&output, &circuit->side[side], pool, row);
    }
    output_end_section(&output);
    output_section(&output, 3);
    for (uint32_t wire = 0; wire < circuit->wires; wire++)
        output_u64(&output, wire);
    output_end_section(&output);
    output_close(&output);
    free(pool);
}
