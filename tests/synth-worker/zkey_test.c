/*
 * Proving keys: every lie that a key can tell about a length, a count, an index or a point is
 * refused by name; every oddity that the reference accepts is accepted; the verification key is
 * what snarkjs exports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "kernels/parallel.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/image_build.h"
#include "synth-worker/vkey_export.h"
#include "tests/synth-worker/container.h"

#define MUL2 "tests/fixtures/bn128/mul2"
#define MUL2_BLS "tests/fixtures/bls12381/mul2"

/* Where the counts stand in section 2 of a bn128 key. */
enum { N8Q = 0, Q = 4, N8R = 36, R = 40, WIRES = 72, PUBLIC = 76, DOMAIN = 80, ALPHA1 = 84 };
enum { BETA1 = ALPHA1 + 64, BETA2 = BETA1 + 64, GAMMA2 = BETA2 + 128, DELTA1 = GAMMA2 + 128 };

static int compile_bytes(const struct bytes *key, struct complaint *complaint)
{
    const struct binfile_source source = {key->data, -1, key->count, "k.zkey"};
    const uint8_t hash[IMAGE_HASH_BYTES] = {1};
    struct image_header header;
    struct image image;
    const char *what;
    int fd = memfd_create("image", MFD_CLOEXEC);
    int status = image_build_file(fd, &source, hash, 0, &parallel_serial, &header, complaint);
    if (!status) {
        assert_int_equal(image_map(&image, fd, &what), 0);
        image_unmap(&image);
    }
    close(fd);
    return status;
}

static int compile(const struct container *file, struct complaint *complaint)
{
    struct bytes key = container_write(file);
    int status = compile_bytes(&key, complaint);
    free(key.data);
    return status;
}

static void expect_refused(struct container *file, const char *text)
{
    struct complaint complaint = {0};
    int status = compile(file, &complaint);
    container_free(file);
    if (status == 0 || strcmp(complaint.text, text))
        fail_msg("status %d, \"%s\" instead of \"%s\"", status, complaint.text, text);
    assert_int_equal(complaint.exit_code, EXIT_INPUT);
}

static void expect_accepted(struct container *file)
{
    struct complaint complaint = {0};
    int status = compile(file, &complaint);
    container_free(file);
    if (status)
        fail_msg("refused: %s", complaint.text);
}

static void test_all_fixtures_compile(void **state)
{
    static const char *const folders[] = {MUL2,
                                          MUL2_BLS,
                                          "tests/fixtures/bn128/nopub",
                                          "tests/fixtures/bn128/noconstr",
                                          "tests/fixtures/bn128/order",
                                          "tests/fixtures/bn128/pos10",
                                          "tests/fixtures/bls12381/pos10"};
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct container file = container_load(folders[i], "key.zkey");
        expect_accepted(&file);
    }
}

static void test_oddities_are_accepted(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    container_reverse(&file);
    expect_accepted(&file);
    file = container_load(MUL2, "key.zkey");
    file.version = 2;
    expect_accepted(&file);
    file = container_load(MUL2, "key.zkey");
    container_add(&file, 10, "once more", 9);
    container_add(&file, 10, "and a second time", 17);
    container_add(&file, 0xfffffffe, "", 0);
    expect_accepted(&file);
    /* every alignment of what follows */
    for (uint64_t bytes = 0; bytes < 8; bytes++) {
        file = container_load(MUL2, "key.zkey");
        container_add(&file, 77, "12345678", bytes);
        container_swap(&file, 0, file.count - 1);
        expect_accepted(&file);
    }
}

static void test_trailing_bytes_are_ignored(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    struct complaint complaint = {0};
    struct bytes key = container_write(&file);
    key.data = realloc(key.data, key.count + 100);
    memset(key.data + key.count, 0xee, 100);
    key.count += 100;
    assert_int_equal(compile_bytes(&key, &complaint), 0);
    free(key.data);
    container_free(&file);
}

static void test_every_prefix_is_refused(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    struct bytes key = container_write(&file);
    size_t whole = key.count;
    for (size_t count = 0; count < whole; count++) {
        struct complaint complaint = {0};
        /* a copy of just that length, so that a sanitizer sees a read past it */
        struct bytes part = {copy_bytes(key.data, count), count};
        part.data = realloc(part.data, count ? count : 1);
        assert_int_not_equal(compile_bytes(&part, &complaint), 0);
        assert_true(complaint.text[0]);
        free(part.data);
    }
    free(key.data);
    container_free(&file);
}

static void test_container_lies(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    memcpy(file.type, "r1cs", 4);
    expect_refused(&file, "k.zkey: Invalid File format");
    file = container_load(MUL2, "key.zkey");
    file.version = 3;
    expect_refused(&file, "k.zkey: Version not supported (3)");
    file = container_load(MUL2, "key.zkey");
    file.claimed_count = 0xffffffff;
    expect_refused(&file, "k.zkey: claims 4294967295 sections, too many");
    file = container_load(MUL2, "key.zkey");
    file.section[file.count - 1].claimed_bytes = UINT64_MAX - 5;
    struct complaint complaint = {0};
    assert_int_not_equal(compile(&file, &complaint), 0);
    assert_non_null(strstr(complaint.text, "claims 18446744073709551610 bytes"));
    container_free(&file);
}

static void test_sections_missing_and_double(void **state)
{
    (void)state;
    for (uint32_t id = 1; id <= 9; id++) {
        char text[100];
        struct container file = container_load(MUL2, "key.zkey");
        container_remove(&file, (uint32_t)(container_find(&file, id) - file.section));
        snprintf(text, sizeof text, "k.zkey: Missing section %u", id);
        expect_refused(&file, text);
        file = container_load(MUL2, "key.zkey");
        struct container_section *section = container_find(&file, id);
        container_add(&file, id, section->payload, section->bytes);
        snprintf(text, sizeof text, "k.zkey: Section Duplicated %u", id);
        expect_refused(&file, text);
    }
}

static void test_other_protocols(void **state)
{
    static const uint32_t protocols[] = {0, 2, 10, 0x80000001};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct container file = container_load(MUL2, "key.zkey");
        put_u32(container_find(&file, 1)->payload, protocols[i]);
        expect_refused(&file, "zkey file is not groth16");
    }
}

static void test_section_lengths(void **state)
{
    /* mul2: 5 wires, 3 public, domain 8 */
    static const struct {
        uint32_t id;
        uint64_t points, bytes;
    } sections[] = {{3, 4, 64}, {5, 5, 64}, {6, 5, 64}, {7, 5, 128}, {8, 1, 64}, {9, 8, 64}};
    static const int changes[] = {-64, -1, 1, 64};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = 0; j < 4; j++) {
            char text[200];
            struct container file = container_load(MUL2, "key.zkey");
            uint64_t right = sections[i].points * sections[i].bytes;
            section_resize(container_find(&file, sections[i].id), right + (uint64_t)changes[j]);
            snprintf(text, sizeof text,
                     "k.zkey: section %u has %d bytes, %u points of %u bytes (%u) are called for",
                     sections[i].id, (int)right + changes[j], (unsigned)sections[i].points,
                     (unsigned)sections[i].bytes, (unsigned)right);
            expect_refused(&file, text);
        }
}

static void expect_header_refused(uint32_t at, uint32_t value, const char *text)
{
    struct container file = container_load(MUL2, "key.zkey");
    put_u32(container_find(&file, 2)->payload + at, value);
    expect_refused(&file, text);
}

static void test_header_lies(void **state)
{
    static const char primes[] =
        "k.zkey: section 2 names the primes of no curve that is known (bn128, bls12381)";
    (void)state;
    expect_header_refused(N8Q, 48, primes);
    expect_header_refused(N8Q, 0xffffffff, primes);
    expect_header_refused(Q, 12345, primes);
    expect_header_refused(N8R, 31, primes);
    expect_header_refused(R, 7, primes);
    expect_header_refused(PUBLIC, 5, "k.zkey: section 2: nPublic 5 is not below nVars 5");
    expect_header_refused(WIRES, 0, "k.zkey: section 2: nPublic 3 is not below nVars 0");
    expect_header_refused(PUBLIC, 0xffffffff,
                          "k.zkey: section 2: nPublic 4294967295 is not below nVars 5");
    expect_header_refused(DOMAIN, 3,
                          "k.zkey: section 2: domainSize 3 is not a power of two of at least 2");
    expect_header_refused(DOMAIN, 0,
                          "k.zkey: section 2: domainSize 0 is not a power of two of at least 2");
    expect_header_refused(DOMAIN, 1,
                          "k.zkey: section 2: domainSize 1 is not a power of two of at least 2");
    expect_header_refused(DOMAIN, 1u << 28,
                          "k.zkey: section 2: domainSize 2^28 is not supported, the largest on "
                          "bn128 is 2^27");
    expect_header_refused(DOMAIN, 1u << 31,
                          "k.zkey: section 2: domainSize 2^31 is not supported, the largest on "
                          "bn128 is 2^27");
    /* counts for which a 32-bit product of lengths would be right */
    expect_header_refused(WIRES, 0x04000005,
                          "k.zkey: section 5 has 320 bytes, 67108869 points of 64 bytes "
                          "(4294967616) are called for");
}

static void test_header_lengths(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    section_resize(container_find(&file, 2), 661);
    expect_refused(&file, "k.zkey: section 2 has 661 bytes, the header calls for 660");
    file = container_load(MUL2, "key.zkey");
    section_resize(container_find(&file, 2), 659);
    expect_refused(&file, "k.zkey: section 2 has 659 bytes, the header calls for 660");
    file = container_load(MUL2, "key.zkey");
    section_resize(container_find(&file, 1), 5);
    expect_refused(&file, "k.zkey: section 1 has 5 bytes, the header calls for 4");
    file = container_load(MUL2_BLS, "key.zkey");
    section_resize(container_find(&file, 2), 660);
    expect_refused(&file, "k.zkey: section 2 has 660 bytes, the header calls for 964");
}

static void expect_coefficient_refused(uint32_t at, uint32_t value, const char *text)
{
    struct container file = container_load(MUL2, "key.zkey");
    put_u32(container_find(&file, 4)->payload + 4 + 44 * 2 + at, value);
    expect_refused(&file, text);
}

static void test_coefficient_lies(void **state)
{
    (void)state;
    expect_coefficient_refused(0, 2, "k.zkey: section 4: coefficient 2: matrix 2 is not below 2");
    expect_coefficient_refused(4, 8, "k.zkey: section 4: coefficient 2: row 8 is not below 8");
    expect_coefficient_refused(4, 0xffffffff,
                               "k.zkey: section 4: coefficient 2: row 4294967295 is not below 8");
    expect_coefficient_refused(8, 5, "k.zkey: section 4: coefficient 2: signal 5 is not below 5");
    struct container file = container_load(MUL2, "key.zkey");
    uint8_t *value = container_find(&file, 4)->payload + 4 + 44 * 3 + 12;
    memcpy(value, curve_by_id(CURVE_BN254)->fr_modulus, 32);
    expect_refused(&file, "k.zkey: section 4: coefficient 3: the value is not below the prime r");
}

static void test_coefficient_counts(void **state)
{
    /* mul2 has 8 coefficients: 356 bytes */
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    put_u32(container_find(&file, 4)->payload, 7);
    expect_refused(&file,
                   "k.zkey: section 4 has 356 bytes, its count of 7 coefficients calls for 312");
    file = container_load(MUL2, "key.zkey");
    put_u32(container_find(&file, 4)->payload, 0xffffffff);
    expect_refused(&file, "k.zkey: section 4 has 356 bytes, its count of 4294967295 coefficients "
                          "calls for 188978560984");
    file = container_load(MUL2, "key.zkey");
    section_resize(container_find(&file, 4), 3);
    expect_refused(&file, "k.zkey: section 4 has 3 bytes, the header calls for 4");
    file = container_load(MUL2, "key.zkey");
    section_resize(container_find(&file, 4), 355);
    expect_refused(&file,
                   "k.zkey: section 4 has 355 bytes, its count of 8 coefficients calls for 356");
}

static void expect_point_refused(uint32_t id, uint32_t index, uint32_t bytes, int too_large)
{
    char text[200];
    struct container file = container_load(MUL2, "key.zkey");
    uint8_t *point = container_find(&file, id)->payload + index * bytes;
    if (too_large)
        memcpy(point, curve_by_id(CURVE_BN254)->fq_modulus, 32);
    else
        point[0] ^= 1;
    snprintf(text, sizeof text, "k.zkey: section %u: point %u %s", id, index,
             too_large ? "has a coordinate that is not below the field's prime"
                       : "is not on the curve");
    expect_refused(&file, text);
}

static void test_point_lies(void **state)
{
    static const struct {
        uint32_t id, index, bytes;
    } points[] = {{3, 3, 64}, {5, 4, 64}, {6, 2, 64}, {7, 2, 128}, {8, 0, 64}, {9, 7, 64}};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        for (int too_large = 0; too_large < 2; too_large++)
            expect_point_refused(points[i].id, points[i].index, points[i].bytes, too_large);
}

static void test_constant_lies(void **state)
{
    static const struct {
        const char *name;
        uint32_t at, bytes;
    } constants[] = {{"alpha1", ALPHA1, 64},  {"beta1", BETA1, 64},   {"beta2", BETA2, 128},
                     {"gamma2", GAMMA2, 128}, {"delta1", DELTA1, 64}, {"delta2", DELTA1 + 64, 128}};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        char text[200];
        struct container file = container_load(MUL2, "key.zkey");
        memset(container_find(&file, 2)->payload + constants[i].at, 0, constants[i].bytes);
        snprintf(text, sizeof text, "k.zkey: section 2: %s is the point at infinity",
                 constants[i].name);
        expect_refused(&file, text);
        file = container_load(MUL2, "key.zkey");
        container_find(&file, 2)->payload[constants[i].at] ^= 1;
        snprintf(text, sizeof text, "k.zkey: section 2: %s is not on the curve", constants[i].name);
        expect_refused(&file, text);
    }
}

static void expect_same_vkey(const char *folder)
{
    size_t expected_bytes, key_bytes, bytes;
    struct complaint complaint = {0};
    unsigned char *expected = file_read(folder, "vkey.json", &expected_bytes);
    unsigned char *key = file_read(folder, "key.zkey", &key_bytes);
    const struct binfile_source source = {key, -1, key_bytes, "k.zkey"};
    char *text;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(vkey_export(&source, out, &complaint), 0);
    fclose(out);
    assert_int_equal(bytes, expected_bytes);
    assert_memory_equal(text, expected, bytes);
    free(text);
    free(key);
    free(expected);
}

static void test_vkey_is_snarkjs_s(void **state)
{
    (void)state;
    expect_same_vkey(MUL2);
    expect_same_vkey(MUL2_BLS);
    expect_same_vkey("tests/fixtures/bn128/nopub");
    expect_same_vkey("tests/fixtures/bn128/noconstr");
    expect_same_vkey("tests/fixtures/bn128/order");
    expect_same_vkey("tests/fixtures/bn128/pos10");
    expect_same_vkey("tests/fixtures/bls12381/pos10");
}

static void test_vkey_refuses(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    struct complaint complaint = {0};
    container_find(&file, 3)->payload[64] ^= 1;
    struct bytes key = container_write(&file);
    const struct binfile_source source = {key.data, -1, key.count, "k.zkey"};
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_not_equal(vkey_export(&source, out, &complaint), 0);
    fclose(out);
    assert_int_equal(bytes, 0);
    assert_string_equal(complaint.text, "k.zkey: section 3: point 1 is not on the curve");
    free(text);
    free(key.data);
    container_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_fixtures_compile),
        cmocka_unit_test(test_oddities_are_accepted),
        cmocka_unit_test(test_trailing_bytes_are_ignored),
        cmocka_unit_test(test_every_prefix_is_refused),
        cmocka_unit_test(test_container_lies),
        cmocka_unit_test(test_sections_missing_and_double),
        cmocka_unit_test(test_other_protocols),
        cmocka_unit_test(test_section_lengths),
        cmocka_unit_test(test_header_lies),
        cmocka_unit_test(test_header_lengths),
        cmocka_unit_test(test_coefficient_lies),
        cmocka_unit_test(test_coefficient_counts),
        cmocka_unit_test(test_point_lies),
        cmocka_unit_test(test_constant_lies),
        cmocka_unit_test(test_vkey_is_snarkjs_s),
        cmocka_unit_test(test_vkey_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
