/*
 * The faults that a FAULT=1 build can be asked for. Compiled in here, whatever the build.
 */
#ifndef PAWL_FAULT
#define PAWL_FAULT
#endif
#include "gpu-worker/fault.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static int is_touched(void)
{
    struct proof_sums sums, zero;
    memset(&sums, 0, sizeof(sums));
    memset(&zero, 0, sizeof(zero));
    fault_touch_sums(&sums);
    return memcmp(&sums, &zero, sizeof(sums)) != 0;
}

/* The count of sums made is the process's: the calls below are the 1st, 2nd ... 7th. */
static void test_flip_sum(void **state)
{
    (void)state;
    unsetenv("PAWL_FAULT");
    assert_false(is_touched());
    setenv("PAWL_FAULT", "flip_sum:3", 1);
    assert_false(is_touched());
    assert_true(is_touched());
    assert_false(is_touched());
    setenv("PAWL_FAULT", "flip_sum:0", 1);
    assert_true(is_touched());
    assert_true(is_touched());
    setenv("PAWL_FAULT", "something:0", 1);
    assert_false(is_touched());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flip_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
