/*
 * `synth-worker --export-vkey`. Called by main.c and by tests. Reads no more of a key than its
 * header and section 3. Memory is freed before return; a SIGKILL leaves a cut text on the output.
 */
#include "synth-worker/vkey_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"
#include "kernels/decimal.h"
#include "kernels/parallel.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/points.h"
#include "synth-worker/zkey.h"

/* JSON text with a line for each value. */
struct writer {
    FILE *out;
    unsigned depth;
    int follows; /* a value stands before the next one in this bracket */
};

static void begin_value(struct writer *writer)
{
    if (writer->depth)
        fprintf(writer->out, "%s\n%*s", writer->follows ? "," : "", (int)writer->depth, "");
    writer->follows = 1;
}

static void open_bracket(struct writer *writer, const char *bracket)
{
    fputs(bracket, writer->out);
    writer->depth++;
    writer->follows = 0;
}

static void close_bracket(struct writer *writer, const char *bracket)
{
    writer->depth--;
    fprintf(writer->out, "\n%*s%s", (int)writer->depth, "", bracket);
    writer->follows = 1;
}

static void write_name(struct writer *writer, const char *name)
{
    begin_value(writer);
    fprintf(writer->out, "\"%s\": ", name);
}

static void write_text(struct writer *writer, const char *text)
{
    begin_value(writer);
    fprintf(writer->out, "\"%s\"", text);
}

static void open_list(struct writer *writer)
{
    begin_value(writer);
    open_bracket(writer, "[");
}

static void write_fq(struct writer *writer, const struct curve *curve, const uint64_t *plain)
{
    char text[DECIMAL_TEXT_BYTES(FQ_WORDS_MAX)];
    decimal_write(text, plain, curve->fq_bytes / 8);
    write_text(writer, text);
}

static void write_coordinate(struct writer *writer, const struct curve *curve,
                             const uint64_t *montgomery)
{
    uint64_t plain[FQ_WORDS_MAX];
    curve->fq_from_montgomery(plain, montgomery);
    write_fq(writer, curve, plain);
}

static int is_infinity(const uint64_t *point, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes / 8; i++)
        if (point[i])
            return 0;
    return 1;
}

/* The coordinates of a G1 point in a bracket that is open. */
static void write_g1(struct writer *writer, const struct curve *curve, const uint64_t *point)
{
    int infinity = is_infinity(point, curve->g1_bytes);
    write_coordinate(writer, curve, point);
    if (infinity)
        write_text(writer, "1");
    else
        write_coordinate(writer, curve, point + curve->fq_bytes / 8);
    write_text(writer, infinity ? "0" : "1");
    close_bracket(writer, "]");
}

static void write_pair(struct writer *writer, const char *first, const char *second)
{
    open_list(writer);
    write_text(writer, first);
    write_text(writer, second);
    close_bracket(writer, "]");
}

static void write_g2(struct writer *writer, const struct curve *curve, const uint64_t *point)
{
    size_t words = curve->fq_bytes / 8;
    for (unsigned i = 0; i < 2; i++) {
        open_list(writer);
        write_coordinate(writer, curve, point + 2 * i * words);
        write_coordinate(writer, curve, point + (2 * i + 1) * words);
        close_bracket(writer, "]");
    }
    write_pair(writer, "1", "0");
    close_bracket(writer, "]");
}

static void write_named_g2(struct writer *writer, const char *name, const struct curve *curve,
                           const uint64_t *point)
{
    write_name(writer, name);
    open_bracket(writer, "[");
    write_g2(writer, curve, point);
}

static void write_pairing(struct writer *writer, const struct zkey *zkey)
{
    const struct curve *curve = zkey->curve;
    struct g1 alpha1 = {0};
    struct g2 beta2 = {0};
    uint64_t value[12 * FQ_WORDS_MAX];
    size_t words = curve->fq_bytes / 8;
    memcpy(&alpha1, zkey->constants, curve->g1_bytes);
    memcpy(&beta2, zkey->constants + 3 * curve->g1_bytes / 8, curve->g2_bytes);
    curve->pairing_alphabeta(value, &alpha1, &beta2);
    write_name(writer, "vk_alphabeta_12");
    open_bracket(writer, "[");
    for (unsigned i = 0; i < 12; i++) {
        if (i % 6 == 0)
            open_list(writer);
        if (i % 2 == 0)
            open_list(writer);
        write_fq(writer, curve, value + i * words);
        if (i % 2 == 1)
            close_bracket(writer, "]");
        if (i % 6 == 5)
            close_bracket(writer, "]");
    }
    close_bracket(writer, "]");
}

static void write_ic(struct writer *writer, const struct zkey *zkey, const uint64_t *ic)
{
    const struct curve *curve = zkey->curve;
    write_name(writer, "IC");
    open_bracket(writer, "[");
    for (uint64_t i = 0; i <= zkey->public_count; i++) {
        open_list(writer);
        write_g1(writer, curve, ic + i * (curve->g1_bytes / 8));
    }
    close_bracket(writer, "]");
}

static void write_key(struct writer *writer, const struct zkey *zkey, const uint64_t *ic)
{
    const struct curve *curve = zkey->curve;
    const uint64_t *g2 = zkey->constants + 3 * curve->g1_bytes / 8;
    size_t g2_words = curve->g2_bytes / 8;
    open_bracket(writer, "{");
    write_name(writer, "protocol");
    fputs("\"groth16\"", writer->out);
    write_name(writer, "curve");
    fprintf(writer->out, "\"%s\"", curve->name);
    write_name(writer, "nPublic");
    fprintf(writer->out, "%" PRIu32, zkey->public_count);
    write_name(writer, "vk_alpha_1");
    open_bracket(writer, "[");
    write_g1(writer, curve, zkey->constants);
    write_named_g2(writer, "vk_beta_2", curve, g2);
    write_named_g2(writer, "vk_gamma_2", curve, g2 + g2_words);
    write_named_g2(writer, "vk_delta_2", curve, g2 + 2 * g2_words);
    write_pairing(writer, zkey);
    write_ic(writer, zkey, ic);
    close_bracket(writer, "}");
}

static int read_ic(const struct zkey *zkey, uint64_t *ic, struct complaint *complaint)
{
    const struct binfile_section *section = &zkey->file.section[ZKEY_IC];
    struct point_array array = {.curve = zkey->curve,
                                .group = GROUP_G1,
                                .points = ic,
                                .count = zkey_point_count(zkey, ZKEY_IC),
                                .section = ZKEY_IC,
                                .name = zkey->file.source.name};
    int status = binfile_read(&zkey->file.source, section->offset, ic, section->length, complaint);
    return status ? status : points_check(&array, &parallel_serial, complaint);
}

int vkey_export(const struct binfile_source *key, FILE *out, struct complaint *complaint)
{
    struct zkey zkey;
    int status = zkey_open(&zkey, key, complaint);
    if (!status)
        status = points_check_constants(zkey.curve, zkey.constants, key->name, complaint);
    if (!status)
        status = zkey_check_points_length(&zkey, ZKEY_IC, zkey_point_count(&zkey, ZKEY_IC),
                                          zkey_point_bytes(&zkey, ZKEY_IC), complaint);
    if (status)
        return status;
    uint64_t *ic = malloc(zkey.file.section[ZKEY_IC].length);
    if (!ic)
        return complain_system(complaint, EXIT_MACHINE, ENOMEM, "%.700s: section 3", key->name);
    status = read_ic(&zkey, ic, complaint);
    struct writer writer = {.out = out};
    if (!status)
        write_key(&writer, &zkey, ic);
    free(ic);
    return status;
}
