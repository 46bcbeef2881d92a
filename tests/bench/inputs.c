/*
 * See the header.
 */
#include "tests/bench/inputs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/parallel.h"
#include "tests/support/scalars.h"

#define DISTINCT 4096 /* points; then they are repeated */
#define VALUES 64
#define PUBLICS 2

static void *take(size_t bytes)
{
    void *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
    assert(out);
    memset(out, 0, bytes);
    return out;
}

/* Multiples of the generator: k G from (k - 1) G. */
static void make_points(struct inputs *out, const struct curve *curve)
{
    struct g1 p = *curve->g1_generator;
    struct g2 q = *curve->g2_generator;
    char *g1 = out->points_g1 = take(out->count * curve->g1_bytes);
    char *g2 = out->points_g2 = take(out->count * curve->g2_bytes);
    for (size_t i = 0; i < out->count; i++) {
        if (i >= DISTINCT) {
            memcpy(g1 + i * curve->g1_bytes, g1 + (i - DISTINCT) * curve->g1_bytes,
                   curve->g1_bytes);
            memcpy(g2 + i * curve->g2_bytes, g2 + (i - DISTINCT) * curve->g2_bytes,
                   curve->g2_bytes);
            continue;
        }
        memcpy(g1 + i * curve->g1_bytes, &p, curve->g1_bytes);
        memcpy(g2 + i * curve->g2_bytes, &q, curve->g2_bytes);
        curve->g1_add(&p, &p, curve->g1_generator);
        curve->g2_add(&q, &q, curve->g2_generator);
    }
}

static void make_scalars(uint64_t *out, const struct curve *curve, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        struct scalar s = scalar_random(curve, &seed);
        memcpy(out + i * FR_WORDS, &s, sizeof(s));
    }
}

static void make_matrix(struct inputs *out, const struct curve *curve)
{
    uint64_t seed = 3;
    struct scalar one = scalar_from(curve, 1), minus_one = {{0}};
    minus_one = scalar_sub(curve, &minus_one, &one);
    out->row_start = take((out->count + 1) * sizeof(*out->row_start));
    out->wire = take(INPUTS_ENTRIES * out->count * sizeof(*out->wire));
    out->index = take(INPUTS_ENTRIES * out->count);
    out->value = take(VALUES * sizeof(*out->value));
    make_scalars(out->value[0], curve, VALUES, 5);
    memcpy(out->value[SPARSE_ONE], &one, sizeof(one));
    memcpy(out->value[SPARSE_MINUS_ONE], &minus_one, sizeof(minus_one));
    for (size_t i = 0; i <= out->count; i++)
        out->row_start[i] = (uint32_t)(INPUTS_ENTRIES * i);
    for (size_t i = 0; i < INPUTS_ENTRIES * out->count; i++) {
        uint64_t random = random_next(&seed);
        out->wire[i] = (uint32_t)(random % out->count);
        out->index[i] = random >> 63 ? SPARSE_ONE : (uint8_t)(random >> 40) % VALUES;
    }
    out->matrix = (struct sparse_matrix){.rows = (uint32_t)out->count,
                                         .row_start = out->row_start,
                                         .wire = out->wire,
                                         .value = (const uint64_t(*)[FR_WORDS])out->value,
                                         .index = out->index,
                                         .index_bytes = 1};
}

static size_t scratch_bytes(const struct curve *curve, size_t count, unsigned threads)
{
    size_t bytes[] = {curve->msm_scratch_bytes(GROUP_G1, count, threads),
                      curve->msm_scratch_bytes(GROUP_G2, count, threads),
                      curve->witness_sums_scratch_bytes(count, 1, threads)};
    size_t most = 0;
    for (int i = 0; i < 3; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return most;
}

void inputs_make(struct inputs *out, const struct curve *curve, unsigned log2,
                 struct parallel *parallel)
{
    *out = (struct inputs){.count = (size_t)1 << log2};
    size_t vector = out->count * FR_WORDS * sizeof(uint64_t);
    make_points(out, curve);
    out->scalars = take(vector);
    make_scalars(out->scalars, curve, out->count, 1);
    for (int i = 0; i < 3; i++) {
        out->vector[i] = take(vector);
        make_scalars(out->vector[i], curve, out->count, 2 + (uint64_t)i);
    }
    make_matrix(out, curve);
    out->table = take(curve->ntt_table_bytes(log2));
    curve->ntt_table_make(out->table, log2, parallel);
    out->scratch = take(scratch_bytes(curve, out->count, parallel->threads));
}

void inputs_make_proof(struct inputs *out, const struct curve *curve)
{
    *out = (struct inputs){.count = PUBLICS};
    out->scalars = take(PUBLICS * FR_WORDS * sizeof(uint64_t));
    make_scalars(out->scalars, curve, PUBLICS, 1);
    struct g1 p;
    struct g2 q;
    curve->g1_multiply(&p, curve->g1_generator, out->scalars);
    curve->g2_multiply(&q, curve->g2_generator, out->scalars);
    char *ic = out->ic = take((PUBLICS + 1) * curve->g1_bytes);
    for (int i = 0; i <= PUBLICS; i++)
        memcpy(ic + i * curve->g1_bytes, &p, curve->g1_bytes);
    out->key = (struct verification_key){.alpha1 = p,
                                         .beta1 = p,
                                         .delta1 = p,
                                         .beta2 = q,
                                         .gamma2 = q,
                                         .delta2 = q,
                                         .ic = ic,
                                         .public_count = PUBLICS};
    out->sums = (struct proof_sums){.a = p, .b1 = p, .b2 = q, .c = p, .h = p};
    out->prepared = take(curve->prepared_key_bytes(PUBLICS));
    curve->prepared_key_make(out->prepared, &out->key);
    curve->prepared_assemble(&out->proof, &out->sums, out->prepared, out->scalars,
                             out->scalars + FR_WORDS);
}

void inputs_free(struct inputs *inputs)
{
    void *all[] = {inputs->points_g1, inputs->points_g2, inputs->scalars, inputs->vector[0],
                   inputs->vector[1], inputs->vector[2], inputs->table,   inputs->scratch,
                   inputs->prepared,  inputs->row_start, inputs->wire,    inputs->value,
                   inputs->index,     inputs->ic};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        free(all[i]);
    *inputs = (struct inputs){0};
}
