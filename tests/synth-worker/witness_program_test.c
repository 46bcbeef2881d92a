/*
 * Witness programs through runner and sandbox, as the worker calls them: each hostile one is
 * contained, its end is told, and nothing of it is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/curves.h"
#include "synth-worker/complaint.h"
#include "synth-worker/witness_child.h"
#include "synth-worker/witness_place.h"
#include "synth-worker/witness_program.h"

#define WITNESS "tests/fixtures/bn128/mul2/w1.wtns"
#define MIB (UINT64_C(1) << 20)

enum {
    OK = 1,
    CUT,
    ABORTS,
    CRASHES,
    TRIES_KERNEL,
    ALLOCATES,
    SPINS,
    FILLS,
    TRIES_FILES,
    WAITS,
    COUNTS_FDS,
    EXITS_7,
    NOTHING
};

static struct {
    char folder[64];
    int folder_fd;
    struct witness_place place;
    struct complaint complaint;
    int pauses, stop_after;
} rig;

static int must_run(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

static int make_rig(void **state)
{
    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    strcpy(rig.folder, "/tmp/pawl-program-test-XXXXXX");
    if (!mkdtemp(rig.folder) || setenv("TMPDIR", rig.folder, 1))
        return -1;
    if (must_run("mkdir %s/p && cc -w -o %s/p/program tests/support/hostile_program.c && "
                 "cp %s %s/p/program.dat && chmod -R a+rX %s/p",
                 rig.folder, rig.folder, WITNESS, rig.folder, rig.folder))
        return -1;
    char path[80];
    snprintf(path, sizeof path, "%s/p", rig.folder);
    rig.folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rig.place = (struct witness_place){.base_fd = -1, .worker_fd = -1};
    return rig.folder_fd < 0;
}

static int end_rig(void **state)
{
    (void)state;
    witness_place_close(&rig.place);
    close(rig.folder_fd);
    return must_run("rm -rf %s", rig.folder);
}

static int pause_run(void *arg)
{
    (void)arg;
    return rig.stop_after && ++rig.pauses >= rig.stop_after;
}

static int run_text(const char *text, uint64_t deadline_ms)
{
    int input = memfd_create("input", MFD_CLOEXEC);
    assert_int_equal(write(input, text, strlen(text)), strlen(text));
    const struct witness_request request = {.input_fd = input,
                                            .folder_fd = rig.folder_fd,
                                            .curve = CURVE_BN254,
                                            .deadline_ms = deadline_ms,
                                            .memory_bytes = 256 * MIB,
                                            .output_bytes = MIB,
                                            .pause = pause_run};
    memset(&rig.complaint, 0, sizeof rig.complaint);
    rig.pauses = 0;
    int fd = witness_program_run(&request, &rig.place, &rig.complaint);
    close(input);
    return fd;
}

static int run(int mode, uint64_t deadline_ms)
{
    char text[32];
    snprintf(text, sizeof text, "{\"mode\": %d}", mode);
    return run_text(text, deadline_ms);
}

/* No child, no file. */
static void nothing_is_left(void)
{
    char path[160];
    int entries = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    snprintf(path, sizeof path, "%s/pawl-programs-%u", rig.folder, (unsigned)geteuid());
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        entries++;
    closedir(folder);
    assert_int_equal(entries, 2);
}

static void fails_saying(int mode, uint64_t deadline_ms, const char *text)
{
    int fd = run(mode, deadline_ms);
    if (fd >= 0 || rig.complaint.exit_code != 1 || !strstr(rig.complaint.text, text))
        fail_msg("mode %d: fd %d, exit code %d, \"%s\", not \"%s\"", mode, fd,
                 rig.complaint.exit_code, rig.complaint.text, text);
    assert_null(strstr(rig.complaint.text, "BREACH"));
    nothing_is_left();
}

static void succeeds(void)
{
    struct stat got, wanted;
    int fd = run(OK, 30000);
    if (fd < 0)
        fail_msg("%s", rig.complaint.text);
    assert_int_equal(fstat(fd, &got), 0);
    assert_int_equal(stat(WITNESS, &wanted), 0);
    assert_int_equal(got.st_size, wanted.st_size);
    assert_int_equal(got.st_nlink, 0);
    close(fd);
    nothing_is_left();
}

static void a_right_program_gives_its_witness(void **state)
{
    (void)state;
    succeeds();
}

static void ends_are_told(void **state)
{
    (void)state;
    fails_saying(NOTHING, 30000, "witness program exited with code 0 and made no output");
    fails_saying(EXITS_7, 30000, "witness program exited with code 7");
    fails_saying(ABORTS, 30000, "witness program ended with SIGABRT: ...");
    assert_non_null(strstr(rig.complaint.text, "?[31m last words"));
    assert_non_null(strstr(rig.complaint.text, "Mul_3 line: 7 | assert failed"));
    fails_saying(CRASHES, 30000, "witness program ended with SIGSEGV");
    fails_saying(COUNTS_FDS, 30000, "fds counted");
    succeeds();
}

static void limits_hold(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    fails_saying(ALLOCATES, 30000, "witness program ended with SIGABRT");
#endif
    fails_saying(FILLS, 30000, "witness program ended with SIGXFSZ (program_output in [limits])");
    fails_saying(SPINS, 300, "witness program ran past its deadline of 300 ms (deadline.witness)");
    succeeds();
}

/* Each of the tries says itself whether it got through; the last one shows that all were made. */
static void the_border_holds(void **state)
{
    (void)state;
    fails_saying(TRIES_KERNEL, 30000, "refused root");
    fails_saying(TRIES_FILES, 30000, "refused removed");
    succeeds();
}

static void a_cancel_ends_it(void **state)
{
    (void)state;
    rig.stop_after = 3;
    assert_int_equal(run(SPINS, 0), -ECANCELED);
    rig.stop_after = 0;
    nothing_is_left();
    succeeds();
}

static void inputs_are_judged_first(void **state)
{
    (void)state;
    assert_int_equal(run_text("{\"mode\": 1.6}", 30000), -EINVAL);
    assert_non_null(strstr(rig.complaint.text, "input signal mode: a fraction"));
    assert_int_equal(rig.complaint.exit_code, 1);
    assert_int_equal(run_text("{\"mode\"", 30000), -EINVAL);
    assert_non_null(strstr(rig.complaint.text, "the input is not JSON"));
    nothing_is_left();
}

static void places_of_the_dead_are_swept(void **state)
{
    struct witness_place other = {.base_fd = -1, .worker_fd = -1}, next = other;
    char path[160];
    struct stat status;
    (void)state;
    assert_int_equal(witness_place_open(&other, &rig.complaint), 0);
    close(witness_place_enter(&other, &rig.complaint));
    close(other.worker_fd); /* as if its worker had been killed */
    close(other.base_fd);
    other.worker_fd = other.base_fd = -1;
    char dead[WITNESS_PLACE_NAME_BYTES];
    strcpy(dead, other.name);
    assert_int_equal(witness_place_open(&next, &rig.complaint), 0);
    snprintf(path, sizeof path, "%s/pawl-programs-%u/%s", rig.folder, (unsigned)geteuid(), dead);
    assert_int_equal(stat(path, &status), -1);
    assert_int_equal(witness_place_open(&other, &rig.complaint),
                     0); /* and not those of the living */
    snprintf(path, sizeof path, "%s/pawl-programs-%u/%s", rig.folder, (unsigned)geteuid(),
             next.name);
    assert_int_equal(stat(path, &status), 0);
    witness_place_close(&next);
    witness_place_close(&other);
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], WITNESS_CHILD_OPTION))
        return witness_child_run(count - 2, words + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_program_gives_its_witness),
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(the_border_holds),
        cmocka_unit_test(a_cancel_ends_it),
        cmocka_unit_test(inputs_are_judged_first),
        cmocka_unit_test(places_of_the_dead_are_swept),
    };
    return cmocka_run_group_tests_name("witness_program", tests, make_rig, end_rig);
}
