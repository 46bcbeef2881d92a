/*
 * Log lines, quoting, and where the socket is.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/program.h"

/* What `log_event` writes to stderr, caught in a pipe-like file. */
static char caught[8192];

static int stderr_away(int *kept)
{
    int fd = memfd_create("stderr", MFD_CLOEXEC);

    *kept = dup(STDERR_FILENO);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    return fd;
}

static void stderr_back(int fd, int kept)
{
    ssize_t got = pread(fd, caught, sizeof(caught) - 1, 0);

    dup2(kept, STDERR_FILENO);
    close(kept);
    close(fd);
    assert_true(got >= 0);
    caught[got] = 0;
}

static void a_line_is_one_event(void **state)
{
    int kept, fd;

    (void)state;
    unsetenv("JOURNAL_STREAM");
    log_open("coordinator");
    fd = stderr_away(&kept);
    log_event("info", "worker_dead", "role=%s pid=%d", "synth", 812);
    stderr_back(fd, kept);
    assert_string_equal(caught + 27,
                        " lvl=info comp=coordinator ev=worker_dead role=synth pid=812\n");
    /* ts=2026-01-02T03:04:05.678Z */
    assert_memory_equal(caught, "ts=2", 4);
    assert_int_equal(caught[13], 'T');
    assert_int_equal(caught[22], '.');
    assert_int_equal(caught[26], 'Z');
    fd = stderr_away(&kept);
    log_event("info", "started", "%s", "");
    stderr_back(fd, kept);
    assert_non_null(strstr(caught, " ev=started"));
}

static void the_journal_knows_the_time(void **state)
{
    int kept, fd;

    (void)state;
    setenv("JOURNAL_STREAM", "8:1", 1);
    log_open("gpu-worker");
    fd = stderr_away(&kept);
    log_event("warn", "memlock", "bytes=%d", 5);
    stderr_back(fd, kept);
    assert_string_equal(caught, "lvl=warn comp=gpu-worker ev=memlock bytes=5\n");
    unsetenv("JOURNAL_STREAM");
}

static void long_and_broken_lines_stay_one_line(void **state)
{
    static char text[9000];
    int kept, fd;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    log_open("x");
    fd = stderr_away(&kept);
    log_event("info", "big", "why=%s", text);
    stderr_back(fd, kept);
    assert_true(strlen(caught) <= 4096);
    assert_ptr_equal(strchr(caught, '\n'), caught + strlen(caught) - 1);
    fd = stderr_away(&kept);
    log_event("info", "broken", "why=%s", "a\nts=0 ev=forged\r");
    stderr_back(fd, kept);
    assert_ptr_equal(strchr(caught, '\n'), caught + strlen(caught) - 1);
    assert_null(strchr(caught, '\r'));
}

static void texts_are_quoted(void **state)
{
    char out[64], small[8];

    (void)state;
    assert_string_equal(log_quote(out, sizeof(out), "plain"), "\"plain\"");
    assert_string_equal(log_quote(out, sizeof(out), ""), "\"\"");
    assert_string_equal(log_quote(out, sizeof(out), "a\"b\\c\nd\x01\x7f"),
                        "\"a\\\"b\\\\c\\nd\\x01\\x7f\"");
    assert_string_equal(log_quote(out, sizeof(out), "\xc3\xa9"), "\"\xc3\xa9\"");
    assert_string_equal(log_quote(small, sizeof(small), "abcdefgh"), "\"abcde\"");
    assert_string_equal(log_quote(small, sizeof(small), "abcd\x01"), "\"abcd\""); /* not half */
    assert_string_equal(log_quote(small, 3, "a"), "\"\"");
    assert_string_equal(log_quote(small, 2, "a"), "");
    small[0] = 'k';
    log_quote(small, 0, "a");
    assert_int_equal(small[0], 'k');
}

static char *write_config(const char *text)
{
    static char path[64];

    strcpy(path, "/tmp/pawl-program-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static int path_with(const char *text, char *out, const char **why)
{
    char *path = write_config(text);
    int error = program_socket_path(out, NULL, path, why);

    unlink(path);
    return error;
}

static void socket_is_found_in_this_order(void **state)
{
    char out[PAWL_SOCKET_BYTES];
    const char *why;

    (void)state;
    setenv("PAWL_SOCKET", "/env.sock", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    char *config =
        write_config("[http]\nsocket = /wrong\n[pawl]\nsocket = /conf.sock\nmemory=1G\n");
    assert_int_equal(program_socket_path(out, "/given.sock", config, &why), 0);
    assert_string_equal(out, "/given.sock");
    assert_int_equal(program_socket_path(out, NULL, config, &why), 0);
    assert_string_equal(out, "/conf.sock");
    unlink(config);
    assert_int_equal(path_with("[pawl]\nmemory = 1G\n", out, &why), 0);
    assert_string_equal(out, "/env.sock");
    unsetenv("PAWL_SOCKET");
    assert_int_equal(program_socket_path(out, NULL, NULL, &why), 0);
    assert_string_equal(out, geteuid() ? "/run/user/7/pawl.sock" : "/run/pawl/pawl.sock");
}

static void bad_socket_paths_are_explained(void **state)
{
    char out[PAWL_SOCKET_BYTES], path[PAWL_SOCKET_BYTES + 1], text[512];
    const char *why;

    (void)state;
    memset(path, 'p', sizeof(path));
    path[PAWL_SOCKET_BYTES - 1] = 0;
    assert_int_equal(program_socket_path(out, path, NULL, &why), 0); /* just fits */
    path[PAWL_SOCKET_BYTES - 1] = 'p';
    path[PAWL_SOCKET_BYTES] = 0;
    assert_int_equal(program_socket_path(out, path, NULL, &why), -ENAMETOOLONG);
    assert_non_null(why);
    snprintf(text, sizeof(text), "[pawl]\nsocket=%s\n", path);
    assert_int_equal(path_with(text, out, &why), -ENAMETOOLONG);
    assert_int_equal(path_with("[pawl]\nsocket=\n", out, &why), -EINVAL);
    assert_int_equal(path_with("[pawl\nsocket=/x\n", out, &why), -EINVAL);
    assert_non_null(why);
    assert_int_equal(program_socket_path(out, "", NULL, &why), -EINVAL);
    assert_int_equal(program_socket_path(out, NULL, "/nonexistent/pawl.ini", &why), -ENOENT);
    assert_non_null(why);
}

static void own_folder_is_known(void **state)
{
    char folder[512], tiny[4];

    (void)state;
    assert_int_equal(program_folder(folder, sizeof(folder)), 0);
    assert_int_equal(folder[0], '/');
    assert_true(folder[strlen(folder) - 1] != '/');
    assert_int_equal(access(folder, X_OK), 0);
    assert_non_null(strstr(folder, "tests/shm"));
    assert_int_equal(program_folder(tiny, sizeof(tiny)), -ENAMETOOLONG);
    assert_int_equal(program_folder(tiny, 0), -ENAMETOOLONG);
    assert_true(strlen(pawl_build_id) > 10 && strlen(pawl_build_id) < 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_event),
        cmocka_unit_test(the_journal_knows_the_time),
        cmocka_unit_test(long_and_broken_lines_stay_one_line),
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(socket_is_found_in_this_order),
        cmocka_unit_test(bad_socket_paths_are_explained),
        cmocka_unit_test(own_folder_is_known),
    };

    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
