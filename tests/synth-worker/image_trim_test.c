/*
 * The bound on the folder of images: the least recently used goes first, and nothing that is in
 * use, named, or just made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/parallel.h"
#include "synth-worker/compile.h"
#include "synth-worker/complaint.h"
#include "synth-worker/hash.h"
#include "synth-worker/image_cache.h"
#include "tests/support/scratch.h"

#define KEYS 4
#define KEY "tests/fixtures/bn128/mul2/key.zkey"

static char folder[SCRATCH_PATH_BYTES], images[80], paths[KEYS][200];
static uint64_t image_bytes;

/* Keys that differ in bytes behind their last section, which nobody reads: images of one size. */
static void write_key(int number)
{
    char bytes[65536], path[100];
    FILE *in = fopen(KEY, "rb");
    assert_non_null(in);
    size_t length = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    snprintf(path, sizeof path, "%s/key%d", folder, number);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    for (int i = 0; i <= number; i++)
        fputc('x', out);
    assert_int_equal(fclose(out), 0);
}

/* Compiles a key, with room for so many images; times are set apart so that their order is sure. */
static void compile(int number, uint64_t room)
{
    struct compile_result result;
    struct complaint complaint = {0};
    char key[100], hex[HASH_HEX_BYTES];
    snprintf(key, sizeof key, "%s/key%d", folder, number);
    const struct compile_request request = {
        .key_path = key, .images = images, .images_max = room * image_bytes};
    if (compile_key(&request, &parallel_serial, &result, &complaint))
        fail_msg("%s", complaint.text);
    image_bytes = result.header.file_bytes;
    hash_hex(hex, result.header.hash);
    snprintf(paths[number], sizeof paths[number], "%s/%s.image", images, hex);
    usleep(20000);
}

static int is_there(int number)
{
    return access(paths[number], F_OK) == 0;
}

static int set_up(void **state)
{
    (void)state;
    if (scratch_make(folder, "trim"))
        return -1;
    snprintf(images, sizeof images, "%s/images", folder);
    image_bytes = 0;
    for (int i = 0; i < KEYS; i++)
        write_key(i);
    for (int i = 0; i < 3; i++)
        compile(i, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return scratch_remove(folder);
}

static void without_a_bound_all_stay(void **state)
{
    (void)state;
    compile(3, 0);
    assert_true(is_there(0) && is_there(1) && is_there(2) && is_there(3));
}

static void the_least_recently_used_goes(void **state)
{
    (void)state;
    compile(0, 0); /* found, and so used again */
    compile(3, 3);
    assert_true(is_there(0) && is_there(2) && is_there(3));
    assert_false(is_there(1));
}

static void what_is_in_use_stays(void **state)
{
    (void)state;
    int fd = open(paths[0], O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    compile(3, 2);
    assert_true(is_there(0) && is_there(3));
    assert_false(is_there(1) || is_there(2));
    close(fd);
}

static void what_a_name_leads_to_stays(void **state)
{
    char names[100], link[120], target[240];
    (void)state;
    snprintf(names, sizeof names, "%s/names", images);
    snprintf(link, sizeof link, "%s/circuit", names);
    snprintf(target, sizeof target, "../%s", strrchr(paths[1], '/') + 1);
    assert_int_equal(mkdir(names, 0700), 0);
    assert_int_equal(symlink(target, link), 0);
    compile(3, 1);
    assert_true(is_there(1) && is_there(3));
    assert_false(is_there(0) || is_there(2));
}

static void the_image_just_made_stays(void **state)
{
    (void)state;
    image_bytes /= 2;
    compile(3, 1);
    assert_true(is_there(3));
    assert_false(is_there(0) || is_there(1) || is_there(2));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_bound_all_stay),  TEST(the_least_recently_used_goes),
        TEST(what_is_in_use_stays),      TEST(what_a_name_leads_to_stays),
        TEST(the_image_just_made_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
