/*
 * The doctor's checks over a machine that is faked below a folder: what each finds, and that what
 * it finds amiss comes with a remedy.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/devices.h"
#include "coordinator/client/doctor.h"
#include "tests/support/scratch.h"

static char root[SCRATCH_PATH_BYTES], socket_path[128];
static struct doctor_place place = {.root = root, .socket = socket_path};

static int make_root(void **state)
{
    (void)state;
    if (scratch_make(root, "doctor"))
        return -1;
    snprintf(socket_path, sizeof(socket_path), "%s/run/pawl.sock", root);
    unsetenv("PAWL_CPU");
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    return scratch_remove(root);
}

static void put(const char *path, const char *text)
{
    scratch_put(root, path, text);
}

static struct doctor_finding look(const char *name)
{
    for (const struct doctor_check *check = doctor_checks; check->name; check++) {
        struct doctor_finding finding = {.name = check->name};

        if (strcmp(check->name, name) != 0)
            continue;
        check->look(&finding, &place);
        assert_true(finding.means[0] != '\0');
        if (finding.state != DOCTOR_OK)
            assert_non_null(finding.mend);
        return finding;
    }
    fail_msg("there is no check %s", name);
    return (struct doctor_finding){0};
}

static void want(const char *name, enum doctor_state state, const char *part)
{
    struct doctor_finding finding = look(name);

    if (finding.state != state || !strstr(finding.means, part))
        fail_msg("%s: state %d, \"%s\" instead of %d with \"%s\"", name, (int)finding.state,
                 finding.means, (int)state, part);
}

static void memory_is_compared(void **state)
{
    (void)state;
    want("memory", DOCTOR_WARN, "does not tell the memory");
    put("/proc/meminfo", "MemTotal: 8388608 kB\nHugePages_Total: 7\nHugePages_Free: 5\n"
                         "Hugepagesize: 2048 kB\n");
    want("memory", DOCTOR_OK, "the machine has 8192 MiB, and no control group");
    put("/proc/self/cgroup", "0::/x\n");
    put("/sys/fs/cgroup/x/memory.max", "2147483648\n");
    want("memory", DOCTOR_OK, "allows 2048 of the machine's 8192 MiB");
    put("/sys/fs/cgroup/x/memory.max", "104857600\n");
    want("memory", DOCTOR_WARN, "allows 100 of");
    want("huge-pages", DOCTOR_OK, "5 of 7 huge pages of 2048 KiB");
}

static void the_configuration_is_compared(void **state)
{
    (void)state;
    put("/dev/shm/something", "");
    place.slabs_bytes = UINT64_C(1) << 60;
    want("shm", DOCTOR_FAIL, "the configured lanes take 1099511627776 MiB");
    place.backing = "memfd";
    want("shm", DOCTOR_OK, "/dev/shm is not used");
    place.backing = NULL;
    place.slabs_bytes = 0;
    place.state_dir = root;
    want("state-dir", DOCTOR_OK, root);
    place.state_dir = NULL;
}

static void missing_places_are_found(void **state)
{
    (void)state;
    want("shm", DOCTOR_FAIL, "/dev/shm cannot be looked at");
    want("seccomp", DOCTOR_WARN, "no seccomp filters");
    want("run-dir", DOCTOR_OK, "not there yet");
    want("socket", DOCTOR_OK, "no service listens");
    put("/proc/sys/kernel/seccomp/actions_avail", "kill\n");
    want("seccomp", DOCTOR_OK, "seccomp bounds");
}

static void open_places_are_found(void **state)
{
    char path[256];

    (void)state;
    put("/run/pawl.sock.http", "");
    want("run-dir", DOCTOR_OK, "mode 700");
    want("socket", DOCTOR_FAIL, "is no socket");
    snprintf(path, sizeof(path), "%s/run", root);
    assert_int_equal(chmod(path, 0770), 0);
    want("run-dir", DOCTOR_FAIL, "others may write there (mode 770)");
    assert_int_equal(chmod(path, 01777), 0); /* as /tmp */
    want("run-dir", DOCTOR_OK, "mode");
    assert_int_equal(chmod(path, 0755), 0);
    want("run-dir", DOCTOR_OK, "mode 755");
}

static void limits_are_found(void **state)
{
    struct rlimit files, few;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 1024)
        skip();
    want("files", DOCTOR_OK, "may open");
    few = (struct rlimit){.rlim_cur = 32, .rlim_max = files.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    want("files", DOCTOR_OK, "may open"); /* the coordinator raises its own to the most */
    setrlimit(RLIMIT_NOFILE, &files);
}

static void devices_are_found(void **state)
{
    (void)state;
    struct doctor_finding driver = look("driver");
    assert_true(driver.state != DOCTOR_FAIL);
    want("mps", DOCTOR_OK, "no MPS server");
    put("/pipes/control", "");
    setenv("CUDA_MPS_PIPE_DIRECTORY", "/pipes", 1);
    want("mps", DOCTOR_WARN, "an MPS server is at /pipes");
    want("cpu", DOCTOR_OK, "form in use");
    setenv("PAWL_CPU", "portable", 1);
    want("cpu", DOCTOR_WARN, "forces the form portable");
    unsetenv("PAWL_CPU");
    want("numa", DOCTOR_OK, "1 memory node");
    put("/sys/devices/system/node/online", "0-1\n");
    want("numa", DOCTOR_OK, "2 memory nodes");
}

static void want_devices(const char *text, enum doctor_state state, const char *part)
{
    struct doctor_finding finding = {.name = "devices"};
    json_t *list = json_loads(text, 0, NULL);

    assert_non_null(list);
    doctor_judge_devices(&finding, list);
    json_decref(list);
    if (finding.state != state || !strstr(finding.means, part))
        fail_msg("state %d, \"%s\" instead of %d with \"%s\"", (int)finding.state, finding.means,
                 (int)state, part);
    assert_int_equal(finding.mend == NULL, state == DOCTOR_OK);
}

#define A_CPU "{\"devices\": [{\"name\": \"cpu\", \"index\": null, \"fit\": true, \"why\": null}"
#define A_GPU(name, index, fit, why)                                                               \
    ", {\"name\": \"" name "\", \"index\": " index ", \"model\": \"A GPU\", \"memory_bytes\": "    \
    "1073741824, \"fit\": " fit ", \"why\": " why "}"

static const char two_gpus[] = A_CPU A_GPU("GPU-1", "0", "true", "null")
    A_GPU("GPU-2", "1", "false", "\"too old a GPU\"") "], \"why\": null}";

static void lists_of_devices_are_judged(void **state)
{
    (void)state;
    want_devices(A_CPU "], \"driver\": null, \"why\": null}", DOCTOR_OK, "the CPU proves");
    want_devices(A_CPU "], \"driver\": null, \"why\": \"the driver is too old\"}", DOCTOR_WARN,
                 "no GPU can be used: the driver is too old");
    want_devices(A_CPU A_GPU("GPU-1", "0", "true", "null") "], \"why\": null}", DOCTOR_OK,
                 "GPU-1 (A GPU, 1024 MiB) is fit");
    want_devices(two_gpus, DOCTOR_WARN, "GPU-2 (A GPU, 1024 MiB) is unfit: too old a GPU");
    want_devices("[]", DOCTOR_OK, "the CPU proves");
}

static void devices_are_named(void **state)
{
    char why[512] = "";
    json_t *list = json_loads(two_gpus, 0, NULL);

    (void)state;
    assert_string_equal(devices_find(list, "auto", why, sizeof(why)), "GPU-1");
    assert_string_equal(devices_find(list, "cuda:0", why, sizeof(why)), "GPU-1");
    assert_string_equal(devices_find(list, "GPU-1", why, sizeof(why)), "GPU-1");
    assert_string_equal(devices_find(list, "cpu", why, sizeof(why)), "cpu");
    assert_null(devices_find(list, "cuda:1", why, sizeof(why)));
    assert_string_equal(why, "it is unfit: too old a GPU");
    assert_null(devices_find(list, "cuda:2", why, sizeof(why)));
    assert_string_equal(why, "the driver shows no such GPU");
    json_decref(list);
    list = json_loads(A_CPU A_GPU("GPU 1", "0", "true", "null") "], \"why\": \"none\"}", 0, NULL);
    assert_null(devices_find(list, "auto", why, sizeof(why))); /* that is no name */
    assert_string_equal(why, "none");
    json_decref(list);
}

static void every_check_says_something(void **state)
{
    (void)state;
    for (const struct doctor_check *check = doctor_checks; check->name; check++)
        (void)look(check->name);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_is_compared),         TEST(the_configuration_is_compared),
        TEST(missing_places_are_found),   TEST(open_places_are_found),
        TEST(limits_are_found),           TEST(devices_are_found),
        TEST(every_check_says_something), TEST(lists_of_devices_are_judged),
        TEST(devices_are_named),
    };

    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
