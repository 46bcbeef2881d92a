/*
 * Dispatch up to a filled slab: starts are paid for by credits, who is filled for first, and what
 * a synth-worker's failures cost.
 */
#include "tests/coordinator/dispatch_rig.h"

/* N -> N-1 starts one, N -> N-2 starts two: never more starts than credits and returns. */
static void test_starts_are_paid_for(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct action prove[2];
    struct rig rig;

    (void)state;
    limits.fixed_credits[0] = 2;
    rig_open(&rig, 1, 4, &limits);
    for (uint32_t seat = 0; seat < 6; seat++)
        rig_attach(&rig, seat, ROLE_SYNTH);
    rig_attach(&rig, 7, ROLE_GPU);
    rig_attach(&rig, 8, ROLE_GPU);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 2);
    prove[0] = rig_make_ready(&rig, 1);
    prove[1] = rig_make_ready(&rig, 2);
    for (uint64_t job = 3; job <= 6; job++) {
        rig_claim(&rig, job, 0, 0, PRIORITY_NORMAL);
        assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    }
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0);
    rig_compute(&rig, &prove[0]);
    rig_compute(&rig, &prove[1]);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    rig_proved(&rig, &prove[0]);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 1);
    rig_proved(&rig, &prove[1]);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 1);
    rig_close(&rig);
}

/* A raised limit is worth several starts in one step; they are counted. */
static void test_starts_at_once(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct credit_view view;
    struct rig rig;

    (void)state;
    limits.fixed_credits[0] = 1;
    rig_open(&rig, 1, 4, &limits);
    for (uint32_t seat = 0; seat < 4; seat++)
        rig_attach(&rig, seat, ROLE_SYNTH);
    for (uint64_t job = 1; job <= 4; job++)
        rig_claim(&rig, job, 0, 0, PRIORITY_NORMAL);
    credit_read(&rig.control, 0, &view);
    assert_int_equal(view.starts_at_once_max, 1);
    limits.fixed_credits[0] = 3;
    dispatch_set_limits(rig.dispatch, &limits);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0); /* two more could start, three wait */
    rig_tick(&rig);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 2);
    credit_read(&rig.control, 0, &view);
    assert_int_equal(view.starts_at_once_max, 2);
    assert_int_equal(view.grants_total, 3);
    rig_close(&rig);
}

static void test_lowered_limit(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct action fill, second;
    struct rig rig;

    (void)state;
    rig_open(&rig, 1, 4, &limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach(&rig, SYNTH2, ROLE_SYNTH);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    second = rig_take(&rig, ACTION_FILL);
    limits.fixed_credits[0] = 1;
    dispatch_set_limits(rig.dispatch, &limits);
    rig_claim(&rig, 3, 0, 0, PRIORITY_NORMAL);
    rig_failed(&rig, &fill, FAULT_INPUT, 0);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0); /* one is out still, and one is the limit */
    rig_failed(&rig, &second, FAULT_INPUT, 0);
    assert_int_equal(rig_take(&rig, ACTION_FILL).job, 3);
    rig_close(&rig);
}

/* Credits by plan: the cap until every stage is timed, then what keeps one device fed. */
static void test_planned_credits(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct rig rig;

    (void)state;
    memset(limits.fixed_credits, 0, sizeof(limits.fixed_credits));
    rig_open(&rig, 1, 16, &limits);
    assert_int_equal(credit_limit(&rig.control, 0), 1 + 3);
    for (uint32_t seat = 10; seat < 18; seat++)
        rig_attach(&rig, seat, ROLE_SYNTH);
    rig_attach(&rig, GPU, ROLE_GPU);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 8 + 3);
    for (uint64_t job = 1; job <= 20; job++) {
        struct action prove = rig_make_ready(&rig, job);
        rig_compute(&rig, &prove);
        rig_proved(&rig, &prove);
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    }
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 2 + 2); /* (0.5 + 0.5) / 0.5, and 1 + staged */
    rig_close(&rig);
}

static void test_mapped_slab_is_preferred(void **state)
{
    struct action first, second, third;
    struct rig rig;

    (void)state;
    rig_open(&rig, 1, 4, &rig_limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach(&rig, SYNTH2, ROLE_SYNTH);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    first = rig_take(&rig, ACTION_FILL);
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    second = rig_take(&rig, ACTION_FILL);
    assert_true(first.slab != second.slab);
    rig_failed(&rig, &first, FAULT_INPUT, 0);
    rig_failed(&rig, &second, FAULT_INPUT, 0);
    for (uint64_t job = 3; job < 9; job++) {
        rig_claim(&rig, job, 0, 0, PRIORITY_NORMAL);
        third = rig_take(&rig, ACTION_FILL);
        assert_int_equal(third.slab, third.seat == first.seat ? first.slab : second.slab);
        assert_true(third.generation > 1);
        if (job > 3) /* else the first stays busy, and the second gets its own as well */
            rig_failed(&rig, &third, FAULT_INPUT, 0);
    }
    assert_int_equal(third.seat, second.seat);
    rig_close(&rig);
}

/* Priority, then age; waiting makes low work high, but nothing becomes critical. */
static void test_order_of_tasks(void **state)
{
    const uint64_t order[] = {4, 2, 3, 1};
    struct rig rig;
    struct action fill;

    (void)state;
    rig_open(&rig, 1, 4, &rig_limits);
    rig_claim(&rig, 1, 0, 0, PRIORITY_LOW);
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    rig_claim(&rig, 3, 0, 0, PRIORITY_NORMAL);
    rig_claim(&rig, 4, 0, 0, PRIORITY_CRITICAL);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    for (int i = 0; i < 4; i++) {
        fill = rig_take(&rig, ACTION_FILL);
        assert_int_equal(fill.job, order[i]);
        rig_failed(&rig, &fill, FAULT_INPUT, 0);
    }
    rig_seat(&rig, EVENT_DIED, SYNTH);
    rig_claim(&rig, 5, 0, 0, PRIORITY_LOW);
    rig.now_ns += 3000 * MS; /* three steps of ageing */
    rig_claim(&rig, 6, 0, 0, PRIORITY_HIGH);
    rig_claim(&rig, 7, 0, 0, PRIORITY_CRITICAL);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    fill = rig_take(&rig, ACTION_FILL);
    assert_int_equal(fill.job, 7);
    rig_failed(&rig, &fill, FAULT_INPUT, 0);
    assert_int_equal(rig_take(&rig, ACTION_FILL).job, 5);
    rig_close(&rig);
}

static void test_priority_aged(void **state)
{
    (void)state;
    assert_int_equal(priority_aged(PRIORITY_LOW, 9, 10), PRIORITY_LOW);
    assert_int_equal(priority_aged(PRIORITY_LOW, 10, 10), PRIORITY_NORMAL);
    assert_int_equal(priority_aged(PRIORITY_LOW, 1000, 10), PRIORITY_HIGH);
    assert_int_equal(priority_aged(PRIORITY_HIGH, UINT64_MAX, 1), PRIORITY_HIGH);
    assert_int_equal(priority_aged(PRIORITY_CRITICAL, UINT64_MAX, 1), PRIORITY_CRITICAL);
    assert_int_equal(priority_aged(PRIORITY_LOW, PRIORITY_AGEING_NS, 0), PRIORITY_NORMAL);
}

static void test_lanes_take_turns(void **state)
{
    struct rig rig;
    struct action fill;

    (void)state;
    rig_open(&rig, 3, 2, &rig_limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 0), 0);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 2), 2);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 0), 1);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 2), 0);
    rig_filled(&rig, &fill);
    rig_claim(&rig, 2, 0, 1, PRIORITY_NORMAL);
    assert_int_equal(rig_take(&rig, ACTION_FILL).lane, 1);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 0), 2);
    assert_int_equal(dispatch_lane_turn(rig.dispatch, 1), 0);
    rig_close(&rig);
}

static void test_synth_failures(void **state)
{
    struct rig rig;
    struct action fill, fail;

    (void)state;
    rig_open_pair(&rig);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_failed(&rig, &fill, FAULT_INPUT, 0);
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.fault, FAULT_INPUT);
    assert_string_equal(fail.text, "because");
    assert_int_equal(rig_state(&rig, fill.slab), SLAB_FREE);
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);

    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    for (uint32_t attempt = 1; attempt < rig_limits.attempts; attempt++) {
        fill = rig_take(&rig, ACTION_FILL);
        rig_failed(&rig, &fill, FAULT_INTERNAL, 0);
        assert_int_equal(rig_count(&rig, ACTION_FAIL), 0);
        assert_int_equal(rig_take(&rig, ACTION_FILL).attempts, attempt);
    }
    fill = rig_take(&rig, ACTION_FILL);
    rig_failed(&rig, &fill, (enum wire_fault)99, 0); /* a fault that does not exist is ours */
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.fault, FAULT_INTERNAL);
    assert_string_equal(fail.text, "failed 3 times, the last time: because");
    assert_int_equal(credit_available(&rig.control, 0), 4);
    rig_close(&rig);
}

/* A FILLED of another generation ends the assignment, and nothing of it is used. */
static void test_filled_wrongly(void **state)
{
    struct rig rig;
    struct action fill;
    struct dispatch_event event;

    (void)state;
    rig_open_pair(&rig);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    event = rig_filling(&rig, &fill);
    event.filled.generation++;
    rig_step(&rig, event);
    assert_int_equal(rig_count(&rig, ACTION_PROVE), 0);
    assert_int_equal(rig_take(&rig, ACTION_FILL).attempts, 1);
    assert_int_equal(rig_counters(&rig).retries_synth_total, 1);
    rig_close(&rig);
}

/* Other slabs: nothing starts until all are FREE, and then with whom says READY again. */
static void test_hold_and_replan(void **state)
{
    struct rig rig;
    struct action fill;

    (void)state;
    rig_open_pair(&rig);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_step(&rig, (struct dispatch_event){.type = EVENT_HOLD});
    assert_int_equal(credit_limit(&rig.control, 0), 0);
    rig_filled(&rig, &fill); /* what is under way goes on */
    struct action prove = rig_take(&rig, ACTION_PROVE);
    rig_claim(&rig, 2, 0, 0, PRIORITY_CRITICAL);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 0);
    rig_compute(&rig, &prove);
    rig_proved(&rig, &prove);
    assert_true(ledger_all_free(&rig.control));
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0);

    struct lane_spec half = {.slab_bytes = 8192, .slab_count = 2};
    control_plan(&rig.control, &half, 1);
    rig_step(&rig, (struct dispatch_event){.type = EVENT_REPLANNED});
    assert_int_equal(credit_limit(&rig.control, 0), 2);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    rig_step(&rig, (struct dispatch_event){.type = EVENT_READY, .seat = fill.seat});
    fill = rig_take(&rig, ACTION_FILL);
    assert_int_equal(fill.job, 2);
    assert_true(fill.slab < 2);
    rig_filled(&rig, &fill);
    assert_int_equal(rig_count(&rig, ACTION_PROVE), 0); /* the device is not ready yet */
    rig_step(&rig, (struct dispatch_event){.type = EVENT_READY, .seat = prove.seat});
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 2);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_are_paid_for),
        cmocka_unit_test(test_starts_at_once),
        cmocka_unit_test(test_lowered_limit),
        cmocka_unit_test(test_planned_credits),
        cmocka_unit_test(test_mapped_slab_is_preferred),
        cmocka_unit_test(test_order_of_tasks),
        cmocka_unit_test(test_priority_aged),
        cmocka_unit_test(test_lanes_take_turns),
        cmocka_unit_test(test_synth_failures),
        cmocka_unit_test(test_filled_wrongly),
        cmocka_unit_test(test_hold_and_replan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
