/*
 * What the machine and its control groups allow, read from folders that stand for theirs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "shm/memory_limit.h"
#include "tests/support/scratch.h"

static char root[SCRATCH_PATH_BYTES];

static int make_root(void **state)
{
    (void)state;
    return scratch_make(root, "memory");
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

static void nothing_is_no_limit(void **state)
{
    (void)state;
    assert_true(memory_limit_bytes(root) == UINT64_MAX);
    put("/proc/meminfo", "MemFree: 3 kB\n");
    put("/proc/self/cgroup", "0::/\nnonsense\n1:memory\n2:cpu:relative\n");
    assert_true(memory_limit_bytes(root) == UINT64_MAX);
}

static void the_machine_counts(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemTotal:       2048 kB\nMemFree: 3 kB\n");
    assert_int_equal(memory_machine_bytes(root), 2048 * 1024);
    assert_int_equal(memory_limit_bytes(root), 2048 * 1024);
}

static void version_2_is_walked_up(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemTotal: 100000 kB\n");
    put("/proc/self/cgroup", "0::/system.slice/pawl.service\n");
    put("/sys/fs/cgroup/system.slice/pawl.service/memory.max", "max\n");
    assert_int_equal(memory_limit_bytes(root), 100000 * 1024);
    put("/sys/fs/cgroup/system.slice/memory.max", "5000000\n");
    assert_int_equal(memory_limit_bytes(root), 5000000);
    put("/sys/fs/cgroup/system.slice/pawl.service/memory.max", "4000000\n");
    assert_int_equal(memory_limit_bytes(root), 4000000);
    put("/sys/fs/cgroup/memory.max", "3000000\n"); /* a container sees its own group as the root */
    assert_int_equal(memory_limit_bytes(root), 3000000);
}

static void a_group_of_elsewhere_leaves_the_mount(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/../../elsewhere\n");
    put("/sys/fs/cgroup/memory.max", "7000000\n");
    assert_int_equal(memory_cgroup_bytes(root), 7000000);
    put("/proc/self/cgroup", "0::/not/to/be/seen/here\n");
    assert_int_equal(memory_cgroup_bytes(root), 7000000);
}

static void version_1_is_walked_up(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=systemd:/x\n5:cpu,memory:/docker/abc\n0::/\n");
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(memory_cgroup_bytes(root) == UINT64_MAX);
    put("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "6000000\n");
    assert_int_equal(memory_cgroup_bytes(root), 6000000);
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2000000\n");
    assert_int_equal(memory_cgroup_bytes(root), 2000000);
}

static void nonsense_is_no_limit(void **state)
{
    static const char *const texts[] = {"", "\n", "-5\n", "5x\n", "99999999999999999999999\n"};

    (void)state;
    put("/proc/self/cgroup", "0::/a\n");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        put("/sys/fs/cgroup/a/memory.max", texts[i]);
        assert_true(memory_cgroup_bytes(root) == UINT64_MAX);
    }
}

static void this_machine_has_memory(void **state)
{
    (void)state;
    assert_true(memory_limit_bytes("") > 1 << 20);
    assert_true(memory_limit_bytes("") < UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_no_limit),     TEST(the_machine_counts),
        TEST(version_2_is_walked_up),  TEST(a_group_of_elsewhere_leaves_the_mount),
        TEST(version_1_is_walked_up),  TEST(nonsense_is_no_limit),
        TEST(this_machine_has_memory),
    };

    return cmocka_run_group_tests_name("memory_limit", tests, NULL, NULL);
}
