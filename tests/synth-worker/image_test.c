/*
 * Circuit images and their folder: the image is the key's content in its places; the cache finds
 * what is there, makes what is not, trusts nothing that does not check, and leaves no debris.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kernels/decimal.h"
#include "shm/program.h"
#include "synth-worker/compile.h"
#include "synth-worker/image_cache.h"
#include "synth-worker/threads.h"
#include "tests/synth-worker/pipeline.h"
#include "tests/support/scratch.h"

#define MUL2 "tests/fixtures/bn128/mul2"
#define POS10 "tests/fixtures/bn128/pos10"

static char folder[SCRATCH_PATH_BYTES], images[80];

static int make_folder(void **state)
{
    (void)state;
    if (scratch_make(folder, "image"))
        return -1;
    snprintf(images, sizeof images, "%s/a/images", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return scratch_remove(folder);
}

static int check_image; /* of the compiles from now on */

static int compile_path(const char *path, int subgroups, struct compile_result *result,
                        struct complaint *complaint)
{
    const struct compile_request request = {.key_path = path,
                                            .images = images,
                                            .check_subgroups = subgroups,
                                            .check_image = check_image};
    return compile_key(&request, &parallel_serial, result, complaint);
}

static void expect_compiled(const char *path, int subgroups, int cached)
{
    struct compile_result result;
    struct complaint complaint = {0};
    if (compile_path(path, subgroups, &result, &complaint))
        fail_msg("%s", complaint.text);
    assert_int_equal(result.cached, cached);
    if (subgroups)
        assert_int_equal(result.header.flags & IMAGE_SUBGROUPS_CHECKED, IMAGE_SUBGROUPS_CHECKED);
}

/* A copy of a fixture's key in the test's folder. */
static const char *copy_key(const char *from, const char *name)
{
    static char path[160];
    size_t bytes;
    unsigned char *key = file_read(from, "key.zkey", &bytes);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(key, 1, bytes, file), bytes);
    fclose(file);
    free(key);
    return path;
}

static unsigned count_entries(const char *path, const char *prefix)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        count += !strncmp(entry->d_name, prefix, strlen(prefix)) && strcmp(entry->d_name, ".") &&
                 strcmp(entry->d_name, "..");
    closedir(directory);
    return count;
}

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

/* ---- the folder ---- */

static void test_found_by_hash(void **state)
{
    (void)state;
    expect_compiled(MUL2 "/key.zkey", 0, 0);
    /* a copy is another file of the same hash */
    expect_compiled(copy_key(MUL2, "copy.zkey"), 0, 1);
    assert_int_equal(count_entries(images, ".tmp"), 0);
}

static void test_subgroups_make_it_anew_once(void **state)
{
    (void)state;
    expect_compiled(MUL2 "/key.zkey", 0, 0);
    expect_compiled(MUL2 "/key.zkey", 1, 0);
    expect_compiled(MUL2 "/key.zkey", 1, 1);
    expect_compiled(MUL2 "/key.zkey", 0, 1);
    assert_int_equal(count_entries(images, ""), count_entries(images, "by-file") + 1);
}

static struct image_cache open_cache(void)
{
    struct image_cache cache;
    struct complaint complaint = {0};
    if (image_cache_open(&cache, images, &complaint))
        fail_msg("%s", complaint.text);
    return cache;
}

static void test_found_by_file_once_settled(void **state)
{
    struct stat key;
    struct compile_result result;
    struct complaint complaint = {0};
    struct image_header header;
    (void)state;
    const char *path = copy_key(MUL2, "key.zkey");
    assert_int_equal(compile_path(path, 0, &result, &complaint), 0);
    stat(path, &key);
    struct image_cache cache = open_cache();
    /* changed a moment ago: not remembered by its times */
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &header), 0);
    key.st_ctim.tv_sec -= 10;
    image_cache_link_file(&cache, &key, result.header.hash);
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &header), 1);
    assert_memory_equal(header.hash, result.header.hash, IMAGE_HASH_BYTES);
    assert_int_equal(image_cache_find_file(&cache, &key, IMAGE_SUBGROUPS_CHECKED, &header), 0);
    image_cache_link_file(&cache, &key, result.header.hash); /* again: no harm */
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &header), 1);
    key.st_mtim.tv_nsec ^= 1;
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &header), 0);
    image_cache_close(&cache);
}

static const char *image_path(const struct image_header *header)
{
    static char path[200];
    char name[IMAGE_CACHE_NAME_BYTES];
    image_cache_name(name, header->hash);
    snprintf(path, sizeof path, "%s/%s", images, name);
    return path;
}

static void test_a_damaged_image_is_made_anew(void **state)
{
    struct compile_result result;
    struct complaint complaint = {0};
    (void)state;
    assert_int_equal(compile_path(MUL2 "/key.zkey", 0, &result, &complaint), 0);
    const char *path = image_path(&result.header);
    chmod(path, 0600);
    assert_int_equal(truncate(path, 3000), 0);
    expect_compiled(MUL2 "/key.zkey", 0, 0);
    /* the image of another key under this one's name */
    struct compile_result other;
    assert_int_equal(compile_path("tests/fixtures/bn128/order/key.zkey", 0, &other, &complaint), 0);
    char from[200];
    strcpy(from, image_path(&other.header));
    assert_int_equal(rename(from, image_path(&result.header)), 0);
    expect_compiled(MUL2 "/key.zkey", 0, 0);
    expect_compiled(MUL2 "/key.zkey", 0, 1);
}

static void damage_middle(const char *path)
{
    uint8_t byte;
    assert_int_equal(chmod(path, 0600), 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    off_t middle = lseek(fd, 0, SEEK_END) / 2;
    assert_int_equal(pread(fd, &byte, 1, middle), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, middle), 1);
    close(fd);
}

/* Found by hash and by file alike, but only by who asks for it: the start of a proof reads none. */
static void test_a_damaged_body_is_made_anew_where_asked(void **state)
{
    struct compile_result result;
    struct complaint complaint = {0};
    struct stat key;
    (void)state;
    const char *path = copy_key(POS10, "key.zkey");
    assert_int_equal(compile_path(path, 0, &result, &complaint), 0);
    stat(path, &key);
    key.st_ctim.tv_sec -= 10;
    struct image_cache cache = open_cache();
    image_cache_link_file(&cache, &key, result.header.hash);
    damage_middle(image_path(&result.header));
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &result.header), 1);
    cache.checks_bodies = 1;
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &result.header), 0);
    expect_compiled(path, 0, 1);
    check_image = 1;
    expect_compiled(path, 0, 0);
    assert_int_equal(image_cache_find_file(&cache, &key, 0, &result.header), 1);
    expect_compiled(path, 0, 1);
    check_image = 0;
    assert_int_equal(count_entries(images, ".tmp-"), 0);
    image_cache_close(&cache);
}

static void test_debris_of_the_killed_is_swept(void **state)
{
    struct complaint complaint = {0};
    (void)state;
    struct image_cache cache = open_cache();
    pid_t child = fork();
    if (child == 0) {
        struct image_draft draft;
        if (!image_cache_draft(&cache, &draft, &complaint))
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(count_entries(images, ".tmp-"), 1);
    /* one that is being made, whatever pid its name has, is left alone */
    struct image_draft alive;
    assert_int_equal(image_cache_draft(&cache, &alive, &complaint), 0);
    image_cache_close(&cache);
    expect_compiled(MUL2 "/key.zkey", 0, 0);
    assert_int_equal(count_entries(images, ".tmp-"), 1);
    cache = open_cache();
    image_cache_discard(&cache, &alive);
    assert_int_equal(count_entries(images, ".tmp-"), 0);
    image_cache_close(&cache);
}

static void test_two_compiles_at_once(void **state)
{
    enum { COMPILES = 6 };
    pid_t child[COMPILES];
    (void)state;
    for (int i = 0; i < COMPILES; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct compile_result result;
            struct complaint complaint = {0};
            int status = compile_path(POS10 "/key.zkey", i == 3, &result, &complaint);
            if (status)
                fprintf(stderr, "%s\n", complaint.text);
            _exit(status != 0);
        }
    }
    for (int i = 0; i < COMPILES; i++) {
        int ended;
        waitpid(child[i], &ended, 0);
        assert_int_equal(ended, 0);
    }
    assert_int_equal(count_entries(images, ".tmp-"), 0);
    expect_compiled(POS10 "/key.zkey", 0, 1);
}

static void test_a_refused_key_leaves_nothing(void **state)
{
    struct compile_result result;
    struct complaint complaint = {0};
    (void)state;
    char path[160];
    strcpy(path, copy_key(MUL2, "bad.zkey"));
    assert_int_equal(truncate(path, 3000), 0);
    assert_int_not_equal(compile_path(path, 0, &result, &complaint), 0);
    assert_int_equal(complaint.exit_code, EXIT_INPUT);
    assert_int_equal(count_entries(images, ""), 0);
    assert_int_not_equal(compile_path("/nowhere/k.zkey", 0, &result, &complaint), 0);
    assert_int_equal(complaint.exit_code, EXIT_INPUT);
    assert_string_equal(complaint.text,
                        "/nowhere/k.zkey: cannot be opened: No such file or directory");
    assert_int_not_equal(compile_path("/dev/null", 0, &result, &complaint), 0);
    assert_string_equal(complaint.text, "/dev/null: not a regular file");
}

static void test_a_folder_that_cannot_be(void **state)
{
    struct compile_result result;
    struct complaint complaint = {0};
    (void)state;
    snprintf(images, sizeof images, "%s", "/dev/null/images");
    assert_int_not_equal(compile_path(MUL2 "/key.zkey", 0, &result, &complaint), 0);
    assert_int_equal(complaint.exit_code, EXIT_OUTPUT);
}

static void test_the_line_that_is_printed(void **state)
{
    const struct compile_request request = {.key_path = "k", .images = "/tmp/a \"b\"\\\n"};
    struct compile_result result = {.header = {.curve = CURVE_BLS12381,
                                               .wires = 5,
                                               .public_count = 3,
                                               .log2_domain = 3,
                                               .slab_bytes = 8192,
                                               .file_bytes = 6336}};
    char *text;
    size_t bytes;
    (void)state;
    FILE *out = open_memstream(&text, &bytes);
    compile_print(out, &request, &result);
    fclose(out);
    assert_string_equal(
        text,
        "{\"hash\":\"0000000000000000000000000000000000000000000000000000000000000000\","
        "\"slab_bytes\":8192,\"curve\":\"bls12381\",\"wires\":5,\"public\":3,\"domain\":8,"
        "\"bytes\":6336,\"device_bytes\":0,\"cached\":false,\"path\":\"/tmp/a \\\"b\\\"\\\\\\u000a/"
        "0000000000000000000000000000000000000000000000000000000000000000.image\"}\n");
    free(text);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

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
        IN_FOLDER(test_found_by_hash),
        IN_FOLDER(test_subgroups_make_it_anew_once),
        IN_FOLDER(test_found_by_file_once_settled),
        IN_FOLDER(test_a_damaged_image_is_made_anew),
        IN_FOLDER(test_a_damaged_body_is_made_anew_where_asked),
        IN_FOLDER(test_debris_of_the_killed_is_swept),
        IN_FOLDER(test_two_compiles_at_once),
        IN_FOLDER(test_a_refused_key_leaves_nothing),
        IN_FOLDER(test_a_folder_that_cannot_be),
        cmocka_unit_test(test_the_line_that_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
