/*
 * The gpu-worker's side of the protocol where something is amiss or over: what it refuses, how it
 * ends, and other slabs. A worker in a process of its own, this test as its coordinator.
 */
#include "tests/gpu-worker/worker_expect.h"

static const char mul2[] = "tests/fixtures/bn128/mul2";

/* ---- refusals ---- */

static void expect_refused(struct fake *fake, const struct wire_prove *order, const char *why)
{
    fake_assign(fake, order);
    expect_failed(fake, order->assignment, FAULT_INTERNAL, why); /* and no STARTED before it */
}

static void test_a_slab_that_is_not_the_one_assigned(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_prove order;
    open_filled(&fake, mul2, 1);
    order = fake.order[0];
    order.generation--;
    expect_refused(&fake, &order, "generation differs");
    order = fake.order[0];
    order.job++;
    expect_refused(&fake, &order, "job or partition differs");
    order = fake.order[0];
    order.partition++;
    expect_refused(&fake, &order, "job or partition differs");
    order = fake.order[0];
    order.digest[31] ^= 1;
    expect_refused(&fake, &order, "witness digest differs");
    order = fake.order[0];
    order.hash[0] ^= 1;
    expect_refused(&fake, &order, "no image");
    order = fake.order[0];
    order.slab = FAKE_SLABS;
    expect_refused(&fake, &order, "not in the region");
    order = fake.order[0];
    order.slab = 1; /* never filled */
    expect_refused(&fake, &order, "not whole");
    slab_open(fake_slab(&fake, 0)); /* being filled anew */
    expect_refused(&fake, &fake.order[0], "not whole");
    fake_fill(&fake, 0, (struct filling){0});
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    fake_close(&fake);
}

static void test_a_slab_whose_header_lies(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    struct slab_header *header = (struct slab_header *)fake_slab(&fake, 0);
    header->curve = CURVE_BLS12381;
    expect_refused(&fake, &fake.order[0], "curve, wires or domain differs");
    header->curve = CURVE_BN254;
    header->image_hash[5] ^= 1;
    expect_refused(&fake, &fake.order[0], "image hash differs");
    header->image_hash[5] ^= 1;
    header->witness.offset = fake.region.slabs_bytes;
    expect_refused(&fake, &fake.order[0], "not whole");
    fake_close(&fake);
}

static void test_an_unsatisfied_witness_is_the_inputs_fault(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 0);
    fake_fill(&fake, 0, (struct filling){.broken = 1});
    fake_fill(&fake, 1, (struct filling){0});
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_failed(&fake, fake.order[0].assignment, FAULT_INPUT, "witness does not satisfy key");
    fake_assign(&fake, &fake.order[1]);
    expect_whole_proof(&fake, 1);
    fake_close(&fake);
}

/* The image is read before a device sees it where a worker died over it, and after a proof that
 * does not verify; then another key's or the mended one's proofs go on. */
static void test_a_damaged_image(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    circuit_damage(&fake.circuit, IMAGE_POINTS_A);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_failed(&fake, fake.order[0].assignment, FAULT_INTERNAL, IMAGE_DAMAGED_TEXT);
    struct wire_prove order = fake.order[0];
    order.check_image = 1;
    expect_refused(&fake, &order, IMAGE_DAMAGED_TEXT);
    circuit_damage(&fake.circuit, IMAGE_POINTS_A);
    fake_assign(&fake, &order);
    expect_whole_proof(&fake, 0);
    fake_close(&fake);
}

static void test_a_device_that_fails(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    atomic_store(&gate->failing, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_failed(&fake, fake.order[0].assignment, FAULT_INTERNAL, "the device failed");
    atomic_store(&gate->failing, 0);
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    fake_close(&fake);
}

static void test_a_forgotten_image(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    atomic_store(&gate->closed, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    fake_send_image(&fake, WIRE_FORGET); /* what is assigned goes on with it */
    struct wire_prove order = fake.order[0];
    order.assignment = 900;
    expect_refused(&fake, &order, "no image");
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_proved(&fake, 0, 0);
    fake_send_image(&fake, WIRE_IMAGE);
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    fake_close(&fake);
}

/* ---- ends ---- */

static void leave_with_work(void (*tell)(struct fake *fake))
{
    struct fake fake;
    struct wire_packet packet;
    open_filled(&fake, mul2, 3);
    atomic_store(&gate->closed, 1);
    for (uint32_t slab = 0; slab < 3; slab++)
        fake_assign(&fake, &fake.order[slab]);
    expect_step(&fake, WIRE_STARTED, 0);
    wait_arrived();
    tell(&fake);
    assert_string_equal(wire_type_name(fake_receive(&fake, &packet)), "leaving");
    expect_step(&fake, WIRE_RELEASED, 1);
    expect_step(&fake, WIRE_RELEASED, 2);
    fake_assign(&fake, &fake.order[1]); /* crossed the LEAVE */
    expect_step(&fake, WIRE_RELEASED, 1);
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_proved(&fake, 0, 0);
    assert_int_equal(fake_receive(&fake, &packet), 0);
    assert_int_equal(fake_exit_code(&fake), 0);
    fake_close(&fake);
}

static void tell_leave(struct fake *fake)
{
    fake_send_plain(fake, WIRE_LEAVE);
}

static void tell_term(struct fake *fake)
{
    kill(fake->worker, SIGTERM);
}

static void test_leave_ends_what_is_assigned(void **state)
{
    (void)state;
    leave_with_work(tell_leave);
}

static void test_sigterm_ends_what_is_assigned(void **state)
{
    (void)state;
    leave_with_work(tell_term);
}

static void test_the_end_of_the_socket_ends_the_process(void **state)
{
    (void)state;
    for (int busy = 0; busy < 2; busy++) {
        struct fake fake;
        open_filled(&fake, mul2, 1);
        atomic_store(&gate->closed, busy);
        if (busy) {
            fake_assign(&fake, &fake.order[0]);
            expect_step(&fake, WIRE_STARTED, 0);
            wait_arrived();
        }
        close(fake.socket);
        fake.socket = -1;
        assert_int_equal(fake_exit_code(&fake), EXIT_CAPACITY);
        fake_close(&fake);
    }
}

/* ---- other slabs ---- */

static void replace_slabs(struct fake *fake)
{
    struct region_slabs slabs;
    struct lane_spec lane = {
        .name = "main", .slab_bytes = circuit_slab_bytes(&fake->circuit) + 4096, .slab_count = 2};
    assert_int_equal(region_slabs_begin(&slabs, &lane, 1, "memfd"), 0);
    while (region_slabs_make(&slabs, 1 << 20) > 0)
        ;
    munmap(fake->slabs, fake->region.slabs_bytes);
    region_slabs_adopt(&fake->region, &slabs);
    fake->slabs = mmap(NULL, fake->region.slabs_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       fake->region.slabs_fd, 0);
    assert_ptr_not_equal(fake->slabs, MAP_FAILED);
}

static void send_region(struct fake *fake)
{
    union wire_message message = {
        .region = {.generation = fake->region.generation, .slabs_bytes = fake->region.slabs_bytes}};
    fake_send(fake, &message, WIRE_REGION, fake->region.slabs_fd);
}

static void test_other_slabs_take_the_place_of_the_first(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    open_filled(&fake, mul2, 1);
    for (int round = 0; round < 3; round++) {
        fake_assign(&fake, &fake.order[0]);
        expect_whole_proof(&fake, 0);
        replace_slabs(&fake);
        send_region(&fake); /* right behind the last proof */
        assert_int_equal(fake_receive(&fake, &packet), WIRE_READY);
        assert_int_equal(packet.message.ready.generation, 2 + round);
        fake_fill(&fake, 1, (struct filling){0});
        fake_assign(&fake, &fake.order[1]);
        expect_whole_proof(&fake, 1);
        fake_fill(&fake, 0, (struct filling){0});
    }
    fake_close(&fake);
}

static void test_the_device_is_told_of_slabs(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    open_filled(&fake, mul2, 3);
    assert_int_equal(atomic_load(&gate->attached), 1); /* before READY */
    assert_int_equal(atomic_load(&gate->slabs), FAKE_SLABS);
    fake_assign(&fake, &fake.order[2]);
    expect_step(&fake, WIRE_STARTED, 2);
    assert_int_equal(atomic_load(&gate->wanted), fake.region.control.slabs[2].offset + 1);
    expect_step(&fake, WIRE_COMPUTED, 2);
    expect_proved(&fake, 2, 0);
    assert_int_equal(atomic_load(&gate->detached), 0);
    replace_slabs(&fake);
    send_region(&fake);
    assert_int_equal(fake_receive(&fake, &packet), WIRE_READY);
    assert_int_equal(atomic_load(&gate->detached), 1);
    assert_int_equal(atomic_load(&gate->attached), 2);
    assert_int_equal(atomic_load(&gate->slabs), 2);
    fake_send_plain(&fake, WIRE_LEAVE);
    assert_int_equal(fake_exit_code(&fake), 0);
    assert_int_equal(atomic_load(&gate->detached), 2);
    fake_close(&fake);
}

static void test_other_slabs_during_a_proof_are_no_protocol(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    atomic_store(&gate->closed, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    wait_arrived();
    send_region(&fake);
    assert_int_equal(fake_exit_code(&fake), EXIT_INTERNAL);
    fake_close(&fake);
}

static void test_a_message_that_no_gpu_worker_gets(void **state)
{
    (void)state;
    struct fake fake;
    union wire_message message = {0};
    open_filled(&fake, mul2, 0);
    fake_send(&fake, &message, WIRE_READY, -1);
    assert_int_equal(fake_exit_code(&fake), EXIT_INTERNAL);
    fake_close(&fake);
    open_filled(&fake, mul2, 0);
    assert_int_equal(send(fake.socket, "garbage", 7, 0), 7);
    assert_int_equal(fake_exit_code(&fake), EXIT_INTERNAL);
    fake_close(&fake);
}

static void test_a_crash_leaves_last_words(void **state)
{
    (void)state;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL};
    static const char *const words[] = {"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL"};
    for (int i = 0; i < 4; i++) {
        struct fake fake;
        char text[256];
        open_filled(&fake, mul2, 0);
        kill(fake.worker, signals[i]);
        int status = fake_wait(&fake);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        seat_last_words(fake.seat, text, sizeof(text));
        assert_non_null(strstr(text, words[i]));
        fake_close(&fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slab_that_is_not_the_one_assigned),
        cmocka_unit_test(test_a_slab_whose_header_lies),
        cmocka_unit_test(test_an_unsatisfied_witness_is_the_inputs_fault),
        cmocka_unit_test(test_a_damaged_image),
        cmocka_unit_test(test_a_device_that_fails),
        cmocka_unit_test(test_a_forgotten_image),
        cmocka_unit_test(test_leave_ends_what_is_assigned),
        cmocka_unit_test(test_sigterm_ends_what_is_assigned),
        cmocka_unit_test(test_the_end_of_the_socket_ends_the_process),
        cmocka_unit_test(test_other_slabs_take_the_place_of_the_first),
        cmocka_unit_test(test_the_device_is_told_of_slabs),
        cmocka_unit_test(test_other_slabs_during_a_proof_are_no_protocol),
        cmocka_unit_test(test_a_message_that_no_gpu_worker_gets),
        cmocka_unit_test(test_a_crash_leaves_last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
