/*
 * Dispatch from a filled slab to a committed result: who proves what, what is urgent, what a
 * device's failures and lies cost, and messages and times that cannot be true.
 */
#include "tests/coordinator/dispatch_rig.h"

static void test_one_partition(void **state)
{
    struct rig rig;
    struct action fill, prove, result;

    (void)state;
    rig_open_pair(&rig);
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

static void test_gpu_failures(void **state)
{
    struct rig rig;
    struct action prove, again, fail;

    (void)state;
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    rig_compute(&rig, &prove);
    rig_failed(&rig, &prove, FAULT_INPUT, 0);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_INPUT);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);

    prove = rig_make_ready(&rig, 2);
    for (uint32_t attempt = 1; attempt < rig_limits.attempts; attempt++) {
        if (attempt > 1)
            rig_say(&rig, EVENT_STARTED, &prove); /* once before it was started, once after */
        rig_failed(&rig, &prove, FAULT_INTERNAL, 0);
        again = rig_take(&rig, ACTION_PROVE);
        assert_int_equal(again.slab, prove.slab);
        assert_int_equal(again.generation, prove.generation);
        assert_true(again.assignment > prove.assignment);
        prove = again;
    }
    rig_failed(&rig, &prove, FAULT_INTERNAL, 0);
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.fault, FAULT_INTERNAL);
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
    rig_open_pair(&rig);
    prove[0] = rig_make_ready(&rig, 1);
    assert_int_equal(rig_make_ready(&rig, 2).job, 0); /* one is staged, and none has been started */
    rig_say(&rig, EVENT_STARTED, &prove[0]);
    prove[1] = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(prove[1].job, 2);
    assert_int_equal(rig_make_ready(&rig, 3).job, 0);
    rig_say(&rig, EVENT_COMPUTED, &prove[0]);
    rig_say(&rig, EVENT_STARTED, &prove[1]);
    prove[2] = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(prove[2].job, 3);
    assert_int_equal(rig_make_ready(&rig, 4).job, 0);
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
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = rig_make_ready(&rig, 2);
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
    rig_open_pair(&rig);
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
    rig_open_pair(&rig);
    prove = rig_make_ready(&rig, 1);
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

        rig_open_pair(&rig);
        prove = rig_make_ready(&rig, 1);
        if (lie < 3)
            rig_compute(&rig, &prove); /* else: a result before it was computed */
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
        rig_compute(&rig, &prove);
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
    rig_open_pair(&rig);
    for (uint64_t job = 1; job <= 3; job++) {
        prove = rig_make_ready(&rig, job);
        rig_compute(&rig, &prove);
        event = rig_proof(&rig, &prove);
        event.proved.device_charged = job != 2; /* not in a row */
        rig_step(&rig, event);
        assert_int_equal(rig_count(&rig, ACTION_RESULT), 1);
        assert_false(dispatch_set_aside(rig.dispatch, GPU));
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    }
    prove = rig_make_ready(&rig, 9);
    rig_say(&rig, EVENT_STARTED, &prove);
    staged = rig_make_ready(&rig, 10);
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
        prove = rig_make_ready(&rig, job);
        assert_int_equal(prove.job, job);
        rig_compute(&rig, &prove);
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
        struct action prove = rig_make_ready(&rig, job);
        assert_int_equal(prove.job, job);
        rig_compute(&rig, &prove);
        rig_proved(&rig, &prove);
    }
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FINALIZING), 8);
    for (uint64_t job = 8; job >= 1; job--)
        rig_job(&rig, EVENT_COMMITTED, job, 0);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 8);
    rig_close(&rig);
}

/* Old assignments, other seats, other roles, states out of turn: dropped, counted, no change. */
static void test_messages_that_do_not_fit(void **state)
{
    struct rig rig;
    struct action prove, second;
    uint64_t word;

    (void)state;
    rig_open_pair(&rig);
    rig_attach(&rig, GPU2, ROLE_GPU);
    prove = rig_make_ready(&rig, 1);
    second = rig_make_ready(&rig, 2);
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
    rig_compute(&rig, &prove);
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
    rig_compute(rig, &act);
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
    rig_open_pair(&rig);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_partition),
        cmocka_unit_test(test_gpu_failures),
        cmocka_unit_test(test_gpu_places),
        cmocka_unit_test(test_urgent_displaces),
        cmocka_unit_test(test_urgent_beside_urgent),
        cmocka_unit_test(test_urgent_too_late),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_device_set_aside),
        cmocka_unit_test(test_uncommitted_results),
        cmocka_unit_test(test_waiting_for_commit_is_no_work),
        cmocka_unit_test(test_messages_that_do_not_fit),
        cmocka_unit_test(test_trace_of_hostile_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
