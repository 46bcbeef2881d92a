/*
 * A synth-worker's windows: mapped once, reused, writable only while granted. The mapping calls are
 * counted on their way to the kernel.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned maps, unmaps;
static int fail_protect;

static void *counted_map(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    maps++;
    return mmap(at, bytes, protection, flags, fd, offset);
}

static int counted_unmap(void *at, size_t bytes)
{
    unmaps++;
    return munmap(at, bytes);
}

static int failing_protect(void *at, size_t bytes, int protection)
{
    return fail_protect ? -1 : mprotect(at, bytes, protection);
}

#define mmap counted_map
#define munmap counted_unmap
#define mprotect failing_protect
#include "shm/windows.c"
#undef mmap
#undef munmap
#undef mprotect

#define PAGE 4096u
#define SLABS 3u
#define SLAB_PAGES 4u

static int make(struct slab_windows *windows)
{
    int fd = memfd_create("slabs", MFD_CLOEXEC);

    assert_int_equal(ftruncate(fd, SLABS * SLAB_PAGES * PAGE), 0);
    assert_int_equal(slab_windows_init(windows, fd, SLABS), 0);
    maps = unmaps = 0;
    fail_protect = 0;
    return fd;
}

static char *open_window(struct slab_windows *windows, uint32_t slab, uint64_t bytes)
{
    return slab_window_open(windows, slab, slab * SLAB_PAGES * PAGE, bytes);
}

/* Does writing there kill? */
static int write_kills(char *at)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void windows_are_reused(void **state)
{
    struct slab_windows windows;
    int fd = make(&windows);

    (void)state;
    char *first = open_window(&windows, 1, 3 * PAGE - 5);
    assert_non_null(first);
    assert_int_equal(maps, 1);
    for (int round = 0; round < 50; round++) { /* grants of the same and of smaller circuits */
        slab_window_close(&windows, 1);
        assert_ptr_equal(open_window(&windows, 1, round % 2 ? PAGE : 3 * PAGE), first);
        first[0] = (char)round;
    }
    assert_int_equal(maps, 1);
    assert_int_equal(unmaps, 0);
    slab_window_close(&windows, 1);
    char *longer =
        open_window(&windows, 1, 4 * PAGE); /* too short: mapped anew, the old one goes */
    assert_non_null(longer);
    assert_int_equal(maps, 2);
    assert_int_equal(unmaps, 1);
    assert_int_equal(longer[0], 49);
    assert_non_null(open_window(&windows, 0, PAGE));
    assert_int_equal(maps, 3);
    slab_windows_destroy(&windows);
    assert_int_equal(unmaps, 3);
    close(fd);
}

static void only_the_grant_is_writable(void **state)
{
    struct slab_windows windows;
    int fd = make(&windows);

    (void)state;
    char *window = open_window(&windows, 1, 3 * PAGE);
    assert_false(write_kills(window));
    assert_false(write_kills(window + 3 * PAGE - 1));
    slab_window_close(&windows, 1);
    assert_true(write_kills(window));
    assert_true(write_kills(window + 3 * PAGE - 1));
    assert_ptr_equal(open_window(&windows, 1, PAGE), window); /* a smaller grant */
    assert_false(write_kills(window + PAGE - 1));
    assert_true(write_kills(window + PAGE));
    slab_window_close(&windows, 1);
    assert_true(write_kills(window));
    slab_windows_destroy(&windows);
    close(fd);
}

static void what_lies_outside_is_refused(void **state)
{
    static const struct {
        uint32_t slab;
        uint64_t offset, bytes;
    } wrong[] = {
        {SLABS, 0, PAGE},
        {UINT32_MAX, 0, PAGE},
        {0, 0, 0},
        {0, 8, PAGE},
        {0, 0, SLABS * SLAB_PAGES * PAGE + 1},
        {0, SLABS * SLAB_PAGES * PAGE, 1},
        {0, UINT64_MAX - PAGE + 1, PAGE},
        {0, PAGE, UINT64_MAX},
        {0, 0, UINT64_MAX},
    };
    struct slab_windows windows;
    int fd = make(&windows);

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        errno = 0;
        assert_null(slab_window_open(&windows, wrong[i].slab, wrong[i].offset, wrong[i].bytes));
        assert_int_equal(errno, EINVAL);
    }
    slab_window_close(&windows, SLABS);
    slab_window_close(&windows, 0); /* not open: nothing */
    assert_int_equal(maps, 0);
    slab_windows_destroy(&windows);
    close(fd);
    assert_int_equal(slab_windows_init(&windows, fd, SLABS), -EBADF);
}

static void another_offset_is_another_mapping(void **state)
{
    struct slab_windows windows;
    int fd = make(&windows);

    (void)state;
    char *window = slab_window_open(&windows, 0, 0, PAGE);
    assert_non_null(window);
    window[0] = 'a';
    slab_window_close(&windows, 0);
    window = slab_window_open(&windows, 0, PAGE, PAGE);
    assert_non_null(window);
    assert_int_equal(window[0], 0);
    assert_int_equal(maps, 2);
    slab_windows_destroy(&windows);
    close(fd);
}

/* Where write access cannot be taken away, the mapping is. */
static void window_that_cannot_be_closed_goes(void **state)
{
    struct slab_windows windows;
    int fd = make(&windows);

    (void)state;
    assert_non_null(open_window(&windows, 2, PAGE));
    fail_protect = 1;
    slab_window_close(&windows, 2);
    assert_int_equal(unmaps, 1);
    assert_null(windows.window[2].address);
    fail_protect = 0;
    assert_non_null(open_window(&windows, 2, PAGE));
    slab_windows_destroy(&windows);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_reused),
        cmocka_unit_test(only_the_grant_is_writable),
        cmocka_unit_test(what_lies_outside_is_refused),
        cmocka_unit_test(another_offset_is_another_mapping),
        cmocka_unit_test(window_that_cannot_be_closed_goes),
    };

    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
