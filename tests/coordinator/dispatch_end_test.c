/*
 * Dispatch at ends: a job that ends or fails, a worker that dies, leaves or gives back, and what of
 * slabs, credits and charges is left then.
 */
#include "tests/coordinator/dispatch_rig.h"

/* With a partition its job has failed, and its witnesses are gone: in the same step already nothing
 * of the job is handed out, and what is held is called back. */
static void test_failure_fails_the_job(void **state)
{
    struct rig rig;
    struct action fill[2], prove;

    (void)state;
    rig_open(&rig, 1, 4, &rig_limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    prove = rig_make_ready(&rig, 1);
    assert_int_equal(prove.job, 0); /* READY, for there is no device */
    rig_claim(&rig, 1, 1, 0, PRIORITY_NORMAL);
    fill[0] = rig_take(&rig, ACTION_FILL);
    rig_claim(&rig, 1, 2, 0, PRIORITY_NORMAL); /* waits for a synth-worker */
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    rig_failed(&rig, &fill[0], FAULT_INPUT, 0);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).partition, 1);
    fill[1] = rig_take(&rig, ACTION_FILL);
    assert_int_equal(fill[1].job, 2);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 0);
    rig_job(&rig, EVENT_JOB_ENDED, 1, 0); /* as the store says it afterwards */
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(dispatch_tasks(rig.dispatch), 1);
    rig_close(&rig);
}

/* Partitions of a job whose worker dies fail the job; another's slab comes back. */
static void test_death_fails_the_job(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct action prove[2], fill;
    struct rig rig;

    (void)state;
    limits.deaths = 0;
    rig_open(&rig, 1, 4, &limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach(&rig, SYNTH2, ROLE_SYNTH);
    rig_attach(&rig, GPU, ROLE_GPU);
    rig_claim(&rig, 1, 2, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    prove[0] = rig_make_partition(&rig, 1, 0);
    rig_compute(&rig, &prove[0]);
    prove[1] = rig_make_partition(&rig, 1, 1);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    rig_seat(&rig, EVENT_DIED, GPU);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).assignment, fill.assignment);
    assert_true(rig_count(&rig, ACTION_FAIL) >= 1);
    rig_say(&rig, EVENT_RELEASED, &fill);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);
    rig_close(&rig);
}

static void test_same_partition_twice(void **state)
{
    struct rig rig;

    (void)state;
    rig_open_pair(&rig);
    rig_make_ready(&rig, 1);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(rig_dropped(&rig), 1);
    rig_claim(&rig, 2, 0, 5, PRIORITY_NORMAL); /* there is no lane 5 */
    assert_int_equal(rig_dropped(&rig), 2);
    rig_close(&rig);
}

/* A job of five partitions in five states ends. */
static void test_job_ended_everywhere(void **state)
{
    struct rig rig;
    struct action proves[2], fill;

    (void)state;
    rig_open_pair(&rig);
    proves[0] = rig_make_partition(&rig, 1, 0);
    rig_say(&rig, EVENT_STARTED, &proves[0]);
    proves[1] = rig_make_partition(&rig, 1, 1);
    rig_make_partition(&rig, 1, 2);
    rig_claim(&rig, 1, 3, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_claim(&rig, 1, 4, 0, PRIORITY_NORMAL);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 0);
    rig_job(&rig, EVENT_JOB_ENDED, 1, 0);
    assert_int_equal(rig_count(&rig, ACTION_CANCEL), 3); /* proving, assigned, filling */
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 1);  /* the ready one, at once */
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);
    rig_job(&rig, EVENT_JOB_ENDED, 1, 0);
    assert_int_equal(rig_count(&rig, ACTION_CANCEL), 0);
    rig_say(&rig, EVENT_RELEASED, &proves[1]);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 2);
    rig_filled(&rig, &fill); /* its end was on the way */
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 3);
    rig_say(&rig, EVENT_COMPUTED, &proves[0]);
    rig_proved(&rig, &proves[0]);
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    assert_int_equal(credit_available(&rig.control, 0), 4);
    rig_close(&rig);
}

static void test_synth_dies(void **state)
{
    struct rig rig;
    struct action fill, fail;

    (void)state;
    rig_open_pair(&rig);
    rig_claim(&rig, 1, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    for (uint32_t death = 1; death <= rig_limits.deaths; death++) {
        assert_int_equal(fill.job, 1); /* in front of the others */
        rig_seat(&rig, EVENT_DIED, SYNTH);
        assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_QUEUED);
        assert_int_equal(rig_take(&rig, ACTION_STATE).deaths, death);
        assert_int_equal(credit_available(&rig.control, 0), 4);
        rig_attach(&rig, SYNTH, ROLE_SYNTH);
        fill = rig_take(&rig, ACTION_FILL);
    }
    rig_seat(&rig, EVENT_DIED, SYNTH);
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.fault, FAULT_INTERNAL);
    assert_string_equal(fail.text, "killed its worker 3 times: signal 9");
    rig_seat(&rig, EVENT_DIED, SYNTH);
    assert_int_equal(rig.actions.count, 0); /* dead once */
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    assert_int_equal(rig_take(&rig, ACTION_FILL).job, 2);
    rig_filled(&rig, &fill); /* of the earlier incarnation */
    assert_int_equal(rig_dropped(&rig), 1);
    rig_close(&rig);
}

static void test_gpu_dies(void **state)
{
    struct rig rig;
    struct action prove[3], again;

    (void)state;
    rig_open_pair(&rig);
    prove[0] = rig_make_ready(&rig, 1);
    rig_compute(&rig, &prove[0]);
    prove[1] = rig_make_ready(&rig, 2);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    prove[2] = rig_make_ready(&rig, 3);
    assert_int_equal(prove[2].job, 3);
    rig_seat(&rig, EVENT_DIED, GPU);
    assert_int_equal(rig_count(&rig, ACTION_STATE), 2); /* FINALIZING and PROVING are charged */
    for (uint32_t i = 0; i < rig.actions.count; i++) {
        assert_int_equal(rig.actions.list[i].state, PARTITION_READY);
        assert_int_equal(rig.actions.list[i].deaths, 1);
        assert_true(rig.actions.list[i].job != 3);
    }
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 3);
    assert_int_equal(rig_counters(&rig).reclaims_total, 3);
    rig_attach(&rig, GPU2, ROLE_GPU);
    again = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(again.job, 1);
    assert_int_equal(again.generation, prove[0].generation);
    assert_memory_equal(again.digest, prove[0].digest, HASH_BYTES);
    rig_proved(&rig, &prove[0]); /* from the dead seat */
    assert_int_equal(rig_count(&rig, ACTION_RESULT), 0);
    assert_int_equal(rig_dropped(&rig), 1);
    rig_close(&rig);
}

static void test_gpu_dies_too_often(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    for (uint32_t death = 1; death <= rig_limits.deaths; death++) {
        rig_say(&rig, EVENT_STARTED, &prove);
        rig_seat(&rig, EVENT_DIED, GPU);
        assert_int_equal(rig_count(&rig, ACTION_FAIL), 0);
        rig_attach(&rig, GPU, ROLE_GPU);
        prove = rig_take(&rig, ACTION_PROVE);
    }
    rig_say(&rig, EVENT_STARTED, &prove);
    rig_seat(&rig, EVENT_DIED, GPU);
    assert_string_equal(rig_take(&rig, ACTION_FAIL).text, "killed its worker 3 times: signal 9");
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    rig_close(&rig);
}

static void test_death_after_the_job_ended(void **state)
{
    struct rig rig;
    struct action prove, fill;

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    rig_claim(&rig, 2, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_job(&rig, EVENT_JOB_ENDED, 1, 0);
    rig_job(&rig, EVENT_JOB_ENDED, 2, 0);
    rig_seat(&rig, EVENT_DIED, prove.seat);
    assert_int_equal(rig.actions.count, 0);
    rig_seat(&rig, EVENT_DIED, fill.seat);
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    rig_close(&rig);
}

static void test_leaving(void **state)
{
    struct rig rig;
    struct action prove, staged, fill;

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = rig_make_ready(&rig, 2);
    rig_claim(&rig, 3, 0, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_seat(&rig, EVENT_LEAVING, SYNTH);
    rig_seat(&rig, EVENT_LEAVING, GPU);
    rig_say(&rig, EVENT_RELEASED, &fill); /* handed back: no charge */
    assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_QUEUED);
    assert_int_equal(rig_take(&rig, ACTION_STATE).attempts, 0);
    assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    rig_say(&rig, EVENT_RELEASED, &staged);
    assert_int_equal(rig.actions.count, 0);
    rig_say(&rig, EVENT_COMPUTED, &prove);
    rig_proved(&rig, &prove); /* what is assigned is ended */
    assert_int_equal(rig_count(&rig, ACTION_RESULT), 1);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0);
    rig_close(&rig);
}

/* A worker that hands back what it was given, for ever, fails the job in the end. */
static void test_released_unasked(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    for (uint32_t i = 1; i < rig_limits.attempts; i++) {
        rig_say(&rig, EVENT_RELEASED, &prove);
        prove = rig_take(&rig, ACTION_PROVE);
    }
    rig_say(&rig, EVENT_RELEASED, &prove);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_INTERNAL);
    rig_close(&rig);
}

/* Loading a key comes before STARTED: the word of the dead says whom its death is charged to. */
static void test_death_before_started(void **state)
{
    struct rig rig;
    struct action prove, other;
    struct dispatch_event death = {.type = EVENT_DIED, .seat = GPU, .died = {.obituary = "74"}};

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    other = rig_make_ready(&rig, 2);
    death.died.assignment = prove.assignment;
    for (uint32_t deaths = 1; deaths <= rig_limits.deaths; deaths++) {
        assert_int_equal(rig_state(&rig, prove.slab), SLAB_ASSIGNED);
        rig_step(&rig, death);
        assert_int_equal(rig_count(&rig, ACTION_STATE), 1);
        assert_int_equal(rig_take(&rig, ACTION_STATE).deaths, deaths);
        assert_int_equal(rig_take(&rig, ACTION_STATE).job, 1);
        rig_step(&rig, (struct dispatch_event){
                           .type = EVENT_ATTACHED, .seat = GPU, .attached = {.role = ROLE_GPU}});
        rig_step(&rig, (struct dispatch_event){.type = EVENT_READY, .seat = GPU});
        prove = rig_take(&rig, ACTION_PROVE);
        assert_int_equal(prove.job, 1);
        death.died.assignment = prove.assignment;
    }
    rig_step(&rig, death);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).job, 1);
    assert_non_null(strstr(rig_take(&rig, ACTION_FAIL).text, "killed its worker 3 times: 74"));
    rig_attach(&rig, GPU, ROLE_GPU);
    other = rig_take(&rig, ACTION_PROVE);
    death.died.assignment = other.assignment + 1; /* nobody's */
    rig_step(&rig, death);
    assert_int_equal(rig_count(&rig, ACTION_STATE) + rig_count(&rig, ACTION_FAIL), 0);
    rig_attach(&rig, GPU, ROLE_GPU);
    other = rig_take(&rig, ACTION_PROVE);
    death.died.assignment = other.assignment;
    death.died.left = 1;
    rig_step(&rig, death);
    assert_int_equal(rig_count(&rig, ACTION_STATE) + rig_count(&rig, ACTION_FAIL), 0);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_fails_the_job),
        cmocka_unit_test(test_death_fails_the_job),
        cmocka_unit_test(test_same_partition_twice),
        cmocka_unit_test(test_job_ended_everywhere),
        cmocka_unit_test(test_synth_dies),
        cmocka_unit_test(test_gpu_dies),
        cmocka_unit_test(test_gpu_dies_too_often),
        cmocka_unit_test(test_death_after_the_job_ended),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_released_unasked),
        cmocka_unit_test(test_death_before_started),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
