/*
 * The region: made whole or not at all, without names, and not writable through what workers get.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/credit.h"
#include "shm/region.h"
#include "shm/region_object.h"
#include "tests/support/scratch.h"

static const struct lane_spec lanes[] = {
    {.name = "main", .slab_bytes = 3 * 4096, .slab_count = 3, .credits = 3},
    {.name = "express", .slab_bytes = 4096, .slab_count = 2, .credits = 1},
};
static const char *const backings[] = {"shm", "memfd"};

/* Names in /dev/shm that this process could have made. */
static unsigned count_names(void)
{
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "pawl-%ld-", (long)getpid());
    return scratch_count("/dev/shm", prefix);
}

static void region_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct region region;
        struct stat status;
        const char *what;
        unsigned before = scratch_count_fds();

        assert_int_equal(region_create(&region, lanes, 2, backings[i], "b1", &what), 0);
        assert_int_equal(count_names(), 0);
        assert_string_equal(region.control.header->backing, backings[i]);
        assert_string_equal(region.control.header->build_id, "b1");
        assert_int_equal(region.slabs_bytes, 3 * 12288 + 2 * 4096);
        assert_int_equal(region.control.header->slabs_bytes, region.slabs_bytes);
        assert_int_equal(fstat(region.slabs_fd, &status), 0);
        assert_int_equal(status.st_size, region.slabs_bytes);
        assert_int_equal(status.st_mode & 0777 & ~(i ? 0777u : 0600u), 0);
        assert_true((uint64_t)status.st_blocks * 512 >= region.slabs_bytes); /* reserved */
        assert_true(fcntl(region.slabs_fd, F_GETFD) & FD_CLOEXEC);
        assert_true(fcntl(region.control_ro_fd, F_GETFD) & FD_CLOEXEC);
        credit_check(&region.control, 0);
        region_destroy(&region);
        assert_int_equal(scratch_count_fds(), before);
        region_destroy(&region); /* of nothing: nothing */
    }
}

/* Opens what is behind a fd anew, as any process of our user could. */
static int open_through_proc(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static void assert_size_is_fixed(int fd, uint64_t bytes)
{
    struct stat status;

    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, (off_t)bytes + (1 << 20)), -1);
    assert_int_equal(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_COLLAPSE_RANGE, 0, 4096), -1);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, bytes);
}

static void memfd_is_sealed_by_every_way_in(void **state)
{
    struct region region;
    const char *what;

    (void)state;
    assert_int_equal(region_create(&region, lanes, 2, "memfd", "b1", &what), 0);
    assert_size_is_fixed(region.slabs_fd, region.slabs_bytes);
    int control = open_through_proc(region.control_ro_fd);
    int slabs = open_through_proc(region.slabs_fd);
    assert_true(control >= 0 && slabs >= 0);
    assert_size_is_fixed(control, region.control_bytes);
    assert_size_is_fixed(slabs, region.slabs_bytes);
    for (int i = 0; i < 2; i++) {
        int fd = i ? control : region.control_ro_fd;
        void *memory = mmap(NULL, region.control_bytes, PROT_READ, MAP_SHARED, fd, 0);

        assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
        assert_ptr_not_equal(memory, MAP_FAILED);
        assert_int_equal(mprotect(memory, 4096, PROT_READ | PROT_WRITE), -1);
        munmap(memory, region.control_bytes);
        assert_int_equal(pwrite(fd, "x", 1, 0), -1);
        assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
    }
    assert_int_equal(fcntl(control, F_ADD_SEALS, F_SEAL_WRITE), -1); /* no seal is added either */
    credit_set_limit(&region.control, 0, 1); /* the coordinator still writes */
    assert_int_equal(credit_limit(&region.control, 0), 1);
    close(control);
    close(slabs);
    region_destroy(&region);
}

static void workers_cannot_write_control(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct region region;
        struct control control;
        const char *what;

        assert_int_equal(region_create(&region, lanes, 2, backings[i], "b1", &what), 0);
        int fd = region.control_ro_fd;
        uint64_t bytes = region.control_bytes;
        assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
        assert_ptr_equal(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
        assert_int_equal(ftruncate(fd, 0), -1);
        assert_int_equal(write(fd, "x", 1), -1);
        void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
        assert_int_equal(mprotect(memory, bytes, PROT_READ | PROT_WRITE), -1);
        munmap(memory, bytes);

        assert_int_equal(region_map_control(&control, fd, bytes + 4096), -EBADMSG);
        assert_int_equal(region_map_control(&control, fd, bytes - 4096), -EBADMSG);
        assert_int_equal(region_map_control(&control, fd, 0), -EBADMSG);
        assert_int_equal(region_map_control(&control, -1, bytes), -EBADF);
        assert_int_equal(region_map_control(&control, fd, bytes), 0);
        credit_set_limit(&region.control, 0, 2); /* what the coordinator writes is seen */
        assert_int_equal(credit_limit(&control, 0), 2);
        region_unmap_control(&control);
        region_destroy(&region);
    }
}

static void gpu_worker_sees_what_a_window_wrote(void **state)
{
    struct region region;
    struct slab_windows windows;
    const char *what;

    (void)state;
    assert_int_equal(region_create(&region, lanes, 2, "shm", "b1", &what), 0);
    const struct control_slab *slab = &region.control.slabs[2];
    const char *slabs = region_map_slabs(region.slabs_fd, region.slabs_bytes);
    assert_non_null(slabs);
    assert_null(region_map_slabs(region.slabs_fd, region.slabs_bytes + 4096));
    assert_int_equal(errno, EBADMSG);
    assert_int_equal(slab_windows_init(&windows, region.slabs_fd, 5), 0);
    char *window = slab_window_open(&windows, 2, slab->offset, slab->bytes);
    assert_non_null(window);
    strcpy(window + 5000, "seen");
    assert_string_equal(slabs + slab->offset + 5000, "seen");
    slab_windows_destroy(&windows);
    munmap((void *)(uintptr_t)slabs, region.slabs_bytes);
    region_destroy(&region);
}

static void impossible_regions_are_refused(void **state)
{
    struct lane_spec bad = {.name = "x", .slab_bytes = 4096, .slab_count = SLABS_MAX + 1};
    struct region region;
    const char *what;
    unsigned before = scratch_count_fds();

    (void)state;
    assert_int_equal(region_create(&region, lanes, 2, "tape", "b1", &what), -EINVAL);
    assert_string_equal(what, "backing");
    assert_int_equal(region_create(&region, &bad, 1, "shm", "b1", &what), -EINVAL);
    assert_string_equal(what, "lanes");
    /* more than the machine has: an error before anything is reserved */
    struct lane_spec vast = {.name = "x", .slab_bytes = UINT64_C(1) << 60, .slab_count = 1};
    assert_int_equal(region_create(&region, &vast, 1, "memfd", "b1", &what), -ENOSPC);
    assert_string_equal(what, "slabs");
    assert_int_equal(scratch_count_fds(), before);
    assert_int_equal(count_names(), 0);
}

static void region_without_lanes_stands(void **state)
{
    struct region region;
    const char *what;

    (void)state;
    assert_int_equal(region_create(&region, NULL, 0, "memfd", "b1", &what), 0);
    assert_int_equal(region.slabs_bytes, 4096);
    region_destroy(&region);
}

/* ---- plans ---- */

static void another_plan_takes_the_place_of_the_first(void **state)
{
    static const struct lane_spec empty[] = {{.name = "main", .slab_room = 4},
                                             {.name = "express", .slab_room = 2}};
    static const struct lane_spec full[] = {
        {.name = "main", .slab_bytes = 70000, .slab_count = 3, .credits = 3},
        {.name = "express", .slab_bytes = 4096, .slab_count = 2}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct region_slabs slabs;
        struct region region;
        const char *what;
        unsigned before = scratch_count_fds();

        assert_int_equal(region_create(&region, empty, 2, backings[i], "b1", &what), 0);
        assert_int_equal(region.slabs_bytes, 4096);
        assert_int_equal(region.control.header->slab_count, 6);
        credit_check(&region.control, 0);
        assert_int_equal(credit_limit(&region.control, 0), 0);
        assert_int_equal(region_slabs_begin(&slabs, full, 2, backings[i]), 0);
        int parts = 1;
        while (region_slabs_make(&slabs, 16384) > 0)
            parts++;
        assert_true(parts > 10);
        assert_int_equal(region_slabs_make(&slabs, 16384), 0);
        region_slabs_adopt(&region, &slabs);
        assert_int_equal(region.generation, 2);
        assert_int_equal(region.slabs_bytes, 3 * 73728 + 2 * 4096);
        assert_int_equal(region.control.lanes[0].slab_count, 3);
        assert_int_equal(region.control.slabs[2].offset, 2 * 73728);
        assert_int_equal(region.control.slabs[3].bytes, 0); /* room that the plan leaves empty */
        assert_int_equal(region.control.slabs[5].offset, 3 * 73728 + 4096);
        credit_set_limit(&region.control, 0, 9);
        assert_int_equal(credit_available(&region.control, 0), 3);
        assert_int_equal(count_names(), 0);
        region_destroy(&region);
        assert_int_equal(scratch_count_fds(), before);
    }
}

static void half_made_slabs_are_dropped(void **state)
{
    struct region_slabs slabs;
    unsigned before = scratch_count_fds();

    (void)state;
    assert_int_equal(region_slabs_begin(&slabs, lanes, 2, "shm"), 0);
    assert_int_equal(region_slabs_make(&slabs, 4096), 1);
    region_slabs_drop(&slabs);
    region_slabs_drop(&slabs);
    assert_int_equal(scratch_count_fds(), before);
    assert_int_equal(count_names(), 0);
    assert_int_equal(region_slabs_begin(&slabs, lanes, 2, "tape"), -EINVAL);
}

/* ---- huge pages ---- */

static uint64_t free_huge_pages(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long pages = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) && sscanf(line, "HugePages_Free: %llu", &pages) != 1)
        ;
    fclose(file);
    return pages;
}

/* Whether there are any is the machine's affair: both answers are tested where they can be. */
static void huge_pages_are_had_or_missing(void **state)
{
    struct slab_windows windows;
    struct region region;
    const char *what;

    (void)state;
    if (!region_backing_unit(BACKING_HUGETLBFS))
        skip();
    if (free_huge_pages() < 5) {
        struct lane_spec many = {.name = "x", .slab_bytes = UINT64_C(1) << 33, .slab_count = 1};
        assert_int_equal(region_create(&region, &many, 1, "hugetlbfs", "b1", &what), -ENOSPC);
        assert_string_equal(what, "slabs");
        return;
    }
    uint64_t unit = region_backing_unit(BACKING_HUGETLBFS);
    assert_int_equal(region_create(&region, lanes, 2, "hugetlbfs", "b1", &what), 0);
    assert_int_equal(region.slabs_bytes, 5 * unit);
    assert_int_equal(region.control.slabs[4].offset, 4 * unit);
    assert_size_is_fixed(region.slabs_fd, region.slabs_bytes);
    assert_int_equal(slab_windows_init(&windows, region.slabs_fd, 5), 0);
    char *window = slab_window_open(&windows, 1, unit, 5000);
    assert_non_null(window);
    strcpy(window + 4998, "x");
    slab_window_close(&windows, 1);
    assert_ptr_equal(slab_window_open(&windows, 1, unit, unit), window); /* it was mapped whole */
    assert_null(slab_window_open(&windows, 1, 4096, 4096));
    const char *slabs = region_map_slabs(region.slabs_fd, region.slabs_bytes);
    assert_non_null(slabs);
    assert_string_equal(slabs + unit + 4998, "x");
    munmap((void *)(uintptr_t)slabs, region.slabs_bytes);
    slab_windows_destroy(&windows);
    region_destroy(&region);
}

/* ---- a /dev/shm that is too small: in a child with a mount namespace of its own ---- */

enum { CHILD_OK = 0, CHILD_WRONG = 1, CHILD_NOT_PERMITTED = 2 };

static uint64_t blocks_used(void)
{
    struct statvfs status;

    if (statvfs("/dev/shm", &status))
        return UINT64_MAX;
    return status.f_blocks - status.f_bfree;
}

/* One size of /dev/shm at which the object `expected` no longer fits. */
static int try_size(const char *options, uint64_t slab_bytes, const char *expected)
{
    struct lane_spec lane = {.name = "x", .slab_bytes = slab_bytes, .slab_count = 1, .credits = 1};
    struct region region;
    const char *what;

    if (mount("pawl-test", "/dev/shm", "tmpfs", 0, options))
        return CHILD_NOT_PERMITTED;
    unsigned fds = scratch_count_fds();
    int error = region_create(&region, &lane, 1, "shm", "b1", &what);
    if (error != -ENOSPC || strcmp(what, expected) != 0)
        return CHILD_WRONG;
    if (scratch_count_fds() != fds || scratch_count("/dev/shm", "pawl-") || blocks_used() != 0)
        return CHILD_WRONG;
    return umount("/dev/shm") ? CHILD_WRONG : CHILD_OK;
}

static int try_small_shm(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return CHILD_NOT_PERMITTED;
    int result = try_size("size=1m", 4096, "control");
    return result ? result : try_size("size=8m", 64 << 20, "slabs");
}

static void too_small_shm_is_enospc(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0)
        _exit(try_small_shm());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CHILD_NOT_PERMITTED) {
        printf("# skip: a small /dev/shm needs the right to mount in a namespace of its own\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), CHILD_OK);
}

/* The creator is killed right after: no name, and no memory but what we still hold. */
static void killed_creator_leaves_no_name(void **state)
{
    char prefix[32];
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        struct region region;
        const char *what;

        if (region_create(&region, lanes, 2, "shm", "b1", &what))
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(prefix, sizeof(prefix), "pawl-%ld-", (long)child);
    assert_int_equal(scratch_count("/dev/shm", prefix), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(region_is_whole),
        cmocka_unit_test(memfd_is_sealed_by_every_way_in),
        cmocka_unit_test(workers_cannot_write_control),
        cmocka_unit_test(gpu_worker_sees_what_a_window_wrote),
        cmocka_unit_test(impossible_regions_are_refused),
        cmocka_unit_test(region_without_lanes_stands),
        cmocka_unit_test(another_plan_takes_the_place_of_the_first),
        cmocka_unit_test(half_made_slabs_are_dropped),
        cmocka_unit_test(huge_pages_are_had_or_missing),
        cmocka_unit_test(too_small_shm_is_enospc),
        cmocka_unit_test(killed_creator_leaves_no_name),
    };

    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
