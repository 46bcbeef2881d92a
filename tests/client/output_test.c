/*
 * Output files: whole or not at all, both or neither, and what stood there before comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/client/folders.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/output.h"
#include "shm/program.h"

static char folder[] = "/tmp/pawl-output-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pawl-output-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    folders_remove(folder);
    return chdir("/");
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *path, const char *text)
{
    char got[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = 0;
    fclose(file);
    assert_string_equal(got, text);
}

static int count_files(void)
{
    int count = 0;
    DIR *dir = opendir(".");
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

static int write_two(const char *one, const char *two)
{
    struct output outputs[2] = {{one, "first", 5}, {two, "second", 6}};
    return output_write(outputs, 2);
}

static void both_appear(void **state)
{
    (void)state;
    struct stat status;
    mode_t mask = umask(027);
    assert_int_equal(write_two("a", "b"), 0);
    umask(mask);
    assert_holds("a", "first");
    assert_holds("b", "second");
    assert_int_equal(count_files(), 2);
    assert_int_equal(stat("a", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void both_are_replaced(void **state)
{
    (void)state;
    put("a", "old, and longer than the new one");
    put("b", "old");
    assert_int_equal(write_two("a", "b"), 0);
    assert_holds("a", "first");
    assert_holds("b", "second");
    assert_int_equal(count_files(), 2);
}

static void neither_where_the_second_has_no_folder(void **state)
{
    (void)state;
    put("a", "old");
    assert_int_equal(write_two("a", "no/b"), EXIT_OUTPUT);
    assert_int_equal(write_two("c", "no/b"), EXIT_OUTPUT);
    assert_int_equal(write_two("no/b", "c"), EXIT_OUTPUT);
    assert_int_equal(write_two("c", ""), EXIT_OUTPUT);
    assert_holds("a", "old");
    assert_int_equal(count_files(), 1);
}

/* /dev/full fails when the first file is already in its place. */
static void the_first_is_put_back(void **state)
{
    (void)state;
    put("a", "old");
    assert_int_equal(write_two("a", "/dev/full"), EXIT_OUTPUT);
    assert_holds("a", "old");
    assert_int_equal(write_two("c", "/dev/full"), EXIT_OUTPUT);
    assert_int_equal(count_files(), 1);
}

static void devices_are_written_to(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(write_two("/dev/null", "b"), 0);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_holds("b", "second");
}

/* The three signals must end the wait for a FIFO's reader, and for one that reads no further. */
static void signals_end_the_wait_for_a_reader(void **state)
{
    (void)state;
    char *text = calloc(1, 1 << 20);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    put("b", "old");
    assert_int_equal(interrupt_open(), 0);
    raise(SIGTERM);
    assert_int_equal(write_two("b", "fifo"), EXIT_CANCELLED);
    assert_holds("b", "old");
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    struct output outputs[2] = {{"b", "new", 3}, {"fifo", text, 1 << 20}};
    assert_int_equal(output_write(outputs, 2), EXIT_CANCELLED);
    assert_holds("b", "old");
    assert_int_equal(count_files(), 2);
    close(reader);
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    assert_int_equal(sigwait(&set, &signal), 0);
    interrupt_close();
    free(text);
}

static void a_fifo_gets_all_however_late_its_reader(void **state)
{
    (void)state;
    char got[16] = "";
    assert_int_equal(mkfifo("fifo", 0600), 0);
    pid_t child = fork();
    if (!child) {
        usleep(150000);
        int fd = open("fifo", O_RDONLY);
        _exit(read(fd, got, sizeof(got)) == 6 && !memcmp(got, "second", 6) ? 0 : 1);
    }
    assert_int_equal(write_two("a", "fifo"), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* One file by two names is one file, whether it is there yet or not. */
static void one_file_is_known_by_any_name(void **state)
{
    (void)state;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/a", folder);
    for (int there = 0; there < 2; there++) {
        assert_true(output_replaces("a", "a"));
        assert_true(output_replaces("a", "./a"));
        assert_true(output_replaces(".//a", path));
        assert_false(output_replaces("a", "b"));
        assert_false(output_replaces("a", "no/a"));
        assert_false(output_replaces("a", ""));
        assert_false(output_replaces("", "a"));
        put("a", "old");
    }
    assert_int_equal(symlink("a", "link"), 0);
    assert_true(output_replaces("link", "a"));
    assert_true(output_replaces("a", "link"));
    assert_false(output_replaces("/dev/null", "/dev/null"));
}

static void links_stay(void **state)
{
    (void)state;
    struct stat status;
    put("real", "old");
    assert_int_equal(symlink("real", "a"), 0);
    assert_int_equal(write_two("a", "b"), 0);
    assert_holds("real", "first");
    assert_int_equal(lstat("a", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void folders_and_long_names_are_refused(void **state)
{
    (void)state;
    char name[5000];
    assert_int_equal(mkdir("d", 0700), 0);
    assert_int_equal(output_check("d"), EXIT_OUTPUT);
    assert_int_equal(write_two("a", "d"), EXIT_OUTPUT);
    memset(name, 'x', sizeof(name));
    name[4999] = 0;
    assert_int_equal(output_check(name), EXIT_OUTPUT);
    name[300] = 0;
    assert_int_equal(write_two("a", name), EXIT_OUTPUT);
    assert_int_equal(count_files(), 1);
    name[255] = 0; /* as long as a name may be */
    assert_int_equal(write_two("a", name), 0);
    assert_holds(name, "second");
}

static void checks_before_long_work(void **state)
{
    (void)state;
    assert_int_equal(output_check("a"), 0);
    assert_int_equal(output_check("./a"), 0);
    assert_int_equal(output_check("/dev/null"), 0);
    assert_int_equal(output_check("no/a"), EXIT_OUTPUT);
    assert_int_equal(output_check(""), EXIT_OUTPUT);
    assert_int_equal(count_files(), 0);
}

static void texts_are_snarkjs(void **state)
{
    (void)state;
    json_t *proof = json_pack("{s:[s,s],s:s}", "pi_a", "1", "2", "protocol", "groth16");
    json_t *publics = json_pack("[s,s]", "7", "8"), *none = json_array();
    assert_int_equal(output_write_proof("p", proof, "q", publics), 0);
    assert_holds("p", "{\n \"pi_a\": [\n  \"1\",\n  \"2\"\n ],\n \"protocol\": \"groth16\"\n}");
    assert_holds("q", "[\n \"7\",\n \"8\"\n]");
    assert_int_equal(output_write_proof("p", proof, "q", none), 0);
    assert_holds("q", "[\n]");
    assert_int_equal(output_write_proof("p", NULL, "q", NULL), EXIT_INTERNAL);
    json_decref(proof);
    json_decref(publics);
    json_decref(none);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(both_appear),
                                       IN_FOLDER(both_are_replaced),
                                       IN_FOLDER(neither_where_the_second_has_no_folder),
                                       IN_FOLDER(the_first_is_put_back),
                                       IN_FOLDER(devices_are_written_to),
                                       IN_FOLDER(signals_end_the_wait_for_a_reader),
                                       IN_FOLDER(a_fifo_gets_all_however_late_its_reader),
                                       IN_FOLDER(one_file_is_known_by_any_name),
                                       IN_FOLDER(links_stay),
                                       IN_FOLDER(folders_and_long_names_are_refused),
                                       IN_FOLDER(checks_before_long_work),
                                       IN_FOLDER(texts_are_snarkjs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
