/*
 * The desk: one place for each assignment, and exactly one who ends it.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu-worker/desk.h"

enum { MOST = 4 };

struct setting {
    struct desk *desk;
    struct assignment at[MOST]; /* numbers 1 to MOST */
};

static void setting_open(struct setting *setting, unsigned staged)
{
    *setting = (struct setting){.desk = desk_create()};
    for (unsigned i = 0; i < MOST; i++)
        setting->at[i].order.assignment = i + 1;
    for (unsigned i = 0; i < staged; i++)
        assert_int_equal(desk_put(setting->desk, &setting->at[i]), 0);
}

static void take(struct setting *setting, unsigned number)
{
    struct assignment *taken;
    assert_int_equal(desk_take(setting->desk, &taken), DESK_WORK);
    assert_ptr_equal(taken, &setting->at[number - 1]);
}

static void hand_over(struct setting *setting, unsigned number)
{
    struct assignment *assignment = &setting->at[number - 1];
    assert_int_equal(desk_await_finalizer(setting->desk, assignment), 0);
    desk_hand_over(setting->desk, assignment);
    assert_ptr_equal(desk_receive(setting->desk), assignment);
}

static void finish(struct setting *setting, unsigned number, int cancelled)
{
    assert_int_equal(desk_end(setting->desk, &setting->at[number - 1]), cancelled);
    desk_clear(setting->desk);
}

static void test_assignments_pass_in_order(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 3);
    for (unsigned number = 1; number <= 3; number++) {
        take(&setting, number);
        hand_over(&setting, number);
        finish(&setting, number, 0);
    }
    desk_destroy(setting.desk);
}

static void test_a_staged_one_is_cancelled_at_once(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 3);
    assert_ptr_equal(desk_cancel(setting.desk, 3), &setting.at[2]); /* the last */
    assert_ptr_equal(desk_cancel(setting.desk, 1), &setting.at[0]); /* the first */
    assert_null(desk_cancel(setting.desk, 1));                      /* ended already */
    assert_null(desk_cancel(setting.desk, 77));
    assert_int_equal(desk_put(setting.desk, &setting.at[3]), 0);
    take(&setting, 2);
    hand_over(&setting, 2);
    finish(&setting, 2, 0);
    take(&setting, 4);
    hand_over(&setting, 4);
    finish(&setting, 4, 0);
    desk_destroy(setting.desk);
}

static void test_one_at_work_is_told(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 2);
    take(&setting, 1);
    assert_int_equal(assignment_is_cancelled(&setting.at[0]), 0);
    assert_null(desk_cancel(setting.desk, 1));
    assert_int_equal(assignment_is_cancelled(&setting.at[0]), 1);
    assert_int_equal(desk_end(setting.desk, &setting.at[0]), 1);
    take(&setting, 2);
    hand_over(&setting, 2);
    assert_null(desk_cancel(setting.desk, 2));
    finish(&setting, 2, 1);
    desk_destroy(setting.desk);
}

static void test_the_one_ahead_is_next(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 0);
    assert_null(desk_look_ahead(setting.desk));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(desk_put(setting.desk, &setting.at[i]), 0);
    take(&setting, 1);
    assert_ptr_equal(desk_look_ahead(setting.desk), &setting.at[1]);
    assert_ptr_equal(desk_look_ahead(setting.desk), &setting.at[1]);
    hand_over(&setting, 1);
    finish(&setting, 1, 0);
    assert_int_equal(desk_is_empty(setting.desk), 0);
    for (unsigned number = 2; number <= 3; number++) {
        take(&setting, number);
        hand_over(&setting, number);
        finish(&setting, number, 0);
    }
    assert_int_equal(desk_is_empty(setting.desk), 1);
    desk_destroy(setting.desk);
}

/* Its slab may be read: so it is told, and the prover ends it. */
static void test_the_one_ahead_is_told(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 3);
    take(&setting, 1);
    desk_look_ahead(setting.desk);
    assert_null(desk_cancel(setting.desk, 2));
    assert_int_equal(assignment_is_cancelled(&setting.at[1]), 1);
    assert_int_equal(desk_end(setting.desk, &setting.at[1]), 1);
    assert_ptr_equal(desk_look_ahead(setting.desk), &setting.at[2]);
    assert_null(desk_leave(setting.desk));
    assert_int_equal(assignment_is_cancelled(&setting.at[2]), 1);
    assert_int_equal(desk_end(setting.desk, &setting.at[0]), 0);
    assert_int_equal(desk_is_empty(setting.desk), 0);
    take(&setting, 3); /* before it is over */
    assert_int_equal(desk_end(setting.desk, &setting.at[2]), 1);
    struct assignment *taken;
    assert_int_equal(desk_take(setting.desk, &taken), DESK_OVER);
    desk_destroy(setting.desk);
}

/* Taken off the desk means ended: a CANCEL that comes now finds nothing and changes nothing. */
static void test_a_late_cancel_finds_nothing(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 1);
    take(&setting, 1);
    hand_over(&setting, 1);
    assert_int_equal(desk_end(setting.desk, &setting.at[0]), 0);
    assert_null(desk_cancel(setting.desk, 1));
    assert_int_equal(assignment_is_cancelled(&setting.at[0]), 0);
    desk_clear(setting.desk);
    desk_destroy(setting.desk);
}

/* ---- waiting ---- */

struct waiter {
    struct setting *setting;
    unsigned number;
    int answer;
};

static void *wait_for_finalizer(void *arg)
{
    struct waiter *waiter = arg;
    waiter->answer =
        desk_await_finalizer(waiter->setting->desk, &waiter->setting->at[waiter->number - 1]);
    return NULL;
}

static int wait_while(struct setting *setting, void (*act)(struct setting *setting))
{
    struct waiter waiter = {setting, 2, 1};
    pthread_t thread;
    take(setting, 1);
    hand_over(setting, 1);
    take(setting, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_finalizer, &waiter), 0);
    act(setting);
    pthread_join(thread, NULL);
    return waiter.answer;
}

static void act_cancel(struct setting *setting)
{
    assert_null(desk_cancel(setting->desk, 2));
}

static void act_finish(struct setting *setting)
{
    finish(setting, 1, 0);
}

static void test_a_computed_one_waits_for_the_finalizer(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 2);
    assert_int_equal(wait_while(&setting, act_finish), 0);
    hand_over(&setting, 2);
    finish(&setting, 2, 0);
    desk_destroy(setting.desk);
}

static void test_a_computed_one_is_cancelled_while_it_waits(void **state)
{
    (void)state;
    struct setting setting;
    setting_open(&setting, 2);
    assert_int_equal(wait_while(&setting, act_cancel), -ECANCELED);
    assert_int_equal(desk_end(setting.desk, &setting.at[1]), 1);
    finish(&setting, 1, 0);
    desk_destroy(setting.desk);
}

/* ---- leaving ---- */

static void test_leaving_gives_the_staged_back(void **state)
{
    (void)state;
    struct setting setting;
    struct assignment *taken;
    setting_open(&setting, 3);
    take(&setting, 1);
    struct assignment *given = desk_leave(setting.desk);
    assert_ptr_equal(given, &setting.at[1]);
    assert_ptr_equal(given->next, &setting.at[2]);
    assert_null(given->next->next);
    assert_int_equal(desk_put(setting.desk, &setting.at[3]), -ESHUTDOWN);
    hand_over(&setting, 1); /* what is at work ends as it would */
    assert_int_equal(desk_take(setting.desk, &taken), DESK_OVER);
    desk_close(setting.desk);
    finish(&setting, 1, 0);
    assert_null(desk_receive(setting.desk));
    desk_destroy(setting.desk);
}

static void test_waking_gives_no_assignment_once(void **state)
{
    (void)state;
    struct setting setting;
    struct assignment *taken;
    setting_open(&setting, 0);
    desk_wake(setting.desk);
    assert_int_equal(desk_take(setting.desk, &taken), DESK_WOKEN);
    assert_null(taken);
    assert_int_equal(desk_put(setting.desk, &setting.at[0]), 0);
    take(&setting, 1);
    desk_end(setting.desk, &setting.at[0]);
    desk_destroy(setting.desk);
}

static void test_more_than_there_are_slabs_is_refused(void **state)
{
    (void)state;
    static struct assignment many[SLABS_MAX + 1];
    struct desk *desk = desk_create();
    for (unsigned i = 0; i <= SLABS_MAX; i++)
        assert_int_equal(desk_put(desk, &many[i]), i < SLABS_MAX ? 0 : -ENOBUFS);
    desk_leave(desk);
    desk_destroy(desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assignments_pass_in_order),
        cmocka_unit_test(test_a_staged_one_is_cancelled_at_once),
        cmocka_unit_test(test_one_at_work_is_told),
        cmocka_unit_test(test_the_one_ahead_is_next),
        cmocka_unit_test(test_the_one_ahead_is_told),
        cmocka_unit_test(test_a_late_cancel_finds_nothing),
        cmocka_unit_test(test_a_computed_one_waits_for_the_finalizer),
        cmocka_unit_test(test_a_computed_one_is_cancelled_while_it_waits),
        cmocka_unit_test(test_leaving_gives_the_staged_back),
        cmocka_unit_test(test_waking_gives_no_assignment_once),
        cmocka_unit_test(test_more_than_there_are_slabs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
