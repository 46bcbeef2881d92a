/*
 * Dispatch, one scenario for each promise: what a worker gets, what its answers, its lies and its
 * death do to slabs, credits and jobs. After every step the rig compares the credit counters with
 * the slab words.
 */
#include "tests/coordinator/dispatch_rig.h"

enum { SYNTH = 1, SYNTH2 = 2, GPU = 3, GPU2 = 4 };

/* One synth-worker, one gpu-worker, one lane of four slabs. */
static void open_pair(struct rig *rig)
{
    rig_open(rig, 1, 4, &rig_limits);
    rig_attach(rig, SYNTH, ROLE_SYNTH);
    rig_attach(rig, GPU, ROLE_GPU);
}

/* Claims a partition and has it filled; the PROVE that comes, or an action of job 0. */
static struct action make_partition(struct rig *rig, uint64_t job, uint32_t partition)
{
    struct action fill;

    rig_claim(rig, job, partition, 0, PRIORITY_NORMAL);
    fill = rig_take(rig, ACTION_FILL);
    rig_filled(rig, &fill);
    return rig_count(rig, ACTION_PROVE) ? rig_take(rig, ACTION_PROVE) : (struct action){0};
}

static struct action make_ready(struct rig *rig, uint64_t job)
{
    return make_partition(rig, job, 0);
}

static void compute(struct rig *rig, const struct action *prove)
{
    rig_say(rig, EVENT_STARTED, prove);
    rig_say(rig, EVENT_COMPUTED, prove);
}

static void test_one_partition(void **state)
{
    struct rig rig;
    struct action fill, prove, result;

    (void)state;
    open_pair(&rig);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 1);
    rig_claim(&rig, 11, 3, 0, PRIORITY_NORMAL);
    fill = rig_take(&rig, ACTION_FILL);
    assert_int_equal(fill.seat, SYNTH);
    assert_int_equal(fill.job, 11);
    assert_int_equal(fill.partition, 3);
    assert_int_equal(fill.circuit, 7);
    assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_FILLING);
    assert_int_equal(credit_available(&rig.control, 0), 3);
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0);
    rig_filled(&rig, &fill);
    assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_READY);
    prove = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(prove.seat, GPU);
    assert_int_equal(prove.generation, fill.generation);
    assert_true(prove.assignment != fill.assignment);
    rig_say(&rig, EVENT_STARTED, &prove);
    assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_PROVING);
    rig_say(&rig, EVENT_COMPUTED, &prove);
    assert_int_equal(rig_state(&rig, prove.slab), SLAB_FINALIZING);
    rig_proved(&rig, &prove);
    result = rig_take(&rig, ACTION_RESULT);
    assert_int_equal(result.job, 11);
    assert_int_equal(result.assignment, prove.assignment);
    assert_int_equal(result.generation, prove.generation);
    assert_true(result.witness_ns <= MS / 4);
    assert_true(result.ready_ns > 0);
    assert_int_equal(rig_state(&rig, prove.slab), SLAB_FREE);
    assert_int_equal(credit_available(&rig.control, 0), 4);
    assert_int_equal(dispatch_tasks(rig.dispatch), 1); /* until its commit */
    rig_job(&rig, EVENT_COMMITTED, 11, 3);
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);
    assert_int_equal(rig_dropped(&rig), 0);
    rig_close(&rig);
}

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
    prove[0] = make_ready(&rig, 1);
    prove[1] = make_ready(&rig, 2);
    for (uint64_t job = 3; job <= 6; job++) {
        rig_claim(&rig, job, 0, 0, PRIORITY_NORMAL);
        assert_int_equal(rig_count(&rig, ACTION_FILL), 0);
    }
    assert_int_equal(dispatch_wants(rig.dispatch, 0), 0);
    compute(&rig, &prove[0]);
    compute(&rig, &prove[1]);
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
    open_pair(&rig);
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

/* With a partition its job has failed, and its witnesses are gone: in the same step already nothing
 * of the job is handed out, and what is held is called back. */
static void test_failure_fails_the_job(void **state)
{
    struct rig rig;
    struct action fill[2], prove;

    (void)state;
    rig_open(&rig, 1, 4, &rig_limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    prove = make_ready(&rig, 1);
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
    prove[0] = make_partition(&rig, 1, 0);
    compute(&rig, &prove[0]);
    prove[1] = make_partition(&rig, 1, 1);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    rig_seat(&rig, EVENT_DIED, GPU);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).assignment, fill.assignment);
    assert_true(rig_count(&rig, ACTION_FAIL) >= 1);
    rig_say(&rig, EVENT_RELEASED, &fill);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);
    rig_close(&rig);
}

/* A FILLED of another generation ends the assignment, and nothing of it is used. */
static void test_filled_wrongly(void **state)
{
    struct rig rig;
    struct action fill;
    struct dispatch_event event;

    (void)state;
    open_pair(&rig);
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

static void test_gpu_failures(void **state)
{
    struct rig rig;
    struct action prove, again, fail;

    (void)state;
    open_pair(&rig);
    prove = make_ready(&rig, 1);
    compute(&rig, &prove);
    rig_failed(&rig, &prove, FAULT_INPUT, 0);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_INPUT);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);

    prove = make_ready(&rig, 2);
    for (uint32_t attempt = 1; attempt < rig_limits.attempts; attempt++) {
        if (attempt > 1)
            rig_say(&rig, EVENT_STARTED, &prove); /* once before it was started, once after */
        rig_failed(&rig, &prove, FAULT_CAPACITY, 0);
        again = rig_take(&rig, ACTION_PROVE);
        assert_int_equal(again.slab, prove.slab);
        assert_int_equal(again.generation, prove.generation);
        assert_true(again.assignment > prove.assignment);
        prove = again;
    }
    rig_failed(&rig, &prove, FAULT_CAPACITY, 0);
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.fault, FAULT_CAPACITY);
    assert_int_equal(fail.attempts, 3);
    assert_int_equal(credit_available(&rig.control, 0), 4);
    rig_close(&rig);
}

/* One PROVING and `staged` ASSIGNED for each; one FINALIZING beside; the least loaded first. */
static void test_gpu_places(void **state)
{
    struct rig rig;
    struct action prove[4];

    (void)state;
    open_pair(&rig);
    prove[0] = make_ready(&rig, 1);
    assert_int_equal(make_ready(&rig, 2).job, 0); /* one is staged, and none has been started */
    rig_say(&rig, EVENT_STARTED, &prove[0]);
    prove[1] = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(prove[1].job, 2);
    assert_int_equal(make_ready(&rig, 3).job, 0);
    rig_say(&rig, EVENT_COMPUTED, &prove[0]);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    prove[2] = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(prove[2].job, 3);
    assert_int_equal(make_ready(&rig, 4).job, 0);
    rig_attach(&rig, GPU2, ROLE_GPU);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 0); /* its READY brought it the fourth */
    /* The first says "computed" and not "proved": two FINALIZING, one PROVING, and no more. */
    rig_say(&rig, EVENT_COMPUTED, &prove[1]);
    rig_say(&rig, EVENT_STARTED, &prove[2]);
    rig_seat(&rig, EVENT_DIED, GPU2);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 1);
    rig_proved(&rig, &prove[0]);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 4);
    rig_close(&rig);
}

static void test_urgent_displaces(void **state)
{
    struct rig rig;
    struct action prove, staged, cancel, fill;

    (void)state;
    open_pair(&rig);
    prove = make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = make_ready(&rig, 2);
    assert_int_equal(staged.job, 2);
    rig_claim(&rig, 9, 0, 0, PRIORITY_CRITICAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_filled(&rig, &fill);
    cancel = rig_take(&rig, ACTION_CANCEL);
    assert_int_equal(cancel.assignment, staged.assignment);
    assert_int_equal(cancel.seat, GPU);
    rig_tick(&rig);
    assert_int_equal(rig_count(&rig, ACTION_CANCEL), 0); /* once is enough */
    rig_say(&rig, EVENT_RELEASED, &staged);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 9);
    assert_int_equal(rig_count(&rig, ACTION_FAIL), 0);
    assert_int_equal(rig_state(&rig, staged.slab), SLAB_READY);
    assert_int_equal(rig_counters(&rig).retries_prove_total, 0);
    rig_close(&rig);
}

/* Nothing that is as urgent is displaced. */
static void test_urgent_beside_urgent(void **state)
{
    struct rig rig;
    struct action fill;

    (void)state;
    open_pair(&rig);
    for (uint64_t job = 1; job <= 2; job++) {
        rig_claim(&rig, job, 0, 0, PRIORITY_CRITICAL);
        fill = rig_take(&rig, ACTION_FILL);
        rig_filled(&rig, &fill);
        assert_int_equal(rig_count(&rig, ACTION_PROVE), job == 1);
        assert_int_equal(rig_count(&rig, ACTION_CANCEL), 0);
    }
    rig_close(&rig);
}

/* The recall was too late: it had been started. It is proved again, and nobody is charged. */
static void test_urgent_too_late(void **state)
{
    struct rig rig;
    struct action prove, fill;

    (void)state;
    open_pair(&rig);
    prove = make_ready(&rig, 1);
    rig_claim(&rig, 9, 0, 0, PRIORITY_CRITICAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_filled(&rig, &fill);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).assignment, prove.assignment);
    rig_say(&rig, EVENT_STARTED, &prove);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 9);
    rig_say(&rig, EVENT_RELEASED, &prove);
    assert_int_equal(rig_take(&rig, ACTION_STATE).state, PARTITION_READY);
    assert_int_equal(rig_take(&rig, ACTION_STATE).attempts, 0);
    rig_close(&rig);
}

/* The proof of another slab, filling or witness is thrown away, charged, and made again. */
static void test_mismatches(void **state)
{
    (void)state;
    for (int lie = 0; lie < 4; lie++) {
        struct rig rig;
        struct action prove;
        struct dispatch_event event;

        open_pair(&rig);
        prove = make_ready(&rig, 1);
        if (lie < 3)
            compute(&rig, &prove); /* else: a result before it was computed */
        event = rig_proof(&rig, &prove);
        event.proved.digest[5] ^= lie == 0;
        event.proved.generation += lie == 1;
        event.proved.slab ^= lie == 2;
        rig_step(&rig, event);
        assert_int_equal(rig_count(&rig, ACTION_RESULT), 0);
        assert_int_equal(rig_counters(&rig).device_charges_total, 1);
        assert_int_equal(rig_counters(&rig).retries_prove_total, 1);
        prove = rig_take(&rig, ACTION_PROVE);
        assert_int_equal(prove.attempts, 1);
        compute(&rig, &prove);
        rig_proved(&rig, &prove);
        assert_int_equal(rig_take(&rig, ACTION_RESULT).attempts, 1);
        rig_close(&rig);
    }
}

static void test_device_set_aside(void **state)
{
    struct rig rig;
    struct action prove, staged;
    struct dispatch_event event;

    (void)state;
    open_pair(&rig);
    for (uint64_t job = 1; job <= 3; job++) {
        prove = make_ready(&rig, job);
        compute(&rig, &prove);
        event = rig_proof(&rig, &prove);
        event.proved.device_charged = job != 2; /* not in a row */
        rig_step(&rig, event);
        assert_int_equal(rig_count(&rig, ACTION_RESULT), 1);
        assert_false(dispatch_set_aside(rig.dispatch, GPU));
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    }
    prove = make_ready(&rig, 9);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = make_ready(&rig, 10);
    rig_failed(&rig, &prove, FAULT_INTERNAL, 1);
    assert_true(dispatch_set_aside(rig.dispatch, GPU));
    assert_int_equal(rig_counters(&rig).set_aside_total, 1);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).assignment, staged.assignment);
    rig_say(&rig, EVENT_RELEASED, &staged);
    assert_int_equal(rig_count(&rig, ACTION_PROVE), 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 2);
    rig_seat(&rig, EVENT_DIED, GPU);
    rig_attach(&rig, GPU, ROLE_GPU); /* started anew: a clean slate */
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 9);
    rig_close(&rig);
}

static void test_same_partition_twice(void **state)
{
    struct rig rig;

    (void)state;
    open_pair(&rig);
    make_ready(&rig, 1);
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
    open_pair(&rig);
    proves[0] = make_partition(&rig, 1, 0);
    rig_say(&rig, EVENT_STARTED, &proves[0]);
    proves[1] = make_partition(&rig, 1, 1);
    make_partition(&rig, 1, 2);
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
    open_pair(&rig);
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
    open_pair(&rig);
    prove[0] = make_ready(&rig, 1);
    compute(&rig, &prove[0]);
    prove[1] = make_ready(&rig, 2);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    prove[2] = make_ready(&rig, 3);
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
    open_pair(&rig);
    prove = make_ready(&rig, 1);
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
    open_pair(&rig);
    prove = make_ready(&rig, 1);
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

/* Beyond uncommitted_results a slab stays until a commit, and does not count as its worker's. */
static void test_uncommitted_results(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct action prove;
    struct rig rig;

    (void)state;
    limits.uncommitted_results = 1;
    rig_open(&rig, 1, 4, &limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach(&rig, GPU, ROLE_GPU);
    for (uint64_t job = 1; job <= 4; job++) {
        prove = make_ready(&rig, job);
        assert_int_equal(prove.job, job);
        compute(&rig, &prove);
        rig_proved(&rig, &prove);
        assert_int_equal(rig_count(&rig, ACTION_RESULT), 1);
        assert_int_equal(rig_slabs(&rig, 0, SLAB_FINALIZING), job - 1);
    }
    rig_job(&rig, EVENT_COMMITTED, 3, 0); /* its own slab */
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FINALIZING), 2);
    rig_job(&rig, EVENT_COMMITTED, 1, 0); /* the oldest that waits: of job 2 */
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FINALIZING), 1);
    rig_job(&rig, EVENT_JOB_ENDED, 4, 0);
    rig_seat(&rig, EVENT_DIED, GPU); /* job 4 has its result and only waits */
    assert_int_equal(rig.actions.count, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 3);
    rig_attach(&rig, GPU, ROLE_GPU);
    assert_int_equal(rig_count(&rig, ACTION_PROVE), 0);
    rig_job(&rig, EVENT_COMMITTED, 2, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    rig_job(&rig, EVENT_COMMITTED, 4, 0);
    assert_int_equal(dispatch_tasks(rig.dispatch), 0);
    assert_int_equal(rig_dropped(&rig), 0);
    rig_job(&rig, EVENT_COMMITTED, 4, 0);
    assert_int_equal(rig_dropped(&rig), 1);
    rig_close(&rig);
}

/* However many slabs wait for their commit, the device works on. */
static void test_waiting_for_commit_is_no_work(void **state)
{
    struct dispatch_limits limits = rig_limits;
    struct rig rig;

    (void)state;
    limits.uncommitted_results = 0;
    limits.fixed_credits[0] = 8;
    rig_open(&rig, 1, 8, &limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach(&rig, GPU, ROLE_GPU);
    for (uint64_t job = 1; job <= 8; job++) {
        struct action prove = make_ready(&rig, job);
        assert_int_equal(prove.job, job);
        compute(&rig, &prove);
        rig_proved(&rig, &prove);
    }
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FINALIZING), 8);
    for (uint64_t job = 8; job >= 1; job--)
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 8);
    rig_close(&rig);
}

static void test_leaving(void **state)
{
    struct rig rig;
    struct action prove, staged, fill;

    (void)state;
    open_pair(&rig);
    prove = make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = make_ready(&rig, 2);
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
    open_pair(&rig);
    prove = make_ready(&rig, 1);
    for (uint32_t i = 1; i < rig_limits.attempts; i++) {
        rig_say(&rig, EVENT_RELEASED, &prove);
        prove = rig_take(&rig, ACTION_PROVE);
    }
    rig_say(&rig, EVENT_RELEASED, &prove);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_INTERNAL);
    rig_close(&rig);
}

/* Old assignments, other seats, other roles, states out of turn: dropped, counted, no change. */
static void test_messages_that_do_not_fit(void **state)
{
    struct rig rig;
    struct action prove, second;
    uint64_t word;

    (void)state;
    open_pair(&rig);
    rig_attach(&rig, GPU2, ROLE_GPU);
    prove = make_ready(&rig, 1);
    second = make_ready(&rig, 2);
    assert_int_equal(second.seat, GPU2);
    word = slab_word_pack(slab_word_load(&rig.control, prove.slab));
    const struct {
        enum event_type type;
        struct action about;
    } cases[] = {
        {EVENT_STARTED, {.seat = GPU2, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = SYNTH, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = GPU, .assignment = prove.assignment - 1, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = GPU, .assignment = 0, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = GPU, .assignment = UINT64_MAX, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = GPU, .assignment = prove.assignment, .slab = second.slab}},
        {EVENT_STARTED, {.seat = GPU, .assignment = prove.assignment, .slab = UINT32_MAX}},
        {EVENT_COMPUTED, {.seat = GPU, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_COMPUTED, {.seat = GPU, .assignment = prove.assignment, .slab = second.slab}},
        {EVENT_FILLED, {.seat = GPU, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_RELEASED, {.seat = GPU2, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = 77, .assignment = prove.assignment, .slab = prove.slab}},
        {EVENT_STARTED, {.seat = UINT32_MAX, .assignment = prove.assignment, .slab = prove.slab}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct action about = cases[i].about;
        about.generation = prove.generation;
        if (cases[i].type == EVENT_FILLED)
            rig_filled(&rig, &about);
        else
            rig_say(&rig, cases[i].type, &about);
        assert_int_equal(rig.actions.count, 0);
        assert_int_equal(rig_dropped(&rig), i + 1);
        assert_int_equal(slab_word_pack(slab_word_load(&rig.control, prove.slab)), word);
    }
    second.generation += 1;
    rig_say(&rig, EVENT_STARTED, &second);
    assert_int_equal(rig_state(&rig, second.slab), SLAB_ASSIGNED);
    prove.seat = SYNTH;
    rig_proved(&rig, &prove);
    assert_int_equal(rig_count(&rig, ACTION_RESULT), 0);
    prove.seat = GPU;
    compute(&rig, &prove);
    rig_proved(&rig, &prove);
    assert_int_equal(rig_count(&rig, ACTION_RESULT), 1);
    rig_proved(&rig, &prove); /* and once more */
    assert_int_equal(rig_count(&rig, ACTION_RESULT), 0);
    rig_close(&rig);
}

/* One partition whose workers tell these times. */
static void tell_times(struct rig *rig, uint64_t job, uint64_t start_ns, uint64_t span_ns)
{
    struct action act;
    struct dispatch_event event;

    rig_claim(rig, job, 0, 0, PRIORITY_NORMAL);
    act = rig_take(rig, ACTION_FILL);
    event = rig_filling(rig, &act);
    event.filled.start_ns = start_ns;
    event.filled.witness_ns = span_ns;
    event.filled.rows_ns = span_ns;
    rig_step(rig, event);
    act = rig_take(rig, ACTION_PROVE);
    compute(rig, &act);
    event = rig_proof(rig, &act);
    event.proved.times = (struct wire_times){start_ns, span_ns,  span_ns, span_ns,
                                             span_ns,  start_ns, span_ns, span_ns};
    rig_step(rig, event);
    assert_true(rig_take(rig, ACTION_RESULT).witness_ns < 10 * MS);
    assert_true(rig_take(rig, ACTION_RESULT).rows_ns < 10 * MS);
    rig_job(rig, EVENT_COMMITTED, job, 0);
}

/* The trace's spans lie between the claim and now, whatever a worker tells. */
static void test_trace_of_hostile_times(void **state)
{
    const uint64_t hostile[] = {0, 1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    uint32_t seen[TRACE_STORE + 1] = {0};
    struct trace_event traced;
    struct rig rig;
    uint64_t claimed_ns;

    (void)state;
    open_pair(&rig);
    claimed_ns = rig.now_ns;
    for (size_t i = 0; i < 25; i++)
        tell_times(&rig, i + 1, hostile[i / 5], hostile[i % 5]);
    for (uint64_t number = 1; number <= trace_written(&rig.control); number++) {
        assert_int_equal(trace_read(&rig.control, number, &traced), 1);
        if (traced.kind >= TRACE_CREDIT_TAKE)
            continue;
        seen[traced.kind]++;
        assert_true(traced.start_ns >= claimed_ns);
        assert_true(traced.start_ns <= rig.now_ns);
        assert_true(traced.duration_ns <= rig.now_ns - traced.start_ns);
        assert_true(traced.slab < 4);
    }
    for (int kind = TRACE_SYNTH; kind <= TRACE_STORE; kind++)
        assert_int_equal(seen[kind], 25);
    rig_tick(&rig);
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
        struct action prove = make_ready(&rig, job);
        compute(&rig, &prove);
        rig_proved(&rig, &prove);
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    }
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 2 + 2); /* (0.5 + 0.5) / 0.5, and 1 + staged */
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_partition),
        cmocka_unit_test(test_starts_are_paid_for),
        cmocka_unit_test(test_starts_at_once),
        cmocka_unit_test(test_lowered_limit),
        cmocka_unit_test(test_mapped_slab_is_preferred),
        cmocka_unit_test(test_order_of_tasks),
        cmocka_unit_test(test_priority_aged),
        cmocka_unit_test(test_lanes_take_turns),
        cmocka_unit_test(test_synth_failures),
        cmocka_unit_test(test_failure_fails_the_job),
        cmocka_unit_test(test_death_fails_the_job),
        cmocka_unit_test(test_filled_wrongly),
        cmocka_unit_test(test_gpu_failures),
        cmocka_unit_test(test_gpu_places),
        cmocka_unit_test(test_urgent_displaces),
        cmocka_unit_test(test_urgent_beside_urgent),
        cmocka_unit_test(test_urgent_too_late),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_device_set_aside),
        cmocka_unit_test(test_same_partition_twice),
        cmocka_unit_test(test_job_ended_everywhere),
        cmocka_unit_test(test_synth_dies),
        cmocka_unit_test(test_gpu_dies),
        cmocka_unit_test(test_gpu_dies_too_often),
        cmocka_unit_test(test_death_after_the_job_ended),
        cmocka_unit_test(test_uncommitted_results),
        cmocka_unit_test(test_waiting_for_commit_is_no_work),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_released_unasked),
        cmocka_unit_test(test_messages_that_do_not_fit),
        cmocka_unit_test(test_trace_of_hostile_times),
        cmocka_unit_test(test_planned_credits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
