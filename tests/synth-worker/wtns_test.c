/*
 * Witness files: every lie about a length, a count or a value is refused with the text that users
 * know; every oddity that the reference accepts is accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/wtns.h"
#include "tests/synth-worker/container.h"

#define MUL2 "tests/fixtures/bn128/mul2"
#define MUL2_BLS "tests/fixtures/bls12381/mul2"

enum { WIRES = 5 };

static int read_bytes(const struct bytes *file, uint64_t *out, struct complaint *complaint)
{
    struct binfile_source source;
    struct wtns wtns;
    int fd = bytes_to_memfd(file->data, file->count);
    int status = binfile_source_fd(&source, fd, "w.wtns", complaint);
    if (!status)
        status = wtns_open(&wtns, &source, curve_by_id(CURVE_BN254), WIRES, complaint);
    if (!status)
        status = wtns_read(&wtns, 0, WIRES, out, complaint);
    close(fd);
    return status;
}

static int read_container(struct container *file, uint64_t *out, struct complaint *complaint)
{
    struct bytes bytes = container_write(file);
    int status = read_bytes(&bytes, out, complaint);
    free(bytes.data);
    container_free(file);
    return status;
}

static void expect_refused(struct container *file, const char *text)
{
    struct complaint complaint = {0};
    uint64_t values[WIRES * FR_WORDS];
    int status = read_container(file, values, &complaint);
    if (status == 0 || strcmp(complaint.text, text))
        fail_msg("status %d, \"%s\" instead of \"%s\"", status, complaint.text, text);
    assert_int_equal(complaint.exit_code, EXIT_INPUT);
}

/* mul2's w1: 1, 33, ... ; whatever the container looks like, its values are read. */
static void expect_accepted(struct container *file)
{
    struct complaint complaint = {0};
    uint64_t values[WIRES * FR_WORDS], expected[WIRES * FR_WORDS];
    memcpy(expected, container_find(file, 2)->payload, sizeof expected);
    if (read_container(file, values, &complaint))
        fail_msg("refused: %s", complaint.text);
    assert_memory_equal(values, expected, sizeof values);
}

static void test_accepted(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "w1.wtns");
    expect_accepted(&file);
    for (uint32_t version = 0; version < 2; version++) {
        file = container_load(MUL2, "w2.wtns");
        file.version = version;
        expect_accepted(&file);
    }
    file = container_load(MUL2, "w1.wtns");
    container_reverse(&file);
    expect_accepted(&file);
    /* the first of two counts */
    file = container_load(MUL2, "w1.wtns");
    container_add(&file, 2, "short", 5);
    container_add(&file, 1, "shorter", 7);
    expect_accepted(&file);
    for (uint64_t bytes = 0; bytes < 8; bytes++) {
        file = container_load(MUL2, "w1.wtns");
        container_add(&file, 9, "12345678", bytes);
        container_swap(&file, 0, 2);
        expect_accepted(&file);
    }
}

static void test_container(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    expect_refused(&file, "w.wtns: Invalid File format");
    file = container_load(MUL2, "w1.wtns");
    file.version = 3;
    expect_refused(&file, "w.wtns: Version not supported (3)");
    file = container_load(MUL2, "w1.wtns");
    container_remove(&file, 0);
    expect_refused(&file, "w.wtns: Missing section 1");
    file = container_load(MUL2, "w1.wtns");
    container_remove(&file, 1);
    expect_refused(&file, "w.wtns: Missing section 2");
}

static void test_other_curve(void **state)
{
    static const char text[] = "Curve of the witness does not match the curve of the proving key";
    (void)state;
    struct container file = container_load(MUL2_BLS, "w1.wtns");
    expect_refused(&file, text);
    file = container_load(MUL2, "w1.wtns");
    container_find(&file, 1)->payload[20] ^= 4;
    expect_refused(&file, text);
    file = container_load(MUL2, "w1.wtns");
    section_resize(container_find(&file, 1), 56);
    put_u32(container_find(&file, 1)->payload, 48);
    expect_refused(&file, text);
}

static void test_lengths(void **state)
{
    (void)state;
    struct container file = container_load("tests/fixtures/bn128/order", "w1.wtns");
    expect_refused(&file, "Invalid witness length. Circuit: 5, witness: 6");
    file = container_load(MUL2, "w1.wtns");
    put_u32(container_find(&file, 1)->payload + 36, 0xffffffff);
    expect_refused(&file, "Invalid witness length. Circuit: 5, witness: 4294967295");
    file = container_load(MUL2, "w1.wtns");
    section_resize(container_find(&file, 2), 128);
    expect_refused(&file,
                   "w.wtns: section 2 has 128 bytes, 5 values of 32 bytes (160) are called for");
    file = container_load(MUL2, "w1.wtns");
    section_resize(container_find(&file, 2), 161);
    expect_refused(&file,
                   "w.wtns: section 2 has 161 bytes, 5 values of 32 bytes (160) are called for");
    file = container_load(MUL2, "w1.wtns");
    put_u32(container_find(&file, 1)->payload, 0xffffffff);
    expect_refused(&file, "w.wtns: section 1 has 40 bytes, its field of 4294967295 bytes calls for "
                          "4294967303");
    file = container_load(MUL2, "w1.wtns");
    section_resize(container_find(&file, 1), 3);
    expect_refused(&file, "w.wtns: section 1 has 3 bytes, its field of 32 bytes calls for 40");
    file = container_load(MUL2, "w1.wtns");
    container_find(&file, 2)->claimed_bytes = UINT64_MAX;
    expect_refused(&file, "w.wtns: section 2 claims 18446744073709551615 bytes, the file has 160 "
                          "left");
}

static void test_values(void **state)
{
    const uint64_t *modulus = curve_by_id(CURVE_BN254)->fr_modulus;
    (void)state;
    for (unsigned index = 1; index < WIRES; index++) {
        char text[100];
        struct container file = container_load(MUL2, "w1.wtns");
        memcpy(container_find(&file, 2)->payload + 32 * index, modulus, 32);
        snprintf(text, sizeof text, "w.wtns: the value at index %u is not below the prime r",
                 index);
        expect_refused(&file, text);
        file = container_load(MUL2, "w1.wtns");
        memset(container_find(&file, 2)->payload + 32 * index, 0xff, 32);
        expect_refused(&file, text);
        file = container_load(MUL2, "w1.wtns");
        memcpy(container_find(&file, 2)->payload + 32 * index, modulus, 32);
        container_find(&file, 2)->payload[32 * index]--; /* r - 1 */
        expect_accepted(&file);
    }
    struct container file = container_load(MUL2, "w1.wtns");
    container_find(&file, 2)->payload[0] = 2;
    expect_refused(&file, "w.wtns: the value at index 0 is not 1");
    file = container_load(MUL2, "w1.wtns");
    container_find(&file, 2)->payload[31] = 1;
    expect_refused(&file, "w.wtns: the value at index 0 is not 1");
}

static void test_every_prefix_is_refused(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "w1.wtns");
    struct bytes bytes = container_write(&file);
    size_t whole = bytes.count;
    for (bytes.count = 0; bytes.count < whole; bytes.count++) {
        struct complaint complaint = {0};
        uint64_t values[WIRES * FR_WORDS];
        assert_int_not_equal(read_bytes(&bytes, values, &complaint), 0);
        assert_true(complaint.text[0]);
    }
    free(bytes.data);
    container_free(&file);
}

static void test_a_file_cut_meanwhile(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "w1.wtns");
    struct bytes bytes = container_write(&file);
    struct complaint complaint = {0};
    struct binfile_source source;
    struct wtns wtns;
    uint64_t values[WIRES * FR_WORDS];
    int fd = bytes_to_memfd(bytes.data, bytes.count);
    assert_int_equal(binfile_source_fd(&source, fd, "w.wtns", &complaint), 0);
    assert_int_equal(wtns_open(&wtns, &source, curve_by_id(CURVE_BN254), WIRES, &complaint), 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes.count - 1), 0);
    assert_int_not_equal(wtns_read(&wtns, 0, WIRES, values, &complaint), 0);
    assert_string_equal(complaint.text, "w.wtns: became shorter while it was read");
    close(fd);
    free(bytes.data);
    container_free(&file);
}

static void test_what_is_no_file(void **state)
{
    struct complaint complaint = {0};
    struct binfile_source source;
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_not_equal(binfile_source_fd(&source, ends[0], "a\nb", &complaint), 0);
    assert_string_equal(complaint.text, "a?b: not a regular file");
    close(ends[0]);
    close(ends[1]);
}

static void test_too_many_sections(void **state)
{
    (void)state;
    struct bytes file = {calloc(1, 12 + 12 * 70000), 12 + 12 * 70000};
    struct complaint complaint = {0};
    uint64_t values[WIRES * FR_WORDS];
    memcpy(file.data, "wtns", 4);
    put_u32(file.data + 4, 2);
    put_u32(file.data + 8, 70000);
    assert_int_not_equal(read_bytes(&file, values, &complaint), 0);
    assert_string_equal(complaint.text, "w.wtns: claims 70000 sections, too many");
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_other_curve),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_every_prefix_is_refused),
        cmocka_unit_test(test_a_file_cut_meanwhile),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_too_many_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
