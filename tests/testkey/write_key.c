/*
 * key.zkey and vkey.json (output.h), of scalars that setup.c made: this is where they become
 * points.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/decimal.h"
#include "kernels/parallel.h"
#include "tests/testkey/fixed_base.h"
#include "tests/testkey/output.h"

struct zkey {
    struct output output;
    const struct circuit *circuit;
    const struct setup *setup;
    struct fixed_base base[2]; /* by enum group */
    struct parallel *parallel;
};

/* ---- zkey ---- */

static void points_make(const struct zkey *zkey, enum group group, void *out,
                        const struct scalar *scalars, size_t count)
{
    const struct fixed_base *base = &zkey->base[group];
    base->multiply(base, out, scalars->word, count, zkey->parallel);
}

/* A section of points, some thousands at a time. */
static void section_points(struct zkey *zkey, uint32_t id, enum group group,
                           const struct scalar *scalars, size_t count)
{
    const struct curve *curve = zkey->circuit->curve;
    size_t bytes = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes, batch = 1 << 16;
    void *points = memory_resize(NULL, batch, bytes);
    output_section(&zkey->output, id);
    for (size_t i = 0; i < count; i += batch) {
        size_t now = count - i < batch ? count - i : batch;
        points_make(zkey, group, points, scalars + i, now);
        output_bytes(&zkey->output, points, now * bytes);
    }
    output_end_section(&zkey->output);
    free(points);
}

static void section_coefficient(struct output *output, uint32_t matrix, uint32_t row, uint32_t wire,
                                const struct scalar *value)
{
    output_u32(output, matrix);
    output_u32(output, row);
    output_u32(output, wire);
    output_bytes(output, value, sizeof(*value));
}

/* Values are v * R^2: one factor R more than Montgomery form. */
static void section_coefficients(struct output *output, const struct circuit *circuit)
{
    struct scalar *pool = memory_resize(NULL, circuit->pool_count, sizeof(*pool));
    size_t count = circuit->side[SIDE_A].count + circuit->side[SIDE_B].count;
    for (size_t i = 0; i < circuit->pool_count; i++)
        circuit->curve->fr_to_montgomery(pool[i].word, circuit->pool[i].word);
    output_section(output, 4);
    output_u32(output, (uint32_t)count + circuit->publics + 1);
    for (uint32_t row = 0; row < circuit->constraints; row++) {
        for (uint32_t side = SIDE_A; side <= SIDE_B; side++) {
            const struct matrix *matrix = &circuit->side[side];
            for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
                section_coefficient(output, side, row, matrix->term[i].wire,
                                    &pool[matrix->term[i].coefficient]);
        }
    }
    for (uint32_t wire = 0; wire <= circuit->publics; wire++)
        section_coefficient(output, 0, circuit->constraints + wire, wire, &pool[COEFFICIENT_ONE]);
    output_end_section(output);
    free(pool);
}

static void section_header(struct output *output, const struct circuit *circuit,
                           const struct setup *setup, const struct key_points *key)
{
    const struct curve *curve = circuit->curve;
    output_section(output, 2);
    output_u32(output, curve->fq_bytes);
    output_bytes(output, curve->fq_modulus, curve->fq_bytes);
    output_u32(output, 8 * FR_WORDS);
    output_bytes(output, curve->fr_modulus, 8 * FR_WORDS);
    output_u32(output, circuit->wires);
    output_u32(output, circuit->publics);
    output_u32(output, (uint32_t)1 << setup->log2);
    output_bytes(output, &key->alpha1, curve->g1_bytes);
    output_bytes(output, &key->beta1, curve->g1_bytes);
    output_bytes(output, &key->beta2, curve->g2_bytes);
    output_bytes(output, &key->gamma2, curve->g2_bytes);
    output_bytes(output, &key->delta1, curve->g1_bytes);
    output_bytes(output, &key->delta2, curve->g2_bytes);
    output_end_section(output);
}

static void key_points_make(struct key_points *key, const struct zkey *zkey)
{
    const struct curve *curve = zkey->circuit->curve;
    const struct setup *setup = zkey->setup;
    size_t publics = zkey->circuit->publics;
    curve->g1_multiply(&key->alpha1, curve->g1_generator, setup->alpha.word);
    curve->g1_multiply(&key->beta1, curve->g1_generator, setup->beta.word);
    curve->g1_multiply(&key->delta1, curve->g1_generator, setup->delta.word);
    curve->g2_multiply(&key->beta2, curve->g2_generator, setup->beta.word);
    curve->g2_multiply(&key->delta2, curve->g2_generator, setup->delta.word);
    key->gamma2 = *curve->g2_generator;
    key->ic = memory_resize(NULL, publics + 1, curve->g1_bytes);
    points_make(zkey, GROUP_G1, key->ic, setup->k, publics + 1);
}

static void bases_make(struct zkey *zkey, size_t count)
{
    if (zkey->circuit->curve->id == CURVE_BN254) {
        bn254_fixed_base_g1(&zkey->base[GROUP_G1], 4 * count, zkey->parallel);
        bn254_fixed_base_g2(&zkey->base[GROUP_G2], count, zkey->parallel);
    } else {
        bls12381_fixed_base_g1(&zkey->base[GROUP_G1], 4 * count, zkey->parallel);
        bls12381_fixed_base_g2(&zkey->base[GROUP_G2], count, zkey->parallel);
    }
}

void write_zkey(const char *folder, const struct circuit *circuit, const struct setup *setup,
                struct key_points *key, struct parallel *parallel)
{
    struct zkey zkey = {.circuit = circuit, .setup = setup, .parallel = parallel};
    struct output *output = &zkey.output;
    size_t wires = circuit->wires, first_private = circuit->publics + 1;
    char path[512];
    bases_make(&zkey, wires);
    key_points_make(key, &zkey);
    output_begin(output, folder, "key.zkey", path, "zkey", 1, 9);
    output_section(output, 1);
    output_u32(output, 1); /* Groth16 */
    output_end_section(output);
    section_header(output, circuit, setup, key);
    output_section(output, 3);
    output_bytes(output, key->ic, first_private * circuit->curve->g1_bytes);
    output_end_section(output);
    section_coefficients(output, circuit);
    section_points(&zkey, 5, GROUP_G1, setup->a, wires);
    section_points(&zkey, 6, GROUP_G1, setup->b, wires);
    section_points(&zkey, 7, GROUP_G2, setup->b, wires);
    section_points(&zkey, 8, GROUP_G1, setup->k + first_private, wires - first_private);
    section_points(&zkey, 9, GROUP_G1, setup->h, (size_t)1 << setup->log2);
    output_close(output);
    free(zkey.base[GROUP_G1].table);
    free(zkey.base[GROUP_G2].table);
}

/* ---- vkey.json ---- */

/* Numbers of Fq, plain, as a JSON array nested by `shape`: how many at each depth, ended by 0. */
static void json_numbers(FILE *file, const uint64_t **at, size_t words, const unsigned *shape)
{
    char text[DECIMAL_TEXT_BYTES(FQ_WORDS_MAX)];
    fputc('[', file);
    for (unsigned i = 0; i < shape[0]; i++) {
        if (i)
            fputc(',', file);
        if (shape[1]) {
            json_numbers(file, at, words, shape + 1);
            continue;
        }
        decimal_write(text, *at, words);
        fprintf(file, "\"%s\"", text);
        *at += words;
    }
    fputc(']', file);
}

/* A point's coordinates and a one: the form of a point that is not infinity. */
static void json_point(FILE *file, const struct curve *curve, const void *point, enum group group)
{
    uint64_t plain[6 * FQ_WORDS_MAX] = {0};
    const uint64_t *at = plain;
    size_t words = curve->fq_bytes / 8, count = group == GROUP_G1 ? 2 : 4;
    for (size_t i = 0; i < count; i++)
        curve->fq_from_montgomery(plain + words * i, (const uint64_t *)point + words * i);
    plain[words * count] = 1;
    static const unsigned shape_g1[] = {3, 0}, shape_g2[] = {3, 2, 0};
    json_numbers(file, &at, words, group == GROUP_G1 ? shape_g1 : shape_g2);
}

static void json_named_point(FILE *file, const struct curve *curve, const char *name,
                             const void *point, enum group group)
{
    fprintf(file, " \"%s\": ", name);
    json_point(file, curve, point, group);
    fputs(",\n", file);
}

void write_verification_key(const char *folder, const struct circuit *circuit,
                            const struct key_points *key)
{
    const struct curve *curve = circuit->curve;
    static const unsigned shape[] = {2, 3, 2, 0};
    uint64_t alphabeta[12 * FQ_WORDS_MAX];
    const uint64_t *at = alphabeta;
    char path[512];
    FILE *file = output_open(folder, "vkey.json", path);
    struct output output = {.file = file, .path = path};
    fprintf(file, "{\n \"protocol\": \"groth16\",\n \"curve\": \"%s\",\n \"nPublic\": %u,\n",
            curve->name, circuit->publics);
    json_named_point(file, curve, "vk_alpha_1", &key->alpha1, GROUP_G1);
    json_named_point(file, curve, "vk_beta_2", &key->beta2, GROUP_G2);
    json_named_point(file, curve, "vk_gamma_2", &key->gamma2, GROUP_G2);
    json_named_point(file, curve, "vk_delta_2", &key->delta2, GROUP_G2);
    curve->pairing_alphabeta(alphabeta, &key->alpha1, &key->beta2);
    fputs(" \"vk_alphabeta_12\": ", file);
    json_numbers(file, &at, curve->fq_bytes / 8, shape);
    fputs(",\n \"IC\": [", file);
    for (uint32_t i = 0; i <= circuit->publics; i++) {
        fputs(i ? "," : "", file);
        json_point(file, curve, (const char *)key->ic + (size_t)i * curve->g1_bytes, GROUP_G1);
    }
    fputs("]\n}\n", file);
    output_close(&output);
}
