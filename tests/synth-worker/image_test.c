/*
 * Circuit images: the key's content in its places, made alike by any number of threads, with a
 * checksum that every flipped bit changes, of points in their subgroups.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/stat.h>

#include "kernels/decimal.h"
#include "synth-worker/threads.h"
#include "tests/synth-worker/pipeline.h"

#define MUL2 "tests/fixtures/bn128/mul2"
#define POS10 "tests/fixtures/bn128/pos10"

static void test_content_is_the_key_s(void **state)
{
    static const struct {
        uint32_t from, to;
    } pairs[] = {{3, IMAGE_IC},        {5, IMAGE_POINTS_A}, {6, IMAGE_POINTS_B1},
                 {7, IMAGE_POINTS_B2}, {8, IMAGE_POINTS_C}, {9, IMAGE_POINTS_H}};
    struct complaint complaint = {0};
    struct image image;
    (void)state;
    struct container file = container_load(POS10, "key.zkey");
    struct bytes key = container_write(&file);
    assert_int_equal(pipeline_compile(&image, &key, 0, &complaint), 0);
    for (unsigned i = 0; i < 6; i++) {
        const struct image_section *section = image_find(image.header, pairs[i].to, 0, 0, 0);
        const struct container_section *from = container_find(&file, pairs[i].from);
        assert_int_equal(section->bytes, from->bytes);
        assert_memory_equal((const uint8_t *)image.header + section->offset, from->payload,
                            from->bytes);
    }
    /* alpha1, beta1, delta1, beta2, gamma2, delta2, from alpha1 beta1 beta2 gamma2 delta1 delta2 */
    const uint8_t *points = container_find(&file, 2)->payload + 84, *made = image.verification;
    assert_memory_equal(made, points, 128);
    assert_memory_equal(made + 128, points + 384, 64);
    assert_memory_equal(made + 192, points + 128, 256);
    assert_memory_equal(made + 448, points + 448, 128);
    image_unmap(&image);
    free(key.data);
    container_free(&file);
}

/* The matrices do not depend on the order of the records across rows, and keep doubles. */
static void test_records_in_any_order(void **state)
{
    struct complaint complaint = {0};
    struct image straight, shuffled;
    uint64_t random = 5;
    (void)state;
    struct container file = container_load(POS10, "key.zkey");
    struct bytes key = container_write(&file);
    assert_int_equal(pipeline_compile(&straight, &key, 0, &complaint), 0);
    free(key.data);
    uint8_t *records = container_find(&file, 4)->payload + 4, kept[44];
    uint32_t count = binfile_u32(records - 4);
    for (uint32_t i = count; i > 1; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint8_t *other = records + 44 * (size_t)((random >> 33) % i);
        uint8_t *last = records + 44 * (size_t)(i - 1);
        memcpy(kept, last, 44);
        memcpy(last, other, 44);
        memcpy(other, kept, 44);
    }
    key = container_write(&file);
    assert_int_equal(pipeline_compile(&shuffled, &key, 0, &complaint), 0);
    assert_int_equal(shuffled.header->rows_a, straight.header->rows_a);
    assert_memory_equal(shuffled.a.row_start, straight.a.row_start,
                        4 * ((size_t)straight.a.rows + 1));
    assert_memory_equal(shuffled.b.row_start, straight.b.row_start,
                        4 * ((size_t)straight.b.rows + 1));
    struct container witness = container_load(POS10, "w1.wtns");
    struct bytes wtns = container_write(&witness);
    uint64_t bytes;
    void *slab[2] = {pipeline_slab(&straight, &bytes), pipeline_slab(&shuffled, &bytes)};
    assert_int_equal(pipeline_fill(&straight, &wtns, slab[0], &complaint), 0);
    assert_int_equal(pipeline_fill(&shuffled, &wtns, slab[1], &complaint), 0);
    assert_memory_equal(slab[0], slab[1], bytes);
    free(slab[0]);
    free(slab[1]);
    free(wtns.data);
    free(key.data);
    container_free(&witness);
    container_free(&file);
    image_unmap(&straight);
    image_unmap(&shuffled);
}

static void test_several_threads_make_the_same(void **state)
{
    struct complaint complaint = {0};
    struct parallel many;
    struct image_header header;
    struct stat status[2];
    size_t bytes;
    (void)state;
    unsigned char *key = file_read(POS10, "key.zkey", &bytes);
    const struct binfile_source source = {key, -1, bytes, "k"};
    const uint8_t hash[IMAGE_HASH_BYTES] = {0};
    int fd[2];
    threads_init(&many, 7);
    for (int i = 0; i < 2; i++) {
        fd[i] = memfd_create("image", MFD_CLOEXEC);
        assert_int_equal(image_build_file(fd[i], &source, hash, 1, i ? &many : &parallel_serial,
                                          &header, &complaint),
                         0);
        fstat(fd[i], &status[i]);
    }
    assert_int_equal(status[0].st_size, status[1].st_size);
    void *made[2];
    for (int i = 0; i < 2; i++)
        made[i] = mmap(NULL, (size_t)status[0].st_size, PROT_READ, MAP_SHARED, fd[i], 0);
    assert_memory_equal(made[0], made[1], (size_t)status[0].st_size);
    for (int i = 0; i < 2; i++) {
        munmap(made[i], (size_t)status[0].st_size);
        close(fd[i]);
    }
    free(key);
}

/* ---- the checksum ---- */

/* The image in memory of our own, to be damaged. */
static struct image copy_image(const struct image *image)
{
    struct image copy = {.bytes = image->bytes};
    void *bytes = aligned_alloc(64, (image->bytes + 63) / 64 * 64);
    assert_non_null(bytes);
    memcpy(bytes, image->header, image->bytes);
    copy.header = bytes;
    return copy;
}

static void expect_damage(const struct image *image, uint64_t offset, unsigned bit)
{
    uint8_t *at = (uint8_t *)(uintptr_t)image->header + offset;
    *at ^= (uint8_t)(1u << bit);
    if (image_check(image, NULL, NULL) != -EUCLEAN)
        fail_msg("bit %u of byte %llu is missed", bit, (unsigned long long)offset);
    *at ^= (uint8_t)(1u << bit);
}

static void flip_bits_of_sections(const char *case_folder)
{
    struct complaint complaint = {0};
    struct image image;
    struct container file = container_load(case_folder, "key.zkey");
    struct bytes key = container_write(&file);
    assert_int_equal(pipeline_compile(&image, &key, 0, &complaint), 0);
    assert_int_equal(image_check(&image, NULL, NULL), 0);
    struct image copy = copy_image(&image);
    assert_int_equal(image_check(&copy, NULL, NULL), 0);
    for (uint32_t i = 0; i < image.header->section_count; i++) {
        const struct image_section *section = &image.header->sections[i];
        for (unsigned k = 0; k < 4 && section->bytes; k++)
            expect_damage(&copy, section->offset + (section->bytes - 1) * k / 3, 7 - 2 * k);
    }
    expect_damage(&copy, 0, 0);
    expect_damage(&copy, offsetof(struct image_header, checksum) + 3, 3);
    expect_damage(&copy, image.bytes - 1, 7);
    assert_int_equal(image_check(&copy, NULL, NULL), 0);
    free((void *)(uintptr_t)copy.header);
    free(key.data);
    container_free(&file);
    image_unmap(&image);
}

static void test_a_flipped_bit_changes_the_checksum(void **state)
{
    (void)state;
    flip_bits_of_sections(POS10);
    flip_bits_of_sections("tests/fixtures/bls12381/mul2");
}

/* Damage of whole words: a hole, and two words that change places. */
static void test_holes_and_swapped_words(void **state)
{
    struct complaint complaint = {0};
    struct image image;
    (void)state;
    struct container file = container_load(POS10, "key.zkey");
    struct bytes key = container_write(&file);
    assert_int_equal(pipeline_compile(&image, &key, 0, &complaint), 0);
    struct image copy = copy_image(&image);
    const struct image_section *section = image_find(image.header, IMAGE_POINTS_A, 0, 0, 0);
    uint64_t *words = (uint64_t *)((uint8_t *)(uintptr_t)copy.header + section->offset), word;
    word = words[8];
    words[8] = words[9];
    words[9] = word;
    assert_int_equal(image_check(&copy, NULL, NULL), -EUCLEAN);
    words[9] = words[8];
    words[8] = word;
    assert_int_equal(image_check(&copy, NULL, NULL), 0);
    memset(words, 0, 4096);
    assert_int_equal(image_check(&copy, NULL, NULL), -EUCLEAN);
    free((void *)(uintptr_t)copy.header);
    free(key.data);
    container_free(&file);
    image_unmap(&image);
}

static int count_calls(void *arg)
{
    return ++*(int *)arg == 2;
}

/* Bytes that are no whole words, and a check that is stopped. */
static void test_odd_lengths_and_pauses(void **state)
{
    enum { WORDS = 5 << 20 };
    (void)state;
    struct image image = {.bytes = 8 * (uint64_t)WORDS + 3};
    int calls = 0;
    struct image_header *header = calloc(WORDS + 1, 8);
    assert_non_null(header);
    image.header = header;
    header->checksum = image_checksum_part(header, image.bytes, 0, WORDS + 1);
    assert_int_equal(image_checksum_words(image.bytes), WORDS + 1);
    assert_int_equal(image_check(&image, NULL, NULL), 0);
    expect_damage(&image, image.bytes - 1, 0);
    expect_damage(&image, image.bytes - 4, 0);
    assert_int_equal(image_check(&image, count_calls, &calls), -ECANCELED);
    assert_int_equal(calls, 2);
    free(header);
}

/* ---- subgroups ---- */

static void put_fq2(uint8_t *to, const struct curve *curve, const char *c0, const char *c1)
{
    uint64_t plain[FQ_WORDS_MAX] = {0}, montgomery[FQ_WORDS_MAX];
    const char *const text[] = {c0, c1};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(decimal_read(plain, curve->fq_bytes / 8, text[i], strlen(text[i])), 0);
        assert_int_equal(curve->fq_to_montgomery(montgomery, plain), 0);
        memcpy(to + i * curve->fq_bytes, montgomery, curve->fq_bytes);
    }
}

static void expect_outside(struct container *file, const char *text)
{
    struct complaint complaint = {0};
    struct image image;
    struct bytes key = container_write(file);
    assert_int_equal(pipeline_compile(&image, &key, 0, &complaint), 0);
    image_unmap(&image);
    assert_int_not_equal(pipeline_compile(&image, &key, 1, &complaint), 0);
    assert_string_equal(complaint.text, text);
    free(key.data);
    container_free(file);
}

static void put_outside_bn254(uint8_t *point)
{
    const struct curve *curve = curve_by_id(CURVE_BN254);
    put_fq2(point, curve, "1", "0");
    put_fq2(point + 64, curve,
            "18278151005453108793778860132295291098363647455926340152056652516292830556603",
            "5912654199736721486680175016176231956195085055698687135131307249486702594212");
}

static void test_points_outside_the_subgroup(void **state)
{
    (void)state;
    struct container file = container_load(MUL2, "key.zkey");
    put_outside_bn254(container_find(&file, 7)->payload + 2 * 128);
    expect_outside(&file, "k.zkey: section 7: point 2 is not in the subgroup of order r");
    file = container_load(POS10, "key.zkey");
    put_outside_bn254(container_find(&file, 7)->payload + 777 * 128);
    expect_outside(&file, "k.zkey: section 7: point 777 is not in the subgroup of order r");
    file = container_load(MUL2, "key.zkey");
    put_outside_bn254(container_find(&file, 2)->payload + 84 + 128 + 128);
    expect_outside(&file, "k.zkey: section 2: gamma2 is not in the subgroup of order r");
}

static void test_points_outside_the_subgroup_bls12381(void **state)
{
    const struct curve *curve = curve_by_id(CURVE_BLS12381);
    (void)state;
    /* (0, 2) has order 3 on y^2 = x^3 + 4 */
    static const uint32_t sections[] = {3, 5, 6, 8, 9};
    for (unsigned i = 0; i < 5; i++) {
        char text[100];
        struct container file = container_load("tests/fixtures/bls12381/mul2", "key.zkey");
        uint8_t *point = container_find(&file, sections[i])->payload;
        put_fq2(point, curve, "0", "2");
        snprintf(text, sizeof text, "k.zkey: section %u: point 0 is not in the subgroup of order r",
                 sections[i]);
        expect_outside(&file, text);
    }
    struct container file = container_load("tests/fixtures/bls12381/mul2", "key.zkey");
    uint8_t *point = container_find(&file, 7)->payload + 4 * 192;
    put_fq2(point, curve, "2", "0");
    put_fq2(point + 96, curve,
            "38134140628210888969658792444433580966362282473291754159431860290729829094619454"
            "41384695595240360445618611812101176",
            "35680276807655855859454909070427416695586397537785474623147609638153996582717273"
            "25750766584361357481230047117262172");
    expect_outside(&file, "k.zkey: section 7: point 4 is not in the subgroup of order r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_is_the_key_s),
        cmocka_unit_test(test_records_in_any_order),
        cmocka_unit_test(test_several_threads_make_the_same),
        cmocka_unit_test(test_a_flipped_bit_changes_the_checksum),
        cmocka_unit_test(test_holes_and_swapped_words),
        cmocka_unit_test(test_odd_lengths_and_pauses),
        cmocka_unit_test(test_points_outside_the_subgroup),
        cmocka_unit_test(test_points_outside_the_subgroup_bls12381),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
