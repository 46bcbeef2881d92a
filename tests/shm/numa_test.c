/*
 * Memory nodes: what the machine's list says, and which of them a lane's pages go to. The machines
 * of the tests have one node; the list is faked, the system call is not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/numa.h"
#include "tests/support/scratch.h"

static void lists_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t nodes;
    } cases[] = {{"0", 1},
                 {"0\n", 1},
                 {"0-1\n", 3},
                 {"0-1,4", 19},
                 {"63", UINT64_C(1) << 63},
                 {"", 0},
                 {"\n", 0},
                 {"x", 0},
                 {"0-", 0},
                 {"-1", 0},
                 {"1-0", 0},
                 {"64", 0},
                 {"0,", 0},
                 {"0 1", 0},
                 {"0-64", 0},
                 {"18446744073709551616", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(numa_parse_nodes(cases[i].text), cases[i].nodes);
}

static void one_node_needs_nothing(void **state)
{
    (void)state;
    assert_int_equal(numa_choose(1, NUMA_AUTO), 0);
    assert_int_equal(numa_choose(1, 1), 0);
    assert_int_equal(numa_choose(4, 8), 0);
}

static void several_nodes_are_chosen_from(void **state)
{
    (void)state;
    assert_int_equal(numa_choose(3, NUMA_AUTO), 3);
    assert_int_equal(numa_choose(3, 1), 1);
    assert_int_equal(numa_choose(3, 2), 2);
    assert_int_equal(numa_choose(3, 3), 3); /* node 2 is not there */
    assert_int_equal(numa_choose(3, UINT32_MAX), 3);
    assert_int_equal(numa_choose(UINT64_MAX, 64), UINT64_C(1) << 63);
}

static void list_comes_from_the_root(void **state)
{
    char root[SCRATCH_PATH_BYTES];

    (void)state;
    assert_int_equal(scratch_make(root, "numa"), 0);
    assert_int_equal(numa_nodes_online(root), 1); /* no list: one node */
    scratch_put(root, "/sys/devices/system/node/online", "0-3\n");
    assert_int_equal(numa_nodes_online(root), 15);
    assert_int_equal(scratch_remove(root), 0);
}

static void placing_harms_nothing(void **state)
{
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    numa_place(memory, 8192, NUMA_AUTO);
    numa_place(memory, 8192, 1);
    numa_place(memory, 8192, 40);
    memory[8191] = 1;
    munmap(memory, 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(one_node_needs_nothing),
        cmocka_unit_test(several_nodes_are_chosen_from),
        cmocka_unit_test(list_comes_from_the_root),
        cmocka_unit_test(placing_harms_nothing),
    };

    return cmocka_run_group_tests_name("numa", tests, NULL, NULL);
}
