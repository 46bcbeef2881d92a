/*
 * snarkjs's files, read with distrust: the shipped ones are fine; each lie is named for what it is,
 * malformed or invalid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/client/proof_file.h"

static const char *const folders[] = {"tests/fixtures/bn128/mul2", "tests/fixtures/bls12381/mul2"};
#define FOLDERS 2
#define BN128_R "21888242871839275222246405745257275088548364400416034343698204186575808495617"

struct files {
    json_t *vkey, *proof, *publics;
};

static json_t *load(const char *folder, const char *name)
{
    char path[256];
    struct proof_file_why why;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    json_t *root = proof_file_load(path, &why);
    assert_non_null(root);
    return root;
}

static void open_files(struct files *files, const char *folder)
{
    json_t *result = load(folder, "w1.r12345.s67890.json");
    files->vkey = load(folder, "vkey.json");
    files->proof = json_incref(json_object_get(result, "proof"));
    files->publics = json_incref(json_object_get(result, "public"));
    json_decref(result);
}

static void close_files(struct files *files)
{
    json_decref(files->vkey);
    json_decref(files->proof);
    json_decref(files->publics);
}

/* The worst of the three files' faults; the verdict of the pairing where there is none. */
static enum file_fault judge(const struct files *files, int *valid)
{
    struct proof_file_why why;
    struct vkey_file vkey;
    struct proof proof;
    uint64_t *publics = NULL;
    *valid = 0;
    enum file_fault kind = proof_file_vkey(&vkey, files->vkey, &why);
    if (kind)
        return kind;
    kind = proof_file_publics(&publics, vkey.key.public_count, vkey.curve, files->publics, &why);
    if (!kind)
        kind = proof_file_proof(&proof, vkey.curve, files->proof, &why);
    if (!kind)
        *valid = vkey.curve->proof_verify(&vkey.key, publics, &proof);
    free(publics);
    free(vkey.ic);
    return kind;
}

static void expect(const struct files *files, enum file_fault wanted)
{
    int valid;
    assert_int_equal(judge(files, &valid), wanted);
    assert_false(valid);
}

static void shipped_files_are_fine(void **state)
{
    (void)state;
    for (int i = 0; i < FOLDERS; i++) {
        struct files files;
        int valid;
        open_files(&files, folders[i]);
        assert_int_equal(judge(&files, &valid), FILE_FINE);
        assert_true(valid);
        close_files(&files);
    }
}

static void infinity_is_read_and_not_valid(void **state)
{
    (void)state;
    struct files files;
    int valid;
    open_files(&files, folders[0]);
    json_object_set_new(files.proof, "pi_a", json_pack("[s,s,s]", "0", "1", "0"));
    assert_int_equal(judge(&files, &valid), FILE_FINE);
    assert_false(valid);
    json_object_set_new(files.proof, "pi_b",
                        json_pack("[[s,s],[s,s],[s,s]]", "0", "0", "1", "0", "0", "0"));
    assert_int_equal(judge(&files, &valid), FILE_FINE);
    assert_false(valid);
    close_files(&files);
}

struct lie {
    const char *member, *text; /* JSON that takes the member's place; NULL: it is missing */
    enum file_fault fault;
};

static void tell_lies(const struct lie *lies, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        struct files files;
        open_files(&files, folders[0]);
        json_t *object = *(json_t **)((char *)&files + offset);
        if (lies[i].text)
            json_object_set_new(object, lies[i].member,
                                json_loads(lies[i].text, JSON_DECODE_ANY, NULL));
        else
            json_object_del(object, lies[i].member);
        expect(&files, lies[i].fault);
        close_files(&files);
    }
}

static void lies_of_a_proof(void **state)
{
    (void)state;
    static const struct lie lies[] = {
        {"pi_a", NULL, FILE_MALFORMED},
        {"pi_a", "7", FILE_MALFORMED},
        {"pi_a", "[]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"2\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"2\",\"1\",\"1\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"2\",\"3\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"-2\",\"1\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"0x2\",\"1\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\" 2\",\"1\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"\",\"1\"]", FILE_MALFORMED},
        {"pi_a", "[1,2,\"1\"]", FILE_MALFORMED},
        {"pi_a", "[\"1\",\"3\",\"1\"]", FILE_INVALID}, /* not on the curve */
        /* q + 2 for 2 */
        {"pi_a",
         "[\"1\",\"218882428718392752222464057452572750886963111572978236626890378946452262085"
         "85\",\"1\"]",
         FILE_INVALID},
        {"pi_b", "[[\"1\",\"2\"],[\"1\",\"2\"]]", FILE_MALFORMED},
        {"pi_b", "[[\"1\",\"2\"],[\"1\",\"2\"],[\"0\",\"1\"]]", FILE_MALFORMED},
        {"pi_b", "[[\"1\",\"2\"],[\"1\",\"2\"],[\"1\",\"0\"]]", FILE_INVALID},
        {"pi_b", "[\"1\",[\"1\",\"2\"],[\"1\",\"0\"]]", FILE_MALFORMED},
        {"pi_c", "{}", FILE_MALFORMED},
        {"protocol", "\"plonk\"", FILE_MALFORMED},
        {"curve", "\"bls12381\"", FILE_INVALID},
        {"curve", "7", FILE_INVALID}};
    tell_lies(lies, sizeof(lies) / sizeof(*lies), offsetof(struct files, proof));
}

static void lies_of_a_key(void **state)
{
    (void)state;
    static const struct lie lies[] = {
        {"protocol", NULL, FILE_MALFORMED},     {"protocol", "\"plonk\"", FILE_MALFORMED},
        {"curve", NULL, FILE_MALFORMED},        {"curve", "\"secp256k1\"", FILE_MALFORMED},
        {"nPublic", NULL, FILE_MALFORMED},      {"nPublic", "4", FILE_MALFORMED},
        {"nPublic", "-1", FILE_MALFORMED},      {"nPublic", "\"3\"", FILE_MALFORMED},
        {"IC", NULL, FILE_MALFORMED},           {"IC", "[]", FILE_MALFORMED},
        {"IC", "[7,7,7,7]", FILE_MALFORMED},    {"vk_alpha_1", "[\"1\",\"3\",\"1\"]", FILE_INVALID},
        {"vk_beta_2", NULL, FILE_MALFORMED},    {"vk_gamma_2", "[]", FILE_MALFORMED},
        {"vk_delta_2", "\"x\"", FILE_MALFORMED}};
    tell_lies(lies, sizeof(lies) / sizeof(*lies), offsetof(struct files, vkey));
}

/* (0, 2) lies on BLS12-381's curve and has order 3. */
static void outside_the_subgroup(void **state)
{
    (void)state;
    struct files files;
    int valid;
    open_files(&files, folders[1]);
    json_object_set_new(files.vkey, "vk_alpha_1", json_pack("[s,s,s]", "0", "2", "1"));
    expect(&files, FILE_INVALID);
    close_files(&files);
    open_files(&files, folders[1]);
    json_object_set_new(files.proof, "pi_c", json_pack("[s,s,s]", "0", "2", "1"));
    assert_int_equal(judge(&files, &valid), FILE_FINE);
    assert_false(valid);
    close_files(&files);
}

static void lies_of_publics(void **state)
{
    (void)state;
    static const struct lie lies[] = {
        {"", "{}", FILE_MALFORMED},
        {"", "[]", FILE_INVALID},
        {"", "[\"1\",\"2\"]", FILE_INVALID},
        {"", "[\"1\",\"2\",\"3\",\"4\"]", FILE_INVALID},
        {"", "[\"1\",\"2\",null]", FILE_MALFORMED},
        {"", "[\"1\",\"2\",-3]", FILE_MALFORMED},
        {"", "[\"1\",\"2\",1.5]", FILE_MALFORMED},
        {"", "[\"1\",\"2\",\"\"]", FILE_MALFORMED},
        {"", "[\"1\",\"2\",[\"3\"]]", FILE_MALFORMED},
        {"", "[\"1\",\"2\",\"" BN128_R "\"]", FILE_INVALID},
        {"", "[\"1\",\"2\",\"9" BN128_R BN128_R "\"]", FILE_INVALID},
        {"", "[\"1\",\"2\",\"9" BN128_R BN128_R BN128_R "\"]", FILE_MALFORMED}};
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct files files;
        open_files(&files, folders[0]);
        json_decref(files.publics);
        files.publics = json_loads(lies[i].text, 0, NULL);
        expect(&files, lies[i].fault);
        close_files(&files);
    }
}

/* snarkjs takes numbers for strings. */
static void publics_as_numbers(void **state)
{
    (void)state;
    struct files files;
    struct proof_file_why why;
    uint64_t *publics;
    json_t *numbers = json_loads("[3, 9223372036854775807]", 0, NULL);
    open_files(&files, folders[0]);
    assert_int_equal(proof_file_publics(&publics, 2, curve_by_id(CURVE_BN254), numbers, &why),
                     FILE_FINE);
    assert_int_equal(publics[0], 3);
    assert_int_equal(publics[4], INT64_MAX);
    assert_int_equal(publics[5], 0);
    free(publics);
    json_decref(numbers);
    close_files(&files);
}

static void load_text(const char *text, int is_json)
{
    char path[] = "/tmp/pawl-proof-file-XXXXXX";
    struct proof_file_why why = {""};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    json_t *root = proof_file_load(path, &why);
    assert_int_equal(root != NULL, is_json);
    assert_int_equal(why.text[0] != 0, !is_json);
    json_decref(root);
    unlink(path);
}

static void files_that_are_no_json(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "[\"\xff\"]", "[] x"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        load_text(texts[i], 0);
    load_text("[]", 1);
    char *deep = malloc(100001);
    memset(deep, '[', 100000);
    deep[100000] = 0;
    load_text(deep, 0);
    free(deep);
    struct proof_file_why why;
    assert_null(proof_file_load("/nonexistent/file", &why));
    assert_non_null(strstr(why.text, "No such file"));
    assert_null(proof_file_load("/", &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_files_are_fine), cmocka_unit_test(infinity_is_read_and_not_valid),
        cmocka_unit_test(lies_of_a_proof),        cmocka_unit_test(lies_of_a_key),
        cmocka_unit_test(outside_the_subgroup),   cmocka_unit_test(lies_of_publics),
        cmocka_unit_test(publics_as_numbers),     cmocka_unit_test(files_that_are_no_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
