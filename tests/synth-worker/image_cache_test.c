/*
 * The folder of circuit images: the cache finds what is there, makes what is not, trusts nothing
 * that does not check, and leaves no debris.
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

#include "shm/program.h"
#include "synth-worker/compile.h"
#include "synth-worker/image_cache.h"
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
