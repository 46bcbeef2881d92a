/*
 * The thread pool: every index once, in every round, whoever takes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu-worker/thread_pool.h"
#include "kernels/parallel.h"

enum { INDEXES = 300, ROUNDS = 400 };

struct counts {
    struct parallel *parallel;
    unsigned char seen[INDEXES]; /* not atomic: each index has one writer a round */
    atomic_uint nested;
};

static void count_index(void *arg, unsigned index)
{
    ((struct counts *)arg)->seen[index]++;
}

static void test_each_index_runs_once_a_round(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 6; threads++) {
        struct thread_pool *pool = thread_pool_create(threads);
        struct parallel *parallel = thread_pool_parallel(pool);
        assert_int_equal(parallel->threads, threads);
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct counts counts = {0};
            unsigned count = round % INDEXES;
            parallel->run(parallel, count_index, &counts, count);
            for (unsigned i = 0; i < INDEXES; i++)
                assert_int_equal(counts.seen[i], i < count);
        }
        thread_pool_destroy(pool);
    }
}

static void nest_inner(void *arg, unsigned index)
{
    (void)index;
    atomic_fetch_add(&((struct counts *)arg)->nested, 1);
}

static void nest_outer(void *arg, unsigned index)
{
    struct counts *counts = arg;
    (void)index;
    counts->parallel->run(counts->parallel, nest_inner, counts, 7);
}

static void test_a_task_may_run_tasks(void **state)
{
    (void)state;
    struct thread_pool *pool = thread_pool_create(3);
    struct counts counts = {.parallel = thread_pool_parallel(pool)};
    for (unsigned round = 0; round < ROUNDS; round++)
        counts.parallel->run(counts.parallel, nest_outer, &counts, 5);
    assert_int_equal(counts.nested, ROUNDS * 5 * 7);
    thread_pool_destroy(pool);
}

static int answer(void *arg)
{
    return *(int *)arg;
}

static void test_cancelled_asks_who_was_set(void **state)
{
    (void)state;
    struct thread_pool *pool = thread_pool_create(2);
    struct parallel *parallel = thread_pool_parallel(pool);
    int yes = 0;
    assert_int_equal(parallel->cancelled(parallel), 0);
    thread_pool_set_cancelled(pool, answer, &yes);
    assert_int_equal(parallel->cancelled(parallel), 0);
    yes = 1;
    assert_int_equal(parallel->cancelled(parallel), 1);
    thread_pool_set_cancelled(pool, NULL, NULL);
    assert_int_equal(parallel->cancelled(parallel), 0);
    thread_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_runs_once_a_round),
        cmocka_unit_test(test_a_task_may_run_tasks),
        cmocka_unit_test(test_cancelled_asks_who_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
