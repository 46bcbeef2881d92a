/*
 * Opening NVIDIA's driver: each reason why it cannot be had, on libraries made or found for it and
 * on the software driver; and the numbers of our declarations against a toolkit's header, where
 * one is installed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu-worker/cuda_driver.h"

#define TOOLKIT "/usr/local/cuda"

static const char *soft_folder(void)
{
    static char path[4096];
    const char *build = getenv("BUILD_DIR");

    snprintf(path, sizeof(path), "%s/softcuda", build ? build : "build");
    return path;
}

static const char *soft_library(void)
{
    static char path[4200];

    snprintf(path, sizeof(path), "%s/libcuda.so.1", soft_folder());
    return path;
}

/* Opens in vain: with that error, and a line that has `word` in it. */
static void check_refused(const char *library, int error, CUresult refusal, const char *word)
{
    struct cuda_driver driver;
    const char *why = NULL;

    assert_int_equal(cuda_driver_open_library(&driver, library, &why), error);
    assert_non_null(why);
    if (!strstr(why, word))
        fail_msg("`%s` is not in `%s`", word, why);
    assert_null(strchr(why, '\n'));
    assert_true(strlen(why) < CUDA_DRIVER_REASON_BYTES - 1); /* not cut off */
    assert_int_equal(driver.refusal, refusal);
    assert_null(driver.library);
    cuda_driver_close(&driver);
}

static void check_soft_refused(const char *options, int error, CUresult refusal, const char *word)
{
    setenv("PAWL_SOFTCUDA", options, 1);
    check_refused(soft_library(), error, refusal, word);
    unsetenv("PAWL_SOFTCUDA");
}

static void test_no_library(void **state)
{
    char path[] = "/tmp/cuda_driver_test-XXXXXX";

    (void)state;
    check_refused("/nonexistent/libcuda.so.1", -ENOENT, 0, "install NVIDIA's driver, 580");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    check_refused(path, -ENOENT, 0, "too short");
    close(fd);
    unlink(path);
}

static void test_library_that_is_no_driver(void **state)
{
    (void)state;
    check_refused("libm.so.6", -ENOSYS, 0, "no cuDriverGetVersion");
}

static void test_stub(void **state)
{
    const char *stub = TOOLKIT "/lib64/stubs/libcuda.so";

    (void)state;
    if (access(stub, R_OK))
        skip();
    check_refused(stub, -ENOSYS, CUDA_ERROR_STUB_LIBRARY, "LD_LIBRARY_PATH");
}

static void test_old_driver(void **state)
{
    (void)state;
    check_soft_refused("driver=12040", -EOPNOTSUPP, 0, "up to 12.4");
    check_soft_refused("driver=12090,devices=0", -EOPNOTSUPP, 0, "need 13.0");
}

static void test_no_device(void **state)
{
    (void)state;
    check_soft_refused("devices=0", -ENODEV, CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES");
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    check_soft_refused("devices=2", -ENODEV, CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void test_driver_that_does_not_start(void **state)
{
    (void)state;
    check_soft_refused("init=2", -EIO, CUDA_ERROR_OUT_OF_MEMORY, "memory");
    check_soft_refused("init=46", -EIO, CUDA_ERROR_DEVICE_UNAVAILABLE, "compute mode");
    check_soft_refused("init=304", -EIO, CUDA_ERROR_OPERATING_SYSTEM, "/dev/nvidia");
    check_soft_refused("init=802", -EIO, CUDA_ERROR_SYSTEM_NOT_READY, "fabricmanager");
    check_soft_refused("init=803", -EIO, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "reboot");
    check_soft_refused("init=804", -EIO, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compat");
    check_soft_refused("init=805", -EIO, CUDA_ERROR_MPS_CONNECTION_FAILED, "mps");
    check_soft_refused("init=999", -EIO, CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN, 999");
}

static void test_open(void **state)
{
    struct cuda_driver driver;
    const char *why;
    int count = 0;

    (void)state;
    setenv("PAWL_SOFTCUDA", "devices=3,driver=13010", 1);
    assert_int_equal(cuda_driver_open_library(&driver, soft_library(), &why), 0);
    assert_int_equal(driver.version, 13010);
    assert_int_equal(driver.devices, 3);
    assert_int_equal(driver.cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(count, 3);
    assert_string_equal(cuda_driver_error_name(&driver, 700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_string_equal(cuda_driver_error_name(&driver, 911), "CUDA_ERROR_EXTERNAL_DEVICE");
    assert_string_equal(cuda_driver_error_name(&driver, 12345), "CUDA_ERROR_?");
    assert_null(dlsym(driver.library, "ptx_run")); /* it exports the driver's names alone */
    assert_null(dlsym(driver.library, "soft_begin"));
    cuda_driver_close(&driver);
    unsetenv("PAWL_SOFTCUDA");
}

/* The signals that a thread of this process blocks, a bit each from SIGHUP on. */
static uint64_t blocked_by(const char *thread)
{
    char path[64], line[256];
    uint64_t blocked = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "SigBlk: %" SCNx64, &blocked);
    if (file)
        fclose(file);
    return blocked;
}

/* Where a thread of the driver's let one through, it would end a worker that means to leave. */
static void test_threads_of_the_driver_take_no_signals(void **state)
{
    const uint64_t ends = 1u << (SIGTERM - 1) | 1u << (SIGINT - 1);
    struct cuda_driver driver;
    const char *why;
    unsigned others = 0;

    (void)state;
    assert_int_equal(cuda_driver_open_library(&driver, soft_library(), &why), 0);
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!atoi(entry->d_name))
            continue;
        if (atoi(entry->d_name) == getpid()) {
            assert_int_equal(blocked_by(entry->d_name) & ends, 0);
            continue;
        }
        assert_int_equal(blocked_by(entry->d_name) & ends, ends);
        others++;
    }
    closedir(folder);
    assert_true(others > 0);
    cuda_driver_close(&driver);
}

/* Whatever the environment says: images of containers say LAZY. */
static void test_kernels_are_loaded_with_their_module(void **state)
{
    struct cuda_driver driver;
    const char *why;

    (void)state;
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    assert_int_equal(cuda_driver_open_library(&driver, soft_library(), &why), 0);
    assert_string_equal(getenv("CUDA_MODULE_LOADING"), "EAGER");
    cuda_driver_close(&driver);
}

static void test_uuid(void **state)
{
    const struct cuda_uuid uuid = {{0x8c, 0x0f, 0x0a, 0x4e, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}};
    char text[CUDA_UUID_TEXT_BYTES];

    (void)state;
    cuda_uuid_format(text, "GPU-", &uuid);
    assert_string_equal(text, "GPU-8c0f0a4e-0001-0203-0405-060708090aff");
}

/* By its own name, as a gpu-worker does it; LD_LIBRARY_PATH counts at a program's start only. */
static int open_by_name(void)
{
    struct cuda_driver driver;
    const char *why = "";
    int result = cuda_driver_open(&driver, &why);

    if (result)
        fprintf(stderr, "%s\n", why);
    return result ? 1 : 0;
}

static void test_open_by_name(void **state)
{
    int status;

    (void)state;
    pid_t pid = fork();
    if (!pid) {
        setenv("LD_LIBRARY_PATH", soft_folder(), 1);
        execl("/proc/self/exe", "cuda_driver_test", "--open-by-name", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t bytes = 4u << 20;
    char *text = malloc(bytes);

    if (!file || !text) {
        free(text);
        return NULL;
    }
    text[fread(text, 1, bytes - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* The number that an enumeration or a #define of cuda.h gives to `name`; -1: none. */
static long number_in(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += length) {
        const char *behind = at + length + strspn(at + length, " \t");
        if (behind == at + length && *behind != '=')
            continue; /* a longer name, or a mention of it */
        behind += *behind == '=';
        behind += strspn(behind, " ");
        if (*behind >= '0' && *behind <= '9')
            return strtol(behind, NULL, 0);
    }
    return -1;
}

/* "    NAME = NUMBER," of our header; 0 where a line is no such. */
static int parse_line(const char *line, char name[128], long *number)
{
    return sscanf(line, " %127[A-Z0-9_a-z] = %li", name, number) == 2 && !strncmp(name, "CU", 2);
}

static void test_numbers_are_the_toolkits(void **state)
{
    char *theirs = read_text(TOOLKIT "/include/cuda.h"), *rest, *line, name[128];
    char *ours = rest = read_text("gpu-worker/cuda_driver.h");
    unsigned compared = 0;
    long number;

    (void)state;
    assert_non_null(ours); /* tests run in the root of the tree */
    while (theirs && (line = strsep(&rest, "\n"))) {
        if (!parse_line(line, name, &number))
            continue;
        if (number_in(theirs, name) != number)
            fail_msg("%s is %ld here and %ld in cuda.h", name, number, number_in(theirs, name));
        compared++;
    }
    free(ours);
    if (!theirs)
        skip();
    free(theirs);
    assert_true(compared > 80);
}

/* What cuda.h makes of a call's name, where it makes something of it: the version of it that the
 * declarations beside it are of. NULL: the name itself. */
static const char *symbol_in(const char *text, const char *name, char symbol[128])
{
    char line[160], word[128];

    snprintf(line, sizeof(line), "#define %s ", name);
    const char *at = strstr(text, line);
    if (!at || sscanf(at + strlen(line), " %127s", word) != 1)
        return NULL;
    if (sscanf(word, "__CUDA_API_PTSZ(%127[A-Za-z0-9_])", symbol) != 1)
        snprintf(symbol, 128, "%s", word);
    return symbol;
}

/* Every call under the symbol that the toolkit's own header has it by, and that is exported. The
 * one that is not of the newest version: what it lacks is an answer for events without times. */
static void test_symbols_are_the_toolkits(void **state)
{
    static const struct {
        const char *name, *symbol;
    } calls[] = {
#define CALL_NAMES(name, symbol, parameters) {#name, #symbol},
        CUDA_DRIVER_CALLS(CALL_NAMES)
#undef CALL_NAMES
    };
    char *header = read_text(TOOLKIT "/include/cuda.h"), theirs[128];
    void *stub = dlopen(TOOLKIT "/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_LOCAL);

    (void)state;
    for (size_t i = 0; header && stub && i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (!dlsym(stub, calls[i].symbol))
            fail_msg("%s is not in the toolkit's stub", calls[i].symbol);
        const char *symbol = symbol_in(header, calls[i].name, theirs);
        if (strcmp(calls[i].name, "cuEventElapsedTime") != 0)
            assert_string_equal(calls[i].symbol, symbol ? symbol : calls[i].name);
    }
    free(header);
    if (!header || !stub)
        skip();
    dlclose(stub);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_library_that_is_no_driver),
        cmocka_unit_test(test_stub),
        cmocka_unit_test(test_old_driver),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_driver_that_does_not_start),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_uuid),
        cmocka_unit_test(test_threads_of_the_driver_take_no_signals),
        cmocka_unit_test(test_kernels_are_loaded_with_their_module),
        cmocka_unit_test(test_open_by_name),
        cmocka_unit_test(test_numbers_are_the_toolkits),
        cmocka_unit_test(test_symbols_are_the_toolkits),
    };
    if (argc == 2 && !strcmp(argv[1], "--open-by-name"))
        return open_by_name();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
