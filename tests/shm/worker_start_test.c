/*
 * A worker's settings and last words, each tried in a process of its own.
 */
#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "shm/seat.h"
#include "shm/wire.h"
#include "shm/worker_start.h"

static void test_cpu_lists(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     ",", "1,", "1,,2", "-1",     "3-1",
                                      "1-",   "a", "1 ", "0x1",  "999999", "1-999999999999999",
                                      "0-3;8"};
    cpu_set_t cpus;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(worker_parse_cpus(bad[i], &cpus), -EINVAL);
    assert_int_equal(worker_parse_cpus("0-3,8,5-5", &cpus), 0);
    assert_int_equal(CPU_COUNT(&cpus), 6);
    assert_true(CPU_ISSET(0, &cpus) && CPU_ISSET(3, &cpus) && CPU_ISSET(8, &cpus) &&
                CPU_ISSET(5, &cpus));
    assert_true(worker_count_cpus() >= 1);
}

/* What the child's steps return is its exit code. */
static int run_child(int (*steps)(void *arg), void *arg)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(steps(arg));
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- settings ---- */

static int first_cpu(void)
{
    cpu_set_t cpus;
    int cpu = 0;
    if (sched_getaffinity(0, sizeof(cpus), &cpus))
        return 0;
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    return cpu;
}

static int apply_good(void *arg)
{
    struct wire_welcome *welcome = arg;
    const char *what;
    if (worker_settings_apply(welcome, &what))
        return 1;
    if (getpriority(PRIO_PROCESS, 0) != 7 || worker_count_cpus() != 1)
        return 2;
    return prctl(PR_GET_DUMPABLE) == 0 ? 0 : 3;
}

static void test_settings_are_applied(void **state)
{
    (void)state;
    struct wire_welcome welcome = {.nice = 7, .dumpable = 0};
    snprintf(welcome.cpus, sizeof(welcome.cpus), "%d", first_cpu());
    assert_int_equal(run_child(apply_good, &welcome), 0);
}

static int apply_nothing(void *arg)
{
    struct wire_welcome welcome = {.dumpable = 1};
    const char *what;
    unsigned cpus = worker_count_cpus();
    (void)arg;
    prctl(PR_SET_DUMPABLE, 1);
    if (worker_settings_apply(&welcome, &what) || what)
        return 1;
    return worker_count_cpus() == cpus && prctl(PR_GET_DUMPABLE) == 1 ? 0 : 2;
}

static void test_no_settings_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(run_child(apply_nothing, NULL), 0);
}

static int apply_bad(void *arg)
{
    struct wire_welcome welcome = {.nice = 6, .cpus = "3-1"};
    const char *what;
    (void)arg;
    if (worker_settings_apply(&welcome, &what) != -EINVAL || strcmp(what, "cpus") != 0)
        return 1;
    return getpriority(PRIO_PROCESS, 0) == 6 ? 0 : 2; /* the rest is applied all the same */
}

static void test_a_bad_setting_is_named(void **state)
{
    (void)state;
    assert_int_equal(run_child(apply_bad, NULL), 0);
}

/* ---- last words ---- */

struct end {
    struct seat_page *page;
    int number; /* a signal; 0: an assert */
};

static int end_badly(void *arg)
{
    struct end *end = arg;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    worker_crash_watch(end->page);
    if (!freopen("/dev/null", "we", stderr))
        return 1;
    if (end->number)
        raise(end->number);
    assert(end->number && "the moon is full");
    return 0;
}

static void test_last_words(void **state)
{
    (void)state;
    static const struct {
        int number, ends_by;
        const char *words;
    } cases[] = {{SIGSEGV, SIGSEGV, "SIGSEGV"},   {SIGBUS, SIGBUS, "SIGBUS"},
                 {SIGFPE, SIGFPE, "SIGFPE"},      {SIGILL, SIGILL, "SIGILL"},
                 {SIGSYS, SIGSYS, "SIGSYS"},      {SIGABRT, SIGABRT, "SIGABRT"},
                 {0, SIGABRT, "the moon is full"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct end end = {.number = cases[i].number};
        char text[SEAT_LAST_WORDS_BYTES];
        int fd;
        assert_int_equal(seat_create(&end.page, &fd, 1), 0);
        assert_int_equal(run_child(end_badly, &end), -cases[i].ends_by);
        seat_last_words(end.page, text, sizeof(text));
        assert_non_null(strstr(text, cases[i].words));
        seat_unmap(end.page);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_lists),
        cmocka_unit_test(test_settings_are_applied),
        cmocka_unit_test(test_no_settings_change_nothing),
        cmocka_unit_test(test_a_bad_setting_is_named),
        cmocka_unit_test(test_last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
