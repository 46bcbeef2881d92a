/*
 * Reading snarkjs's JSON files. Called by verify; keeps nothing.
 */
#include "coordinator/client/proof_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/decimal.h"

#define FILE_BYTES_MAX (UINT64_C(1) << 30)
#define DIGITS_MAX 200

static enum file_fault fault(enum file_fault kind, struct proof_file_why *why, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

static enum file_fault fault(enum file_fault kind, struct proof_file_why *why, const char *format,
                             ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why->text, sizeof(why->text), format, list);
    va_end(list);
    return kind;
}

/* ---- files ---- */

struct source {
    FILE *file;
    uint64_t bytes;
};

static size_t read_source(void *buffer, size_t bytes, void *arg)
{
    struct source *source = arg;
    size_t got = fread(buffer, 1, bytes, source->file);
    source->bytes += got;
    return source->bytes > FILE_BYTES_MAX || ferror(source->file) ? (size_t)-1 : got;
}

json_t *proof_file_load(const char *path, struct proof_file_why *why)
{
    json_error_t error;
    struct source source = {fopen(path, "re"), 0};
    if (!source.file) {
        fault(FILE_MALFORMED, why, "cannot read: %s", strerror(errno));
        return NULL;
    }
    json_t *root = json_load_callback(read_source, &source, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fault(FILE_MALFORMED, why, "not JSON: line %d: %.150s", error.line, error.text);
    fclose(source.file);
    return root;
}

/* ---- numbers ---- */

static enum file_fault read_coordinate(uint64_t *out, const struct curve *curve,
                                       const json_t *value, const char *name,
                                       struct proof_file_why *why)
{
    uint64_t plain[FQ_WORDS_MAX];
    size_t words = curve->fq_bytes / 8, length = json_string_length(value);
    if (!json_is_string(value) || length > DIGITS_MAX)
        return fault(FILE_MALFORMED, why, "%s holds something that is no decimal string", name);
    int error = decimal_read(plain, words, json_string_value(value), length);
    if (error == -EINVAL)
        return fault(FILE_MALFORMED, why, "%s holds something that is no decimal string", name);
    if (error || curve->fq_to_montgomery(out, plain))
        return fault(FILE_INVALID, why, "%s has a coordinate that is not below q", name);
    return FILE_FINE;
}

static int is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && !strcmp(json_string_value(value), text);
}

/* ---- points ---- */

/* 1 for an array of `length`, each member checked by the caller. */
static int is_array_of(const json_t *value, size_t length)
{
    return json_is_array(value) && json_array_size(value) == length;
}

static int is_pair(const json_t *value, const char *first, const char *second)
{
    return is_array_of(value, 2) && is_text(json_array_get(value, 0), first) &&
           is_text(json_array_get(value, 1), second);
}

static enum file_fault judge_point(enum point_check check, const char *name,
                                   struct proof_file_why *why)
{
    return check == POINT_OK ? FILE_FINE : fault(FILE_INVALID, why, "%s is not on the curve", name);
}

static enum file_fault read_g1(void *out, const struct curve *curve, const json_t *value,
                               const char *name, struct proof_file_why *why)
{
    uint64_t *words = out;
    memset(out, 0, curve->g1_bytes);
    if (!is_array_of(value, 3))
        return fault(FILE_MALFORMED, why, "%s is no point of three coordinates", name);
    if (is_text(json_array_get(value, 2), "0"))
        return FILE_FINE; /* infinity */
    if (!is_text(json_array_get(value, 2), "1"))
        return fault(FILE_MALFORMED, why, "%s is not affine: its third coordinate is not \"1\"",
                     name);
    for (size_t i = 0; i < 2; i++) {
        enum file_fault kind = read_coordinate(words + i * (curve->fq_bytes / 8), curve,
                                               json_array_get(value, i), name, why);
        if (kind)
            return kind;
    }
    return judge_point(curve->g1_check(out), name, why);
}

static enum file_fault read_g2(void *out, const struct curve *curve, const json_t *value,
                               const char *name, struct proof_file_why *why)
{
    uint64_t *words = out;
    memset(out, 0, curve->g2_bytes);
    if (!is_array_of(value, 3) || !is_array_of(json_array_get(value, 0), 2) ||
        !is_array_of(json_array_get(value, 1), 2))
        return fault(FILE_MALFORMED, why, "%s is no point of three pairs", name);
    if (is_pair(json_array_get(value, 2), "0", "0"))
        return FILE_FINE; /* infinity */
    if (!is_pair(json_array_get(value, 2), "1", "0"))
        return fault(FILE_MALFORMED, why, "%s is not affine: its third pair is not \"1\", \"0\"",
                     name);
    for (size_t i = 0; i < 4; i++) {
        const json_t *pair = json_array_get(value, i / 2);
        enum file_fault kind = read_coordinate(words + i * (curve->fq_bytes / 8), curve,
                                               json_array_get(pair, i % 2), name, why);
        if (kind)
            return kind;
    }
    return judge_point(curve->g2_check(out), name, why);
}

/* ---- proof and publics ---- */

static int names_curve(const json_t *root, const struct curve *curve)
{
    const json_t *name = json_object_get(root, "curve");
    return !name || (json_is_string(name) && curve_by_name(json_string_value(name)) == curve);
}

enum file_fault proof_file_proof(struct proof *proof, const struct curve *curve, const json_t *root,
                                 struct proof_file_why *why)
{
    *proof = (struct proof){0};
    const json_t *protocol = json_object_get(root, "protocol");
    if (protocol && !is_text(protocol, "groth16"))
        return fault(FILE_MALFORMED, why, "the proof's protocol is not groth16");
    if (!names_curve(root, curve))
        return fault(FILE_INVALID, why, "the proof's curve is not that of the verification key");
    enum file_fault kind = read_g1(&proof->a, curve, json_object_get(root, "pi_a"), "pi_a", why);
    if (!kind)
        kind = read_g2(&proof->b, curve, json_object_get(root, "pi_b"), "pi_b", why);
    if (!kind)
        kind = read_g1(&proof->c, curve, json_object_get(root, "pi_c"), "pi_c", why);
    return kind;
}

static enum file_fault read_public(uint64_t *out, const struct curve *curve, const json_t *value,
                                   size_t index, struct proof_file_why *why)
{
    char number[32];
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (json_is_integer(value)) {
        length = (size_t)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
                                  json_integer_value(value));
        text = number;
    }
    int error = text && length <= DIGITS_MAX ? decimal_read(out, FR_WORDS, text, length) : -EINVAL;
    if (error == -EINVAL)
        return fault(FILE_MALFORMED, why, "public signal %zu is no decimal number", index);
    if (error || !curve->fr_is_canonical(out))
        return fault(FILE_INVALID, why, "public signal %zu is not below r", index);
    return FILE_FINE;
}

enum file_fault proof_file_publics(uint64_t **publics, uint32_t count, const struct curve *curve,
                                   const json_t *root, struct proof_file_why *why)
{
    enum file_fault kind = FILE_FINE;
    if (!json_is_array(root))
        return fault(FILE_MALFORMED, why, "public signals are an array");
    if (json_array_size(root) != count)
        return fault(FILE_INVALID, why, "%zu public signals, the verification key has %" PRIu32,
                     json_array_size(root), count);
    uint64_t *list = calloc((size_t)count + 1, FR_WORDS * sizeof(uint64_t));
    if (!list)
        return fault(FILE_MALFORMED, why, "out of memory");
    for (size_t i = 0; i < count && !kind; i++)
        kind = read_public(list + i * FR_WORDS, curve, json_array_get(root, i), i, why);
    if (kind)
        free(list);
    else
        *publics = list;
    return kind;
}

/* ---- verification key ---- */

static enum file_fault check_subgroup(int inside, const char *name, struct proof_file_why *why)
{
    return inside ? FILE_FINE : fault(FILE_INVALID, why, "%s is not in the subgroup", name);
}

static enum file_fault read_key_g1(struct vkey_file *vkey, void *out, const json_t *value,
                                   const char *name, struct proof_file_why *why)
{
    enum file_fault kind = read_g1(out, vkey->curve, value, name, why);
    return kind ? kind : check_subgroup(vkey->curve->g1_in_subgroup(out), name, why);
}

static enum file_fault read_key_g2(struct vkey_file *vkey, struct g2 *out, const json_t *root,
                                   const char *name, struct proof_file_why *why)
{
    enum file_fault kind = read_g2(out, vkey->curve, json_object_get(root, name), name, why);
    return kind ? kind : check_subgroup(vkey->curve->g2_in_subgroup(out), name, why);
}

static enum file_fault read_ic(struct vkey_file *vkey, const json_t *ic, struct proof_file_why *why)
{
    char name[32];
    size_t count = json_array_size(ic), bytes = vkey->curve->g1_bytes;
    enum file_fault kind = FILE_FINE;
    vkey->ic = calloc(count, bytes);
    if (!vkey->ic)
        return fault(FILE_MALFORMED, why, "out of memory");
    for (size_t i = 0; i < count && !kind; i++) {
        snprintf(name, sizeof(name), "IC[%zu]", i);
        kind = read_key_g1(vkey, (char *)vkey->ic + i * bytes, json_array_get(ic, i), name, why);
    }
    if (kind) {
        free(vkey->ic);
        vkey->ic = NULL;
    }
    vkey->key.ic = vkey->ic;
    return kind;
}

/* The curve's name, the protocol, and that nPublic and IC agree. */
static enum file_fault read_key_header(struct vkey_file *vkey, const json_t *root,
                                       struct proof_file_why *why)
{
    const json_t *count = json_object_get(root, "nPublic"), *ic = json_object_get(root, "IC");
    const char *curve = json_string_value(json_object_get(root, "curve"));
    if (!is_text(json_object_get(root, "protocol"), "groth16"))
        return fault(FILE_MALFORMED, why, "no verification key of protocol groth16");
    vkey->curve = curve ? curve_by_name(curve) : NULL;
    if (!vkey->curve)
        return fault(FILE_MALFORMED, why, "its curve is neither bn128 nor bls12381");
    if (!json_is_array(ic) || json_array_size(ic) == 0 || json_array_size(ic) > UINT32_MAX)
        return fault(FILE_MALFORMED, why, "IC is no array of points");
    vkey->key.public_count = (uint32_t)json_array_size(ic) - 1;
    if (!json_is_integer(count) || json_integer_value(count) != vkey->key.public_count)
        return fault(FILE_MALFORMED, why, "nPublic is not the length of IC less one, %" PRIu32,
                     vkey->key.public_count);
    return FILE_FINE;
}

enum file_fault proof_file_vkey(struct vkey_file *vkey, const json_t *root,
                                struct proof_file_why *why)
{
    *vkey = (struct vkey_file){0};
    struct verification_key *key = &vkey->key;
    enum file_fault kind = read_key_header(vkey, root, why);
    if (!kind)
        kind =
            read_key_g1(vkey, &key->alpha1, json_object_get(root, "vk_alpha_1"), "vk_alpha_1", why);
    if (!kind)
        kind = read_key_g2(vkey, &key->beta2, root, "vk_beta_2", why);
    if (!kind)
        kind = read_key_g2(vkey, &key->gamma2, root, "vk_gamma_2", why);
    if (!kind)
        kind = read_key_g2(vkey, &key->delta2, root, "vk_delta_2", why);
    return kind ? kind : read_ic(vkey, json_object_get(root, "IC"), why);
}
