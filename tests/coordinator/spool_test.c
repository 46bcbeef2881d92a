/*
 * The spool: names and modes, what survives, copies that are hashed as they lie there; and files
 * below path_roots.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "coordinator/config.h"
#include "coordinator/path_roots.h"
#include "coordinator/spool.h"
#include "coordinator/spool_file.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH_PATH_BYTES];

static int make_folder(void **state)
{
    (void)state;
    return scratch_make(folder, "spool");
}

static int remove_folder(void **state)
{
    (void)state;
    return scratch_remove(folder);
}

static const char *below(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int write_file(const char *name, const void *data, size_t bytes)
{
    int fd = open(below(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    return fd;
}

static void expect_digest(const struct spool_file *file, const void *data, size_t bytes)
{
    uint8_t digest[32];
    unsigned length;
    assert_int_equal(EVP_Digest(data, bytes, digest, &length, EVP_sha256(), NULL), 1);
    assert_memory_equal(file->digest, digest, 32);
}

/* ---- the folder ---- */

static void files_are_ours_alone(void **state)
{
    struct spool spool;
    struct stat status;
    char name[SPOOL_NAME_BYTES], again[SPOOL_NAME_BYTES], path[64];
    (void)state;
    umask(0);
    assert_int_equal(spool_open(&spool, folder), 0);
    assert_int_equal(stat(below("spool"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    int fd = spool_create(&spool, name), other = spool_create(&spool, again);
    assert_true(fd >= 0 && other >= 0);
    assert_int_equal(strlen(name), SPOOL_NAME_BYTES - 1);
    assert_string_not_equal(name, again);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    snprintf(path, sizeof(path), "spool/%s", name);
    assert_int_equal(access(below(path), F_OK), 0);
    assert_int_equal(spool_sync(&spool), 0);
    assert_int_equal(spool.synced, 2); /* one fsync for both */
    close(fd);
    close(other);
    assert_int_equal(spool_remove(&spool, name), 0);
    assert_int_equal(spool_remove(&spool, name), 0); /* gone already */
    assert_int_equal(spool_open_file(&spool, name), -ENOENT);
    fd = spool_open_file(&spool, again);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), -1);
    close(fd);
    assert_int_equal(spool_open_file(&spool, "../spool"), -EINVAL);
    assert_int_equal(spool_remove(&spool, "../jobs.db"), -EINVAL);
    assert_int_equal(spool_remove(&spool, again), 0);
    spool_close(&spool);
}

static int is_owned(void *arg, const char *name)
{
    return strcmp(arg, name) == 0;
}

static void the_sweep_keeps_what_is_owned(void **state)
{
    struct spool spool;
    char names[5][SPOOL_NAME_BYTES];
    (void)state;
    assert_int_equal(spool_open(&spool, folder), 0);
    for (int i = 0; i < 5; i++)
        close(spool_create(&spool, names[i]));
    close(write_file("spool/README", "x", 1)); /* nothing of ours */
    spool_close(&spool);
    assert_int_equal(spool_open(&spool, folder), 0); /* the next start */
    assert_int_equal(spool_sweep(&spool, is_owned, names[3]), 4);
    int fd = spool_open_file(&spool, names[3]);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(access(below("spool/README"), F_OK), 0);
    assert_int_equal(spool_remove(&spool, names[3]), 0);
    spool_close(&spool);
}

/* ---- files ---- */

static void appended_bytes_are_hashed(void **state)
{
    const char *const state_dirs[] = {folder, NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct spool spool;
        struct spool_file file;
        char back[16];
        assert_int_equal(spool_open(&spool, state_dirs[i]), 0);
        assert_int_equal(spool_file_create(&file, &spool), 0);
        assert_int_equal(spool_file_write(&file, " \n{\"a", 5), 0);
        assert_int_equal(spool_file_hash(&file), 0); /* one may look, and go on */
        expect_digest(&file, " \n{\"a", 5);
        assert_int_equal(spool_file_write(&file, "\":1}", 4), 0);
        assert_int_equal(spool_file_finish(&file), 0);
        expect_digest(&file, " \n{\"a\":1}", 9);
        assert_int_equal(file.bytes, 9);
        assert_true(spool_file_is_json(&file));
        int fd = i ? file.fd : spool_open_file(&spool, file.name);
        assert_int_equal(pread(fd, back, sizeof(back), 0), 9);
        assert_int_equal(pwrite(fd, "x", 1, 0), -1); /* read-only from now on */
        if (!i)
            close(fd);
        spool_file_drop(&file);
        spool_close(&spool);
    }
}

static void copy_all(struct spool_file *file, int from, uint64_t bytes, unsigned *slices)
{
    int64_t got = 1;
    *slices = 0;
    while (got > 0 && file->bytes < bytes) {
        got = spool_file_copy(file, from, bytes);
        assert_true(got >= 0 && (uint64_t)got <= SPOOL_SLICE_BYTES);
        ++*slices;
    }
}

static void copies_are_taken_in_slices(void **state)
{
    const char *const state_dirs[] = {folder, NULL};
    size_t bytes = 2 * SPOOL_SLICE_BYTES + 12345;
    char *data = malloc(bytes + 100);
    (void)state;
    assert_non_null(data);
    for (size_t i = 0; i < bytes + 100; i++)
        data[i] = (char)(i * 31 ^ i >> 9);
    int from = write_file("source", data, bytes + 100);
    for (int i = 0; i < 2; i++) {
        struct spool spool;
        struct spool_file file;
        unsigned slices;
        assert_int_equal(spool_open(&spool, state_dirs[i]), 0);
        assert_int_equal(spool_file_create(&file, &spool), 0);
        copy_all(&file, from, bytes, &slices); /* and no byte more */
        assert_int_equal(slices, 3);
        assert_int_equal(file.bytes, bytes);
        assert_int_equal(spool_file_finish(&file), 0);
        expect_digest(&file, data, bytes);
        spool_file_drop(&file);
        spool_close(&spool);
    }
    close(from);
    free(data);
}

static void a_source_that_shrinks_ends_early(void **state)
{
    struct spool spool;
    struct spool_file file;
    unsigned slices;
    (void)state;
    int from = write_file("source", "abcdef", 6);
    assert_int_equal(spool_open(&spool, folder), 0);
    assert_int_equal(spool_file_create(&file, &spool), 0);
    assert_int_equal(ftruncate(from, 2), 0);
    copy_all(&file, from, 6, &slices);
    assert_int_equal(file.bytes, 2);
    spool_file_drop(&file);
    assert_int_equal(spool_sweep(&spool, is_owned, ""), 0); /* nothing is left */
    spool_close(&spool);
    close(from);
}

/* ---- path_roots ---- */

static int open_path(const struct config *config, const char *path)
{
    const char *rest, *root = path_roots_find(config, path, &rest);
    return root ? path_roots_open(root, rest, RESOLVE_NO_SYMLINKS) : -EPERM;
}

static void only_regular_files_below_the_roots_are_opened(void **state)
{
    struct config *config = calloc(1, sizeof(*config));
    char outside[300];
    (void)state;
    assert_non_null(config);
    assert_int_equal(mkdir(below("root"), 0700), 0);
    assert_int_equal(mkdir(below("root/in"), 0700), 0);
    close(write_file("root/in/w", "w", 1));
    close(write_file("secret", "s", 1));
    close(write_file("root2", "s", 1));
    assert_int_equal(symlink("in/w", below("root/link")), 0);
    assert_int_equal(symlink("in", below("root/folder")), 0);
    assert_int_equal(mkfifo(below("root/fifo"), 0600), 0);
    assert_int_equal(open_path(config, below("root/in/w")), -EPERM); /* no roots at all */
    config->path_root_count = 1;
    snprintf(config->path_roots[0], sizeof(config->path_roots[0]), "%s/", below("root"));
    int fd = open_path(config, below("root/in/w"));
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(open_path(config, below("root")), -EPERM);
    assert_int_equal(open_path(config, below("root2")), -EPERM);
    assert_int_equal(open_path(config, below("secret")), -EPERM);
    snprintf(outside, sizeof(outside), "%s/../secret", below("root"));
    assert_int_equal(open_path(config, outside), -EXDEV);
    assert_int_equal(open_path(config, below("root/link")), -ELOOP);
    assert_int_equal(open_path(config, below("root/folder/w")), -ELOOP);
    assert_int_equal(open_path(config, below("root/in")), -EINVAL);
    assert_int_equal(open_path(config, below("root/fifo")), -EINVAL);
    assert_int_equal(open_path(config, below("root/none")), -ENOENT);
    strcpy(config->path_roots[0], "/");
    assert_int_equal(open_path(config, "/proc/version"), -EINVAL);
    assert_int_equal(open_path(config, "/dev/null"), -EINVAL);
    free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_ours_alone),
        cmocka_unit_test(the_sweep_keeps_what_is_owned),
        cmocka_unit_test(appended_bytes_are_hashed),
        cmocka_unit_test(copies_are_taken_in_slices),
        cmocka_unit_test(a_source_that_shrinks_ends_early),
        cmocka_unit_test(only_regular_files_below_the_roots_are_opened),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
