/*
 * The store in memory: what every store promises, and what is kept how long.
 */
#include "tests/coordinator/store_suite.h"

static struct store *rig_open(const struct store_limits *limits)
{
    return store_memory_create(limits);
}

static void rig_settle(void) {}

static void rig_close(struct store *store)
{
    store->destroy(store);
}

static void test_retention(void **state)
{
    struct told told;
    struct store *store = open_store(&test_limits, &told);
    uint64_t ids[6];
    (void)state;
    for (int i = 0; i < 6; i++)
        ids[i] = accept_job(store, &told, 0, PRIORITY_NORMAL, at(1), 1, 1);
    for (int i = 0; i < 5; i++)
        end_job(store, ids[i], FAULT_CANCELLED, "no", at((uint64_t)(10 + i)));
    assert_int_equal(store->overdue(store, at(20)), 0); /* the tick */
    assert_null(store->find(store, ids[0]));
    assert_null(fetch(store, ids[1]));
    assert_non_null(store->find(store, ids[2])); /* three are kept */
    store->overdue(store, at(113));
    assert_null(store->find(store, ids[2])); /* ended at 12 s, kept for 100 s */
    assert_non_null(store->find(store, ids[3]));
    assert_non_null(store->find(store, ids[5])); /* not final: for ever */
    rig_close(store);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(job_state_name(JOB_CANCELLED), "cancelled");
    assert_string_equal(job_state_name((enum job_state)99), "unknown");
    assert_string_equal(partition_state_name(PARTITION_PROVING), "proving");
    assert_string_equal(partition_state_name(PARTITION_CANCELLED), "cancelled");
    for (int i = 0; i < PRIORITIES; i++)
        assert_int_equal(priority_parse(priority_name((enum priority)i)), i);
    assert_int_equal(priority_parse("urgent"), -EINVAL);
    assert_int_equal(priority_parse(""), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_SUITE,
        cmocka_unit_test(test_retention),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
