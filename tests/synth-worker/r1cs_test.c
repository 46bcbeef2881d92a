/*
 * An r1cs with its key: the image gets C, a key of other constraints is refused by row, a witness
 * that breaks a constraint by its number; and whatever bytes come, nothing worse than a refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "shm/program.h"
#include "synth-worker/compile.h"
#include "synth-worker/hash.h"
#include "tests/synth-worker/pipeline.h"
#include "tests/synth-worker/r1cs.h"
#include "tests/support/scratch.h"

#define MUL2 "tests/fixtures/bn128/mul2"

static const char *const circuits[] = {
    MUL2, "tests/fixtures/bn128/order", "tests/fixtures/bn128/nopub",
    "tests/fixtures/bn128/noconstr", "tests/fixtures/bls12381/mul2"};
#define CIRCUITS (sizeof circuits / sizeof *circuits)

struct subject {
    struct container r1cs, wtns;
    struct bytes key;
    struct image image; /* header NULL where none is mapped */
    uint32_t repeated;
    int check_image; /* of the fillings */
    struct complaint complaint;
};

static void subject_open(struct subject *subject, const char *folder)
{
    *subject = (struct subject){.r1cs = container_load(folder, "circuit.r1cs"),
                                .wtns = container_load(folder, "w1.wtns")};
    subject->key.data = file_read(folder, "key.zkey", &subject->key.count);
}

static void subject_close(struct subject *subject)
{
    image_unmap(&subject->image);
    container_free(&subject->r1cs);
    container_free(&subject->wtns);
    free(subject->key.data);
}

static int compile_bytes(struct subject *subject, const struct bytes *r1cs)
{
    const struct binfile_source key = {subject->key.data, -1, subject->key.count, "k.zkey"};
    const struct binfile_source constraints = {r1cs->data, -1, r1cs->count, "c.r1cs"};
    const uint8_t hash[IMAGE_HASH_BYTES] = {42};
    struct image_header header;
    const char *what;
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(fd >= 0);
    image_unmap(&subject->image);
    subject->complaint = (struct complaint){0};
    int status = image_build_file_r1cs(fd, &key, &constraints, hash, 0, &parallel_serial, &header,
                                       &subject->repeated, &subject->complaint);
    if (!status)
        assert_int_equal(image_map(&subject->image, fd, &what), 0);
    close(fd);
    return status;
}

static int compile(struct subject *subject)
{
    struct bytes r1cs = container_write(&subject->r1cs);
    int status = compile_bytes(subject, &r1cs);
    free(r1cs.data);
    return status;
}

static void expect_refused(struct subject *subject, const char *text)
{
    assert_int_equal(compile(subject), -EINVAL);
    assert_int_equal(subject->complaint.exit_code, EXIT_INPUT);
    if (!strstr(subject->complaint.text, text))
        fail_msg("wanted \"%s\", got \"%s\"", text, subject->complaint.text);
}

static int fill(struct subject *subject, int with_rows)
{
    uint64_t slab_bytes;
    void *slab = pipeline_slab(&subject->image, &slab_bytes);
    struct bytes wtns = container_write(&subject->wtns);
    struct fill_result result;
    struct fill_request request = {.image = &subject->image,
                                   .witness_fd = bytes_to_memfd(wtns.data, wtns.count),
                                   .label = "w.wtns",
                                   .slab = slab,
                                   .generation = 1,
                                   .with_rows = with_rows,
                                   .check_image = subject->check_image};
    subject->complaint = (struct complaint){0};
    int status = fill_slab(&request, &result, &subject->complaint);
    close(request.witness_fd);
    free(wtns.data);
    free(slab);
    return status;
}

static uint32_t constraints_of(struct subject *subject)
{
    return binfile_u32(container_find(&subject->r1cs, 1)->payload + 60);
}

/* The first constraint that the witness breaks, by the definition; their number where none. */
static uint32_t first_broken(struct subject *subject)
{
    const struct curve *curve = curve_by_id(subject->image.header->curve);
    uint64_t *witness = (uint64_t *)container_find(&subject->wtns, 2)->payload;
    const uint8_t *at = container_find(&subject->r1cs, 2)->payload;
    uint32_t constraints = constraints_of(subject);
    for (uint32_t i = 0; i < constraints; i++) {
        struct scalar a = r1cs_combination(curve, &at, witness);
        struct scalar b = r1cs_combination(curve, &at, witness);
        struct scalar c = r1cs_combination(curve, &at, witness), product;
        product = scalar_mul(curve, &a, &b);
        if (!scalar_equal(&product, &c))
            return i;
    }
    return constraints;
}

/* ---- what is right ---- */

static void satisfied_witnesses_pass(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CIRCUITS; i++) {
        struct subject subject;
        subject_open(&subject, circuits[i]);
        if (compile(&subject))
            fail_msg("%s: %s", circuits[i], subject.complaint.text);
        assert_non_null(subject.image.c.row_start);
        assert_int_equal(subject.image.c.rows, constraints_of(&subject));
        assert_int_equal(subject.repeated, 0);
        for (int with_rows = 0; with_rows < 2; with_rows++)
            if (fill(&subject, with_rows))
                fail_msg("%s: %s", circuits[i], subject.complaint.text);
        subject_close(&subject);
    }
}

static void broken_constraints_are_named(void **state)
{
    (void)state;
    unsigned broken = 0;
    for (unsigned i = 0; i < CIRCUITS; i++) {
        struct subject subject;
        subject_open(&subject, circuits[i]);
        assert_int_equal(compile(&subject), 0);
        struct container_section *values = container_find(&subject.wtns, 2);
        for (uint32_t wire = 1; wire < values->bytes / 32; wire++) {
            values->payload[32 * wire] ^= 1;
            uint32_t first = first_broken(&subject);
            for (int with_rows = 0; with_rows < 2; with_rows++) {
                int status = fill(&subject, with_rows);
                assert_int_equal(status, first < constraints_of(&subject) ? -EINVAL : 0);
            }
            char text[80];
            snprintf(text, sizeof text, "w.wtns: constraint %u is not satisfied", first);
            if (first < constraints_of(&subject)) {
                assert_string_equal(subject.complaint.text, text);
                assert_int_equal(subject.complaint.exit_code, EXIT_INPUT);
                broken++;
            }
            values->payload[32 * wire] ^= 1;
        }
        subject_close(&subject);
    }
    assert_true(broken > 5);
}

static void expect_damaged(struct subject *subject, int with_rows)
{
    assert_int_equal(fill(subject, with_rows), -EUCLEAN);
    assert_string_equal(subject->complaint.text, IMAGE_DAMAGED_TEXT);
    assert_int_equal(subject->complaint.exit_code, EXIT_INTERNAL);
}

/* A bit that flipped in the image breaks a constraint, or nothing that a filling sees. */
static void a_damaged_image_is_not_the_witness_s_fault(void **state)
{
    (void)state;
    struct subject subject;
    subject_open(&subject, MUL2);
    assert_int_equal(compile(&subject), 0);
    void *bytes = (void *)(uintptr_t)subject.image.header;
    assert_int_equal(mprotect(bytes, subject.image.bytes, PROT_READ | PROT_WRITE), 0);
    uint32_t *wire = (uint32_t *)(uintptr_t)subject.image.a.wire;
    uint8_t *point = (uint8_t *)(uintptr_t)subject.image.points_a;
    for (int with_rows = 0; with_rows < 2; with_rows++) {
        *wire ^= 1;
        expect_damaged(&subject, with_rows);
        *wire ^= 1;
        *point ^= 1;
        assert_int_equal(fill(&subject, with_rows), 0);
        subject.check_image = 1;
        expect_damaged(&subject, with_rows);
        *point ^= 1;
        assert_int_equal(fill(&subject, with_rows), 0);
        subject.check_image = 0;
    }
    subject_close(&subject);
}

static void an_image_without_one_has_no_c(void **state)
{
    struct complaint complaint = {0};
    struct bytes key;
    struct image image;
    (void)state;
    key.data = file_read(MUL2, "key.zkey", &key.count);
    assert_int_equal(pipeline_compile(&image, &key, 0, &complaint), 0);
    assert_null(image.c.row_start);
    image_unmap(&image);
    free(key.data);
}

/* ---- the constraints of another circuit ---- */

/* Where the combination `side` of constraint `row` begins: its count. */
static uint8_t *combination_at(struct subject *subject, uint32_t row, unsigned side)
{
    uint8_t *at = container_find(&subject->r1cs, 2)->payload;
    for (uint32_t i = 0; i < 3 * row + side; i++)
        at += 4 + 36 * (size_t)binfile_u32(at);
    return at;
}

static void other_rows_are_named(void **state)
{
    (void)state;
    struct subject subject;
    subject_open(&subject, MUL2);
    for (uint32_t row = 0; row < constraints_of(&subject); row++)
        for (unsigned side = 0; side < 2; side++) {
            uint8_t *at = combination_at(&subject, row, side);
            uint8_t kept[32];
            char text[80];
            if (!binfile_u32(at))
                continue;
            snprintf(text, sizeof text, "constraint %u: %c is not what the key has", row,
                     side ? 'B' : 'A');
            memcpy(kept, at + 8, 32);
            memset(at + 8, 0, 32);
            at[8] = (uint8_t)(kept[0] ^ 2); /* another coefficient */
            expect_refused(&subject, text);
            memcpy(at + 8, kept, 32);
            at[4] ^= 1; /* a wire */
            assert_int_equal(compile(&subject), -EINVAL);
            at[4] ^= 1;
        }
    assert_int_equal(compile(&subject), 0);
    uint8_t *c = combination_at(&subject, 0, 2);
    assert_true(binfile_u32(c) > 0);
    memset(c + 8, 0, 32);
    c[8] = 77; /* the key has no C to compare with: the witness shows it */
    assert_int_equal(compile(&subject), 0);
    assert_int_equal(fill(&subject, 1), -EINVAL);
    assert_string_equal(subject.complaint.text, "w.wtns: constraint 0 is not satisfied");
    subject_close(&subject);
}

static void headers_of_others_are_refused(void **state)
{
    static const struct {
        uint32_t at;
        const char *text;
    } fields[] = {{0, "another prime"},
                  {4, "another prime"},
                  {36, "wires"},
                  {40, "public"},
                  {44, "public signals"}};
    (void)state;
    struct subject subject;
    subject_open(&subject, MUL2);
    uint8_t *header = container_find(&subject.r1cs, 1)->payload;
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        header[fields[i].at] ^= 1;
        expect_refused(&subject, fields[i].text);
        header[fields[i].at] ^= 1;
    }
    header[63] = 0xff;
    expect_refused(&subject, "do not fit the key's domain");
    header[63] = 0;
    header[60]--;
    expect_refused(&subject, "past its");
    header[60] += 2;
    expect_refused(&subject, "ends within constraint");
    subject_close(&subject);
}

/* ---- oddities ---- */

/* The first term of A in constraint 0 becomes two of the same wire that make its value. */
static void a_wire_twice_is_summed(void **state)
{
    (void)state;
    struct subject subject;
    subject_open(&subject, MUL2);
    struct container_section *section = container_find(&subject.r1cs, 2);
    const struct curve *curve = curve_by_id(CURVE_BN254);
    struct scalar seven = {{7}}, minus = scalar_neg(curve, &seven), value;
    size_t bytes = section->bytes;
    section_resize(section, bytes + 36);
    uint8_t *at = section->payload;
    memmove(at + 40, at + 4, bytes - 4);
    put_u32(at, binfile_u32(at) + 1);
    memcpy(&value, at + 44, sizeof value);
    value = scalar_add(curve, &value, &minus);
    memcpy(at + 4, at + 40, 4);
    memcpy(at + 8, &seven, sizeof seven);
    memcpy(at + 44, &value, sizeof value);
    if (compile(&subject))
        fail_msg("%s", subject.complaint.text);
    assert_int_equal(subject.repeated, 1);
    assert_int_equal(fill(&subject, 1), 0);
    subject_close(&subject);
}

static void other_sections_are_let_be(void **state)
{
    (void)state;
    struct subject subject;
    uint8_t gates[40] = {1};
    subject_open(&subject, MUL2);
    container_add(&subject.r1cs, 4, gates, sizeof gates);
    container_add(&subject.r1cs, 5, gates, 4);
    container_reverse(&subject.r1cs);
    assert_int_equal(compile(&subject), 0);
    container_add(&subject.r1cs, 1, container_find(&subject.r1cs, 1)->payload, 64);
    expect_refused(&subject, "Section Duplicated 1");
    subject_close(&subject);
}

static void hostile_terms_are_refused(void **state)
{
    (void)state;
    struct subject subject;
    subject_open(&subject, MUL2);
    uint8_t *at = combination_at(&subject, 0, 2), kept[40];
    memcpy(kept, at, sizeof kept);
    put_u32(at, UINT32_MAX);
    expect_refused(&subject, "ends within constraint 0");
    memcpy(at, kept, sizeof kept);
    put_u32(at + 4, UINT32_MAX);
    expect_refused(&subject, "constraint 0: wire 4294967295 is not below");
    memcpy(at, kept, sizeof kept);
    memcpy(at + 8, curve_by_id(CURVE_BN254)->fr_modulus, 32);
    expect_refused(&subject, "is not below the prime r");
    subject_close(&subject);
}

/* Every cut and every flip is taken or refused as the input's fault. */
static void any_bytes_are_survived(void **state)
{
    (void)state;
    struct subject subject;
    unsigned refused = 0;
    subject_open(&subject, MUL2);
    struct bytes whole = container_write(&subject.r1cs);
    for (size_t i = 0; i < 2 * whole.count; i++) {
        struct bytes damaged = {copy_bytes(whole.data, whole.count), whole.count};
        if (i & 1)
            damaged.count = i / 2;
        else
            damaged.data[i / 2] ^= (uint8_t)(1 + i % 255);
        int status = compile_bytes(&subject, &damaged);
        assert_true(status == 0 || status == -EINVAL);
        refused += status != 0;
        free(damaged.data);
    }
    assert_true(refused > whole.count);
    free(whole.data);
    subject_close(&subject);
}

/* ---- files ---- */

static void hash_is_of_both_files(void **state)
{
    char folder[SCRATCH_PATH_BYTES], images[80];
    uint8_t want[IMAGE_HASH_BYTES];
    struct hash hash;
    struct complaint complaint = {0};
    struct compile_result result;
    (void)state;
    assert_int_equal(scratch_make(folder, "r1cs"), 0);
    snprintf(images, sizeof images, "%s/images", folder);
    struct compile_request request = {
        .key_path = MUL2 "/key.zkey", .images = images, .r1cs_path = MUL2 "/circuit.r1cs"};
    hash_begin(&hash);
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        unsigned char *data = file_read(MUL2, i ? "circuit.r1cs" : "key.zkey", &bytes);
        hash_add(&hash, data, bytes);
        free(data);
    }
    hash_end(&hash, want);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(compile_key(&request, &parallel_serial, &result, &complaint), 0);
        assert_int_equal(result.cached, again);
        assert_memory_equal(result.header.hash, want, sizeof want);
        assert_true(result.header.rows_c > 0);
    }
    request.r1cs_path = NULL;
    assert_int_equal(compile_key(&request, &parallel_serial, &result, &complaint), 0);
    assert_memory_not_equal(result.header.hash, want, sizeof want);
    request.r1cs_path = "/nonexistent/circuit.r1cs";
    assert_int_equal(compile_key(&request, &parallel_serial, &result, &complaint), -ENOENT);
    assert_non_null(strstr(complaint.text, "/nonexistent/circuit.r1cs: cannot be opened"));
    assert_int_equal(scratch_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(satisfied_witnesses_pass),
        cmocka_unit_test(broken_constraints_are_named),
        cmocka_unit_test(a_damaged_image_is_not_the_witness_s_fault),
        cmocka_unit_test(an_image_without_one_has_no_c),
        cmocka_unit_test(other_rows_are_named),
        cmocka_unit_test(headers_of_others_are_refused),
        cmocka_unit_test(a_wire_twice_is_summed),
        cmocka_unit_test(other_sections_are_let_be),
        cmocka_unit_test(hostile_terms_are_refused),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(hash_is_of_both_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
