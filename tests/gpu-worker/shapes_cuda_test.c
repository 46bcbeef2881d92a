/*
 * Whole proofs of circuits of odd shapes on the software driver, bit for bit the CPU device's: keys
 * made of a fixture's by giving it other counts, coefficients and points. No proof of theirs is
 * valid; their sums are defined all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "synth-worker/zkey.h"
#include "tests/gpu-worker/cuda_rig.h"
#include "tests/support/scalars.h"
#include "tests/support/scratch.h"
#include "tests/synth-worker/container.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum points { AS_THEY_ARE, HALF_INFINITE, ALL_INFINITE, ALL_EQUAL };

struct shape {
    const char *folder;
    uint32_t wires, publics, domain;
    uint32_t entries[2]; /* of A, all in the last row; of B, in rows 0 and 1 */
    enum points points;
};

static const char bn128[] = "tests/fixtures/bn128/mul2";
static const char bls12381[] = "tests/fixtures/bls12381/mul2";

static const struct shape shapes[] = {
    {bn128, 70, 2, 16, {700, 520}, AS_THEY_ARE}, /* rows longer than a block has threads */
    {bls12381, 33, 2, 8, {300, 257}, AS_THEY_ARE},
    {bn128, 9, 1, 8, {0, 9}, AS_THEY_ARE}, /* no entry in A, in B, in either */
    {bn128, 9, 1, 8, {9, 0}, AS_THEY_ARE},
    {bls12381, 9, 1, 8, {0, 0}, AS_THEY_ARE},
    {bn128, 40, 39, 4, {40, 40}, AS_THEY_ARE}, /* no private wire */
    {bls12381, 12, 11, 4, {4, 4}, AS_THEY_ARE},
    {bn128, 1, 0, 2, {1, 1}, AS_THEY_ARE}, /* the smallest that there is */
    {bls12381, 2, 0, 2, {2, 1}, AS_THEY_ARE},
    {bn128, 30, 3, 8, {30, 30}, HALF_INFINITE},
    {bls12381, 10, 3, 4, {9, 9}, ALL_INFINITE},
    {bn128, 257, 128, 8, {30, 30}, ALL_EQUAL},
};

static const char *const witnesses[] = {"w1.wtns", "zeros.wtns", "ones.wtns", "largest.wtns"};

/* ---- the key ---- */

/* As many points as wanted: the section's own, again and again. */
static void points_shape(struct container *key, uint32_t id, uint64_t count, size_t point_bytes,
                         enum points points)
{
    struct container_section *section = container_find(key, id);
    uint64_t had = section->bytes / point_bytes;
    assert(had > 0);
    section_resize(section, (count > had ? count : had) * point_bytes);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *point = section->payload + i * point_bytes;
        if (i >= had)
            memcpy(point, point - had * point_bytes, point_bytes);
        if (points == ALL_EQUAL && i > 0)
            memcpy(point, section->payload, point_bytes);
        if (points == ALL_INFINITE || (points == HALF_INFINITE && i % 2))
            memset(point, 0, point_bytes);
    }
    section_resize(section, count * point_bytes);
}

static void key_shape_points(struct container *key, const struct shape *shape,
                             const struct curve *curve)
{
    size_t g1 = curve->g1_bytes, g2 = curve->g2_bytes;
    points_shape(key, ZKEY_IC, shape->publics + 1, g1, AS_THEY_ARE);
    points_shape(key, ZKEY_POINTS_A, shape->wires, g1, shape->points);
    points_shape(key, ZKEY_POINTS_B1, shape->wires, g1, shape->points);
    points_shape(key, ZKEY_POINTS_B2, shape->wires, g2, shape->points);
    points_shape(key, ZKEY_POINTS_C, shape->wires - shape->publics - 1, g1, shape->points);
    points_shape(key, ZKEY_POINTS_H, shape->domain, g1, shape->points);
}

/* A zkey's values are twice in Montgomery form: 1, -1, or any. */
static struct scalar value_some(const struct curve *curve, uint64_t *state)
{
    struct scalar two = scalar_from(curve, 2), one = scalar_pow_small(curve, &two, 256);
    switch (random_next(state) % 4) {
    case 0:
        return one;
    case 1:
        return scalar_neg(curve, &one);
    default:
        return scalar_random(curve, state);
    }
}

static void key_shape_coefficients(struct container *key, const struct shape *shape,
                                   const struct curve *curve)
{
    struct container_section *section = container_find(key, ZKEY_COEFFICIENTS);
    uint64_t state = shape->wires;
    uint32_t count = shape->entries[0] + shape->entries[1];
    section_resize(section, 4 + (uint64_t)count * ZKEY_COEFFICIENT_BYTES);
    put_u32(section->payload, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *at = section->payload + 4 + (size_t)i * ZKEY_COEFFICIENT_BYTES;
        uint32_t matrix = i >= shape->entries[0];
        struct scalar value = value_some(curve, &state);
        put_u32(at, matrix);
        put_u32(at + 4, matrix ? i % 2 : shape->domain - 1);
        put_u32(at + 8, (uint32_t)(random_next(&state) % shape->wires));
        memcpy(at + 12, &value, sizeof(value));
    }
}

static void file_put(const char *folder, const char *name, struct container *file)
{
    char path[SCRATCH_PATH_BYTES + 32];
    struct bytes bytes = container_write(file);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "wbe");
    assert(out && fwrite(bytes.data, 1, bytes.count, out) == bytes.count);
    assert(fclose(out) == 0);
    free(bytes.data);
    container_free(file);
}

static void key_make(const char *folder, const struct shape *shape, const struct curve *curve)
{
    struct container key = container_load(shape->folder, "key.zkey");
    uint8_t *counts =
        container_find(&key, ZKEY_HEADER)->payload + 4 + curve->fq_bytes + 4 + FR_WORDS * 8;
    put_u32(counts, shape->wires);
    put_u32(counts + 4, shape->publics);
    put_u32(counts + 8, shape->domain);
    key_shape_points(&key, shape, curve);
    key_shape_coefficients(&key, shape, curve);
    file_put(folder, "key.zkey", &key);
}

/* ---- the witnesses ---- */

static struct scalar wire_value(const struct curve *curve, unsigned witness, uint64_t *state)
{
    struct scalar out = {{witness == 2}};
    if (witness == 0)
        return scalar_random(curve, state);
    if (witness == 3) {
        memcpy(&out, curve->fr_modulus, sizeof(out));
        out.word[0]--;
    }
    return out;
}

static void witness_make(const char *folder, const struct shape *shape, const struct curve *curve,
                         unsigned witness)
{
    struct container file = container_load(shape->folder, "w1.wtns");
    struct container_section *header = container_find(&file, 1), *values = container_find(&file, 2);
    uint64_t state = witness + 1;
    put_u32(header->payload + header->bytes - 4, shape->wires);
    section_resize(values, shape->wires * sizeof(struct scalar));
    for (uint32_t i = 0; i < shape->wires; i++) {
        struct scalar value = wire_value(curve, i ? witness : 2, &state);
        memcpy(values->payload + i * sizeof(value), &value, sizeof(value));
    }
    file_put(folder, witnesses[witness], &file);
}

/* ---- proofs ---- */

static char folder_now[SCRATCH_PATH_BYTES];

static void prove_all_witnesses(void)
{
    struct rig rig;
    rig_open(&rig, folder_now);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &rig);
    for (size_t i = 0; i < COUNT(witnesses); i++) {
        rig_fill(&rig, (struct filling){.witness = witnesses[i]});
        rig_expect(&rig);
        if (i == 0)
            rig_must_prove(gpu, key, &rig);
        rig_fill(&rig, (struct filling){.witness = witnesses[i], .without_rows = 1});
        rig_must_prove(gpu, key, &rig);
    }
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
    rig_close(&rig);
}

static void test_sums_of_odd_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        char softcuda[32];
        const struct curve *curve = curve_by_name(shapes[i].folder == bn128 ? "bn128" : "bls12381");
        assert_int_equal(scratch_make(folder_now, "shape"), 0);
        key_make(folder_now, &shapes[i], curve);
        for (unsigned w = 0; w < COUNT(witnesses); w++)
            witness_make(folder_now, &shapes[i], curve, w);
        snprintf(softcuda, sizeof(softcuda), "seed=%zu", i);
        int status = rig_child(softcuda, prove_all_witnesses);
        scratch_remove(folder_now);
        if (status)
            print_error("shape %zu\n", i);
        assert_int_equal(status, 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_odd_shapes),
    };
    (void)argc;
    rig_enter(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
