/*
 * The gpu-worker's side of the protocol, whole: proofs, several at a time, cancelling and staging.
 * A worker in a process of its own, this test as its coordinator.
 */
#include "tests/gpu-worker/worker_expect.h"
#include "tests/support/scratch.h"

static const char mul2[] = "tests/fixtures/bn128/mul2";
static const char pos10[] = "tests/fixtures/bn128/pos10";

static unsigned count_fds(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    return scratch_count(path, "");
}

/* ---- proofs ---- */

static void check_times(const struct wire_times *times)
{
    assert_true(times->start_ns > 0);
    assert_true(times->ntt_ns + times->msm_ns + times->upload_ns <= times->prove_ns);
    assert_true(times->finalize_start_ns >= times->start_ns + times->prove_ns);
    assert_true(times->verify_ns > 0 && times->verify_ns <= times->finalize_ns);
}

static void test_one_proof_in_the_order_of_the_protocol(void **state)
{
    (void)state;
    struct fake fake;
    uint8_t before[HASH_BYTES], after[HASH_BYTES];
    open_filled(&fake, pos10, 1);
    assert_int_equal(atomic_load(&fake.seat->stage), STAGE_IDLE); /* READY was said */
    circuit_hash(before, fake.slabs, fake.region.slabs_bytes);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    struct wire_times times = expect_proved(&fake, 0, 0);
    check_times(&times);
    circuit_hash(after, fake.slabs, fake.region.slabs_bytes);
    assert_memory_equal(before, after, HASH_BYTES);
    fake_send_plain(&fake, WIRE_LEAVE);
    assert_int_equal(fake_exit_code(&fake), 0);
    assert_int_equal(atomic_load(&fake.seat->done_total), 1);
    assert_true(atomic_load(&fake.seat->busy_ns) > 0);
    assert_int_equal(atomic_load(&fake.seat->stage), STAGE_LEAVING);
    assert_int_equal(atomic_load(&fake.seat->last_words_bytes), 0);
    fake_close(&fake);
}

static void test_both_curves_and_absent_rows(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/fixtures/bls12381/mul2",
                                          "tests/fixtures/bn128/nopub",
                                          "tests/fixtures/bn128/noconstr"};
    for (int i = 0; i < 3; i++) {
        struct fake fake;
        open_filled(&fake, folders[i], 1);
        fake_fill(&fake, 1, (struct filling){.without_rows = 1});
        fake_assign(&fake, &fake.order[0]);
        expect_whole_proof(&fake, 0);
        fake_assign(&fake, &fake.order[1]);
        expect_whole_proof(&fake, 1);
        fake_close(&fake);
    }
}

/* Nothing that a proof opens stays open, and the seat page moves. */
static void test_many_proofs_leave_no_descriptor(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    unsigned fds = count_fds(fake.worker);
    uint64_t progress = atomic_load(&fake.seat->progress);
    for (int i = 0; i < 20; i++) {
        fake.order[0].assignment++;
        fake_assign(&fake, &fake.order[0]);
        expect_whole_proof(&fake, 0);
    }
    assert_true(atomic_load(&fake.seat->progress) > progress + 20);
    assert_true(count_fds(fake.worker) <= fds + 1); /* the last result may not be closed yet */
    fake_close(&fake);
}

/* ---- one proving, one finalizing, the rest staged ---- */

/* What has come of each slab: 0 nothing, 1 started, 2 computed, 3 proved. */
static void note_step(const struct wire_packet *packet, int *stage)
{
    static const enum wire_type types[] = {WIRE_STARTED, WIRE_COMPUTED, WIRE_PROVED};
    uint32_t slab = packet->message.step.slab;
    assert_in_range(slab, 0, FAKE_SLABS - 1);
    assert_in_range(stage[slab], 0, 2);
    assert_int_equal(packet->message.header.type, types[stage[slab]]);
    stage[slab]++;
    if (packet->fd_count)
        close(packet->fds[0]);
    int proving = 0, finalizing = 0;
    for (uint32_t i = 0; i < FAKE_SLABS; i++) {
        proving += stage[i] == 1;
        finalizing += stage[i] == 2;
        assert_true(i == 0 || stage[i] <= stage[i - 1]); /* in the order assigned */
    }
    assert_true(proving <= 1 && finalizing <= 1);
}

static void test_staged_ones_follow_without_a_word(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    int stage[FAKE_SLABS] = {0};
    open_filled(&fake, mul2, FAKE_SLABS);
    atomic_store(&gate->closed, 1);
    for (uint32_t slab = 0; slab < FAKE_SLABS; slab++)
        fake_assign(&fake, &fake.order[slab]);
    wait_arrived();
    atomic_store(&gate->closed, 0);
    for (int i = 0; i < 3 * FAKE_SLABS; i++) {
        assert_true(fake_receive(&fake, &packet) != 0);
        note_step(&packet, stage);
    }
    fake_close(&fake);
}

/* The next is being proved while one is finalized: with wrong sums finalizing takes long. */
static void test_proving_goes_on_while_one_is_finalized(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, pos10, 2);
    atomic_store(&gate->closed, 1);
    atomic_store(&gate->wrong_sums, 1);
    fake_assign(&fake, &fake.order[0]);
    fake_assign(&fake, &fake.order[1]);
    wait_arrived();
    sem_post(&gate->go);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_step(&fake, WIRE_STARTED, 1);
    wait_arrived(); /* the device has the second while the first is not proved */
    atomic_store(&gate->wrong_sums, 0);
    expect_proved(&fake, 0, 1);
    sem_post(&gate->go);
    expect_step(&fake, WIRE_COMPUTED, 1);
    expect_proved(&fake, 1, 0);
    fake_close(&fake);
}

/* ---- cancelling ---- */

static void test_cancel_of_a_staged_one_is_answered_at_once(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    int stage[FAKE_SLABS] = {1};
    open_filled(&fake, mul2, 3);
    atomic_store(&gate->closed, 1);
    for (uint32_t slab = 0; slab < 3; slab++)
        fake_assign(&fake, &fake.order[slab]);
    expect_step(&fake, WIRE_STARTED, 0);
    fake_cancel(&fake, 2);
    expect_step(&fake, WIRE_RELEASED, 2); /* while the first stands at the gate */
    atomic_store(&gate->closed, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(fake_receive(&fake, &packet) != 0);
        note_step(&packet, stage);
    }
    assert_true(stage[0] == 3 && stage[1] == 3 && stage[2] == 0);
    fake_close(&fake);
}

static void test_cancel_while_proving(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 2);
    atomic_store(&gate->closed, 1);
    fake_assign(&fake, &fake.order[0]);
    fake_assign(&fake, &fake.order[1]);
    expect_step(&fake, WIRE_STARTED, 0);
    wait_arrived();
    fake_cancel(&fake, 0);
    expect_step(&fake, WIRE_RELEASED, 0);
    expect_step(&fake, WIRE_STARTED, 1);
    fake_cancel(&fake, 0); /* once more: nothing comes of it */
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 1);
    expect_proved(&fake, 1, 0);
    fake_close(&fake);
}

/* Wrong sums make finalizing long enough to be cancelled in; should it have been over all the same,
 * it has ended with PROVED, and the CANCEL is ignored. Either way: one end, and the next goes on.
 */
static void test_cancel_while_finalizing(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    open_filled(&fake, pos10, 2);
    atomic_store(&gate->wrong_sums, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_step(&fake, WIRE_STARTED, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    fake_cancel(&fake, 0);
    uint32_t type = fake_receive(&fake, &packet);
    assert_true(type == WIRE_RELEASED || type == WIRE_PROVED);
    assert_int_equal(packet.message.step.assignment, fake.order[0].assignment);
    if (packet.fd_count)
        close(packet.fds[0]);
    atomic_store(&gate->wrong_sums, 0);
    fake_assign(&fake, &fake.order[1]);
    expect_whole_proof(&fake, 1);
    fake_close(&fake);
}

static void test_cancel_of_what_has_ended_is_ignored(void **state)
{
    (void)state;
    struct fake fake;
    open_filled(&fake, mul2, 1);
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    fake_cancel(&fake, 0);
    fake.order[0].assignment += 10;
    fake_assign(&fake, &fake.order[0]);
    expect_whole_proof(&fake, 0);
    fake_close(&fake);
}

/* ---- a device that takes the next witness early ---- */

static void wait_until(const _Atomic int *word, int value)
{
    for (int tries = 0; atomic_load(word) != value; tries++) {
        assert_in_range(tries, 0, 10000);
        usleep(1000);
    }
}

/* A first proof, so that the key is loaded; then two assigned, of which one stands at the gate and
 * the other is staged. */
static void open_staged(struct fake *fake)
{
    fake_staging = 1;
    open_filled(fake, mul2, 3);
    fake_staging = 0;
    fake_assign(fake, &fake->order[2]);
    expect_whole_proof(fake, 2);
    wait_arrived();
    atomic_store(&gate->closed, 1);
    fake_assign(fake, &fake->order[0]);
    fake_assign(fake, &fake->order[1]);
    expect_step(fake, WIRE_STARTED, 0);
    wait_arrived();
    wait_until(&gate->stages, 1);
}

static void test_the_next_is_staged_while_one_is_proved(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    int stage[FAKE_SLABS] = {1};
    open_staged(&fake);
    atomic_store(&gate->closed, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(fake_receive(&fake, &packet) != 0);
        note_step(&packet, stage);
    }
    assert_int_equal(atomic_load(&gate->stages), 1);
    assert_int_equal(atomic_load(&gate->unstages), 0);
    assert_int_equal(atomic_load(&gate->skipped), 0);
    fake_close(&fake);
}

/* RELEASED comes once the device has let go of the slab, and while the other is still proved. */
static void test_a_staged_one_is_released_when_it_is_no_longer_read(void **state)
{
    (void)state;
    struct fake fake;
    open_staged(&fake);
    fake_cancel(&fake, 1);
    expect_step(&fake, WIRE_RELEASED, 1);
    assert_int_equal(atomic_load(&gate->unstages), 1);
    fake_assign(&fake, &fake.order[2]);
    wait_until(&gate->stages, 2);
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    for (int i = 0; i < 4; i++) { /* PROVED of the first, and all of the other */
        struct wire_packet packet;
        assert_true(fake_receive(&fake, &packet) != 0);
        if (packet.fd_count)
            close(packet.fds[0]);
    }
    assert_int_equal(atomic_load(&gate->skipped), 0);
    fake_close(&fake);
}

static void test_the_one_at_work_is_cancelled_and_the_staged_goes_on(void **state)
{
    (void)state;
    struct fake fake;
    open_staged(&fake);
    fake_cancel(&fake, 0);
    expect_step(&fake, WIRE_RELEASED, 0);
    expect_step(&fake, WIRE_STARTED, 1);
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 1);
    expect_proved(&fake, 1, 0);
    assert_int_equal(atomic_load(&gate->unstages), 0);
    assert_int_equal(atomic_load(&gate->skipped), 0);
    fake_close(&fake);
}

static void test_leaving_gives_the_staged_one_back(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    open_staged(&fake);
    fake_send_plain(&fake, WIRE_LEAVE);
    assert_string_equal(wire_type_name(fake_receive(&fake, &packet)), "leaving");
    expect_step(&fake, WIRE_RELEASED, 1);
    assert_int_equal(atomic_load(&gate->unstages), 1);
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    expect_proved(&fake, 0, 0);
    assert_int_equal(fake_receive(&fake, &packet), 0);
    assert_int_equal(fake_exit_code(&fake), 0);
    fake_close(&fake);
}

/* A slab that was filled anew after it was staged is found out at its turn, and let go of. */
static void test_a_staged_slab_is_checked_again(void **state)
{
    (void)state;
    struct fake fake;
    open_staged(&fake);
    slab_open(fake_slab(&fake, 1));
    atomic_store(&gate->closed, 0);
    expect_step(&fake, WIRE_COMPUTED, 0);
    for (int i = 0; i < 2; i++) {
        struct wire_packet packet;
        uint32_t type = fake_receive(&fake, &packet);
        assert_true(type == WIRE_PROVED || type == WIRE_FAILED);
        if (packet.fd_count)
            close(packet.fds[0]);
    }
    wait_until(&gate->unstages, 1);
    fake_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_proof_in_the_order_of_the_protocol),
        cmocka_unit_test(test_both_curves_and_absent_rows),
        cmocka_unit_test(test_many_proofs_leave_no_descriptor),
        cmocka_unit_test(test_staged_ones_follow_without_a_word),
        cmocka_unit_test(test_proving_goes_on_while_one_is_finalized),
        cmocka_unit_test(test_cancel_of_a_staged_one_is_answered_at_once),
        cmocka_unit_test(test_cancel_while_proving),
        cmocka_unit_test(test_cancel_while_finalizing),
        cmocka_unit_test(test_cancel_of_what_has_ended_is_ignored),
        cmocka_unit_test(test_the_next_is_staged_while_one_is_proved),
        cmocka_unit_test(test_a_staged_one_is_released_when_it_is_no_longer_read),
        cmocka_unit_test(test_the_one_at_work_is_cancelled_and_the_staged_goes_on),
        cmocka_unit_test(test_leaving_gives_the_staged_one_back),
        cmocka_unit_test(test_a_staged_slab_is_checked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
