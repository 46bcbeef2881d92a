/*
 * Dispatch with more than one kind of device: a fallback works only where no other device can, and
 * a partition that one device has no memory for goes to another.
 */
#include "tests/coordinator/dispatch_rig.h"

#include "coordinator/credit_plan.h"

enum { CPU_DEVICE = 11, GPU_DEVICE = 12 }; /* numbers */
enum { CPU = GPU2 };                       /* the fallback's seat */

/* A synth-worker, and the CPU as a fallback; the GPU is attached where `gpu`, and READY. */
static void open_devices(struct rig *rig, int gpu)
{
    rig_open(rig, 1, 4, &rig_limits);
    rig_attach(rig, SYNTH, ROLE_SYNTH);
    rig_attach_device(rig, CPU, CPU_DEVICE, 1);
    rig_seat(rig, EVENT_READY, CPU);
    if (!gpu)
        return;
    rig_attach_device(rig, GPU, GPU_DEVICE, 0);
    rig_seat(rig, EVENT_READY, GPU);
}

static void test_fallback_works_alone(void **state)
{
    struct rig rig;

    (void)state;
    open_devices(&rig, 0);
    assert_int_equal(rig_make_ready(&rig, 1).seat, CPU);
    rig_close(&rig);
}

static void test_fallback_rests_beside_another(void **state)
{
    struct rig rig;
    struct action prove, next;

    (void)state;
    open_devices(&rig, 1);
    prove = rig_make_ready(&rig, 1);
    assert_int_equal(prove.seat, GPU);
    rig_say(&rig, EVENT_STARTED, &prove);
    assert_int_equal(rig_make_ready(&rig, 2).seat, GPU);
    assert_int_equal(rig_make_ready(&rig, 3).job, 0); /* no place at the GPU: it waits */
    assert_int_equal(rig_slabs(&rig, 0, SLAB_READY), 1);
    rig_seat(&rig, EVENT_LEAVING, GPU); /* now the fallback works */
    next = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(next.seat, CPU);
    assert_int_equal(next.job, 3);
    rig_close(&rig);
}

static void test_fallback_takes_over_from_the_dead(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    open_devices(&rig, 1);
    prove = rig_make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &prove);
    rig_seat(&rig, EVENT_DIED, GPU);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).seat, CPU);
    rig_close(&rig);
}

/* An attached device is waited for, and what was staged at the fallback meanwhile comes back. */
static void test_a_device_comes(void **state)
{
    struct rig rig;
    struct action first, staged, cancel;

    (void)state;
    open_devices(&rig, 0);
    first = rig_make_ready(&rig, 1);
    rig_say(&rig, EVENT_STARTED, &first);
    staged = rig_make_ready(&rig, 2);
    assert_int_equal(staged.seat, CPU);
    rig_attach_device(&rig, GPU, GPU_DEVICE, 0);
    assert_int_equal(rig_make_ready(&rig, 3).job, 0);
    rig_seat(&rig, EVENT_READY, GPU);
    cancel = rig_take(&rig, ACTION_CANCEL); /* what is PROVING goes on */
    assert_int_equal(cancel.assignment, staged.assignment);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 3);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).seat, GPU);
    first = rig_take(&rig, ACTION_PROVE);
    rig_say(&rig, EVENT_STARTED, &first);
    rig_say(&rig, EVENT_RELEASED, &staged);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).job, 2);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).seat, GPU);
    assert_int_equal(rig_take(&rig, ACTION_PROVE).attempts, 0);
    rig_close(&rig);
}

static void test_use_may_change(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    open_devices(&rig, 1);
    dispatch_set_fallback(rig.dispatch, CPU, 0);
    prove = rig_make_ready(&rig, 1);
    assert_int_not_equal(rig_make_ready(&rig, 2).seat, prove.seat);
    dispatch_set_fallback(rig.dispatch, SYNTH, 1); /* no device: nothing */
    dispatch_set_fallback(rig.dispatch, SEATS_MAX, 1);
    rig_close(&rig);
}

static void test_set_aside_is_not_there(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    open_devices(&rig, 1);
    for (uint32_t i = 0; i < rig_limits.device_charges; i++) {
        prove = rig_make_ready(&rig, i + 1);
        assert_int_equal(prove.seat, GPU);
        rig_compute(&rig, &prove);
        struct dispatch_event proved = rig_proof(&rig, &prove);
        proved.proved.device_charged = 1;
        rig_step(&rig, proved);
    }
    assert_true(dispatch_set_aside(rig.dispatch, GPU));
    assert_int_equal(rig_make_ready(&rig, 9).seat, CPU);
    rig_close(&rig);
}

/* ---- no memory ---- */

static void test_capacity_goes_to_another(void **state)
{
    struct rig rig;
    struct action prove, again, fail;

    (void)state;
    open_devices(&rig, 1);
    prove = rig_make_ready(&rig, 1);
    rig_failed(&rig, &prove, FAULT_CAPACITY, 0);
    again = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(again.seat, CPU); /* though the GPU is there, and works on others */
    assert_int_equal(again.attempts, 0);
    assert_int_equal(rig_make_ready(&rig, 2).seat, GPU);
    rig_failed(&rig, &again, FAULT_CAPACITY, 0);
    fail = rig_take(&rig, ACTION_FAIL);
    assert_int_equal(fail.job, 1);
    assert_int_equal(fail.fault, FAULT_CAPACITY);
    assert_string_equal(fail.text, "no device has memory for it; the last said: because");
    rig_close(&rig);
}

static void test_capacity_of_the_only_device(void **state)
{
    struct rig rig;
    struct action prove;

    (void)state;
    open_devices(&rig, 0);
    prove = rig_make_partition(&rig, 1, 0);
    (void)rig_make_partition(&rig, 1, 1);
    rig_failed(&rig, &prove, FAULT_CAPACITY, 0);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_CAPACITY);
    assert_int_equal(rig_count(&rig, ACTION_PROVE), 0); /* its job is over */
    rig_close(&rig);
}

/* The one that could take it has died: it is expected back, for a while. */
static void test_capacity_waits_for_another(void **state)
{
    struct rig rig;
    struct action prove, again;

    (void)state;
    open_devices(&rig, 1);
    rig_seat(&rig, EVENT_DIED, CPU);
    prove = rig_make_ready(&rig, 1);
    rig_failed(&rig, &prove, FAULT_CAPACITY, 0);
    assert_int_equal(rig_count(&rig, ACTION_PROVE) + rig_count(&rig, ACTION_FAIL), 0);
    rig.now_ns += DISPATCH_DEVICE_PATIENCE_NS / 2;
    rig_tick(&rig);
    assert_int_equal(rig_count(&rig, ACTION_FAIL), 0);
    rig_attach_device(&rig, SYNTH2, CPU_DEVICE, 1); /* whatever its seat */
    rig_tick(&rig);
    rig_seat(&rig, EVENT_READY, SYNTH2);
    again = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(again.seat, SYNTH2);
    rig_seat(&rig, EVENT_DIED, SYNTH2); /* and waited for anew */
    rig.now_ns += DISPATCH_DEVICE_PATIENCE_NS - 10 * MS;
    rig_tick(&rig);
    assert_int_equal(rig_count(&rig, ACTION_FAIL), 0);
    rig.now_ns += DISPATCH_DEVICE_PATIENCE_NS;
    rig_tick(&rig);
    assert_int_equal(rig_take(&rig, ACTION_FAIL).fault, FAULT_CAPACITY);
    assert_int_equal(rig_slabs(&rig, 0, SLAB_FREE), 4);
    rig_close(&rig);
}

/* A partition that its own devices have no room for stands in nobody's way. */
static void test_others_pass(void **state)
{
    struct rig rig;
    struct action large, cpu, gpu;

    (void)state;
    open_devices(&rig, 1);
    large = rig_make_ready(&rig, 1);
    rig_failed(&rig, &large, FAULT_CAPACITY, 0);
    cpu = rig_take(&rig, ACTION_PROVE);
    rig_say(&rig, EVENT_STARTED, &cpu);
    for (uint64_t job = 2; job <= 3; job++) { /* staged at the CPU, then waiting for it */
        large = rig_make_ready(&rig, job);
        assert_int_equal(large.seat, GPU);
        rig_failed(&rig, &large, FAULT_CAPACITY, 0);
        assert_int_equal(rig_count(&rig, ACTION_PROVE), job == 2);
    }
    gpu = rig_make_ready(&rig, 4);
    assert_int_equal(gpu.seat, GPU);
    rig_close(&rig);
}

/* An urgent one takes no place that it could not use. */
static void test_urgent_displaces_where_it_may_go(void **state)
{
    struct rig rig;
    struct action large, gpu[2], fill;

    (void)state;
    open_devices(&rig, 1);
    large = rig_make_ready(&rig, 1);
    rig_failed(&rig, &large, FAULT_CAPACITY, 0); /* staged at the CPU */
    for (int i = 0; i < 2; i++)
        gpu[i] = rig_make_ready(&rig, (uint64_t)i + 2);
    rig_say(&rig, EVENT_STARTED, &gpu[0]);
    if (!gpu[1].job)
        gpu[1] = rig_take(&rig, ACTION_PROVE);
    assert_int_equal(gpu[1].seat, GPU);
    rig_claim(&rig, 9, 0, 0, PRIORITY_CRITICAL);
    fill = rig_take(&rig, ACTION_FILL);
    rig_filled(&rig, &fill);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).seat, GPU);
    assert_int_equal(rig_take(&rig, ACTION_CANCEL).assignment, gpu[1].assignment);
    rig_close(&rig);
}

/* ---- credits ---- */

/* A fallback that rests is no device that has to be fed. */
static void test_credits_count_who_works(void **state)
{
    struct rig rig;
    struct dispatch_limits limits = rig_limits;

    (void)state;
    memset(limits.fixed_credits, 0, sizeof(limits.fixed_credits));
    rig_open(&rig, 1, 12, &limits);
    rig_attach(&rig, SYNTH, ROLE_SYNTH);
    rig_attach_device(&rig, CPU, CPU_DEVICE, 1);
    rig_seat(&rig, EVENT_READY, CPU);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 1 + 3); /* untimed: the cap */
    rig_attach_device(&rig, GPU, GPU_DEVICE, 0);
    rig_seat(&rig, EVENT_READY, GPU);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 1 + 3);
    dispatch_set_fallback(rig.dispatch, CPU, 0);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), 1 + 2 * 3);
    rig_close(&rig);
}

/* A partition of its own from claim to commit, proved on the device that it is assigned to. */
static void prove_one(struct rig *rig, uint64_t job, uint64_t prove_ns)
{
    struct action prove = rig_make_ready(rig, job);

    assert_int_not_equal(prove.job, 0);
    rig_say(rig, EVENT_STARTED, &prove);
    rig->now_ns += prove_ns;
    rig_say(rig, EVENT_COMPUTED, &prove);
    struct dispatch_event proved = rig_proof(rig, &prove);
    proved.proved.times.prove_ns = prove_ns;
    rig_step(rig, proved);
    rig_job(rig, EVENT_COMMITTED, job, 0);
}

/* Many proofs of a fast device leave no sample of a slow one: it counts as slow all the same. */
static void test_a_slow_device_stays_slow(void **state)
{
    struct rig rig;
    struct dispatch_limits limits = rig_limits;
    uint64_t limit;

    (void)state;
    memset(limits.fixed_credits, 0, sizeof(limits.fixed_credits));
    rig_open(&rig, 1, 40, &limits);
    for (uint32_t seat = 20; seat < 50; seat++) /* so that the cap is far */
        rig_attach(&rig, seat, ROLE_SYNTH);
    rig_attach_device(&rig, CPU, CPU_DEVICE, 0);
    rig_seat(&rig, EVENT_READY, CPU);
    prove_one(&rig, 1, 1000 * MS);
    rig_seat(&rig, EVENT_DIED, CPU);
    rig_attach_device(&rig, GPU, GPU_DEVICE, 0);
    rig_seat(&rig, EVENT_READY, GPU);
    prove_one(&rig, 2, MS / 10);
    rig_attach_device(&rig, CPU, CPU_DEVICE, 0);
    rig_seat(&rig, EVENT_READY, CPU);
    rig_tick(&rig);
    limit = credit_limit(&rig.control, 0);
    assert_in_range(limit, 5, 35);
    rig_seat(&rig, EVENT_DIED, CPU);
    for (uint64_t job = 3; job < 3 + CREDIT_SAMPLES; job++)
        prove_one(&rig, job, MS / 10);
    rig_attach_device(&rig, CPU, CPU_DEVICE, 0);
    rig_seat(&rig, EVENT_READY, CPU);
    rig_tick(&rig);
    assert_int_equal(credit_limit(&rig.control, 0), limit);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fallback_works_alone),
        cmocka_unit_test(test_fallback_rests_beside_another),
        cmocka_unit_test(test_fallback_takes_over_from_the_dead),
        cmocka_unit_test(test_a_device_comes),
        cmocka_unit_test(test_use_may_change),
        cmocka_unit_test(test_set_aside_is_not_there),
        cmocka_unit_test(test_capacity_goes_to_another),
        cmocka_unit_test(test_capacity_of_the_only_device),
        cmocka_unit_test(test_capacity_waits_for_another),
        cmocka_unit_test(test_others_pass),
        cmocka_unit_test(test_urgent_displaces_where_it_may_go),
        cmocka_unit_test(test_credits_count_who_works),
        cmocka_unit_test(test_a_slow_device_stays_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
