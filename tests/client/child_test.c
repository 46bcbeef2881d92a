/*
 * The other programs as children: what they print is taken, their fds are those named, and none
 * outlives us. A shell script beside the test's own file stands in for a program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/client/child.h"
#include "coordinator/client/interrupt.h"
#include "shm/program.h"

#define PROGRAM "child_test.fake"

static char script[PATH_MAX];

static int write_script(void **state)
{
    (void)state;
    char folder[PATH_MAX - 64];
    if (program_folder(folder, sizeof(folder)))
        return -1;
    snprintf(script, sizeof(script), "%s/" PROGRAM, folder);
    FILE *file = fopen(script, "we");
    if (!file)
        return -1;
    fputs("#!/bin/sh\neval \"$1\"\n", file);
    return fclose(file) || chmod(script, 0700);
}

static int remove_script(void **state)
{
    (void)state;
    return unlink(script);
}

static int run(struct child_output *output, const char *line, size_t limit)
{
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", line);
    char *words[] = {copy, NULL};
    return child_run(output, PROGRAM, words, limit, -1);
}

static void outputs_are_taken(void **state)
{
    (void)state;
    struct child_output output;
    assert_int_equal(
        run(&output, "echo hello; echo one >&2; echo " PROGRAM ": two >&2; exit 3", 99), 0);
    assert_string_equal(output.text, "hello\n");
    assert_string_equal(output.error, "two");
    assert_true(WIFEXITED(output.status) && WEXITSTATUS(output.status) == 3);
    free(output.text);
    assert_int_equal(run(&output, "kill -SEGV $$", 99), 0);
    assert_true(WIFSIGNALED(output.status) && WTERMSIG(output.status) == SIGSEGV);
    assert_string_equal(output.error, "");
    free(output.text);
}

static void outputs_are_bounded(void **state)
{
    (void)state;
    struct child_output output;
    assert_int_equal(run(&output, "yes", 100000), -EMSGSIZE);
    free(output.text);
    assert_int_equal(run(&output, "head -c 300000 /dev/zero", 300000), 0);
    assert_int_equal(output.bytes, 300000);
    free(output.text);
    assert_int_equal(run(&output, "head -c 99999 /dev/zero | tr '\\0' x >&2", 10), 0);
    assert_int_equal(strlen(output.error), sizeof(output.error) - 1);
    free(output.text);
}

/* Also where it ignores SIGTERM, and where its own child holds the pipes. */
static void one_that_does_not_end_is_stopped(void **state)
{
    (void)state;
    struct child_output output;
    char line[] = "trap '' TERM; echo begun; sleep 60 & wait; sleep 60";
    char *words[] = {line, NULL};
    assert_int_equal(child_run(&output, PROGRAM, words, 99, 300), -ETIMEDOUT);
    assert_string_equal(output.text, "begun\n");
    free(output.text);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void no_such_program(void **state)
{
    (void)state;
    struct child_output output;
    char *words[] = {NULL};
    assert_int_equal(child_run(&output, "nothing-like-it", words, 9, -1), -ENOENT);
}

/* 0, 1, 2 and what was named; nothing else, whatever is open here. */
static void no_fd_but_those_named(void **state)
{
    (void)state;
    struct child_output output;
    int extra = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(run(&output, "ls /proc/self/fd | tr '\\n' ' '", 99), 0);
    assert_string_equal(output.text, "0 1 2 3 "); /* 3 is the folder that ls reads */
    free(output.text);
    close(extra);
}

static void start(struct child *child, const char *line, int dies_with_us)
{
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", line);
    char *words[] = {copy, NULL};
    struct child_spec spec = {PROGRAM, words, {-1, -1, -1}, 3, dies_with_us};
    assert_int_equal(child_start(child, &spec), 0);
}

static void ends_are_waited_for(void **state)
{
    (void)state;
    struct child child;
    int status;
    start(&child, "sleep 0.3; exit 7", 1);
    assert_int_equal(getpgid(child.pid) == getpgid(0), 0);
    assert_int_equal(child_wait(&child, 0, &status), 0);
    assert_int_equal(child_wait(&child, 10000, &status), 1);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(child.pid, 0);
    child_stop(&child, 1000); /* nothing to stop */
}

static void what_does_not_end_is_killed(void **state)
{
    (void)state;
    struct child child;
    start(&child, "trap '' TERM; sleep 60 & wait; wait; sleep 60", 1);
    usleep(200000);
    pid_t pid = child.pid;
    child_stop(&child, 100);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

/* A child of a process that is killed dies with it. */
static void none_outlives_us(void **state)
{
    (void)state;
    int pids[2], status;
    pid_t grandchild = 0;
    assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct child child;
        start(&child, "exec sleep 60", 1);
        if (write(pids[1], &child.pid, sizeof(child.pid)) != sizeof(child.pid))
            _exit(1);
        pause();
    }
    assert_int_equal(read(pids[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
    usleep(200000);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    for (int i = 0; i < 100 && kill(grandchild, 0) == 0; i++) {
        char path[64], stat[256] = "";
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)grandchild);
        FILE *file = fopen(path, "re");
        if (file && !fgets(stat, sizeof(stat), file))
            stat[0] = 0;
        if (file)
            fclose(file);
        if (strstr(stat, ") Z "))
            break; /* dead; whoever adopted it has not noticed yet */
        usleep(50000);
        assert_true(i < 99);
    }
    close(pids[0]);
    close(pids[1]);
}

/* The last test: the signal stays pending. */
static void a_signal_ends_a_run(void **state)
{
    (void)state;
    struct child_output output;
    assert_int_equal(interrupt_open(), 0);
    assert_false(interrupt_came());
    kill(getpid(), SIGINT);
    assert_true(interrupt_came());
    assert_int_equal(run(&output, "sleep 60", 9), -EINTR);
    free(output.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs_are_taken),
                                       cmocka_unit_test(outputs_are_bounded),
                                       cmocka_unit_test(one_that_does_not_end_is_stopped),
                                       cmocka_unit_test(no_such_program),
                                       cmocka_unit_test(no_fd_but_those_named),
                                       cmocka_unit_test(ends_are_waited_for),
                                       cmocka_unit_test(what_does_not_end_is_killed),
                                       cmocka_unit_test(none_outlives_us),
                                       cmocka_unit_test(a_signal_ends_a_run)};
    return cmocka_run_group_tests(tests, write_script, remove_script);
}
