/*
 * The gpu-worker's side of the protocol, whole: a worker in a process of its own, this test as its
 * coordinator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <cmocka.h>

#include "tests/gpu-worker/fake_coordinator.h"

static const char mul2[] = "tests/fixtures/bn128/mul2";
static const char pos10[] = "tests/fixtures/bn128/pos10";

/* ---- what must come ---- */

/* The next message is this step of that slab's assignment. */
static void expect_step(struct fake *fake, enum wire_type type, uint32_t slab)
{
    struct wire_packet packet;
    assert_string_equal(wire_type_name(fake_receive(fake, &packet)), wire_type_name(type));
    assert_int_equal(packet.message.step.assignment, fake->order[slab].assignment);
    assert_int_equal(packet.message.step.slab, slab);
    assert_int_equal(packet.message.step.generation, fake->order[slab].generation);
}

static void check_result(struct fake *fake, struct wire_packet *packet, uint32_t slab)
{
    const struct wire_proved *proved = &packet->message.proved;
    const struct wire_prove *order = &fake->order[slab];
    struct result_header header;
    char *text, *publics;
    assert_int_equal(result_read(packet->fds[0], proved->result_bytes, &header, &text, &publics),
                     0);
    assert_int_equal(header.job, order->job);
    assert_int_equal(header.partition, order->partition);
    assert_int_equal(header.assignment, order->assignment);
    assert_int_equal(header.generation, order->generation);
    char *expected = circuit_expected(&fake->circuit);
    assert_true(circuit_is_expected(expected, text, publics));
    free(expected);
    free(text);
    close(packet->fds[0]);
}

/* The next message is PROVED of that slab's assignment, with the proof that w1 must have. */
static struct wire_times expect_proved(struct fake *fake, uint32_t slab, uint32_t charged)
{
    struct wire_packet packet;
    const struct wire_proved *proved = &packet.message.proved;
    assert_string_equal(wire_type_name(fake_receive(fake, &packet)), "proved");
    assert_int_equal(proved->assignment, fake->order[slab].assignment);
    assert_int_equal(proved->slab, slab);
    assert_int_equal(proved->generation, fake->order[slab].generation);
    assert_memory_equal(proved->digest, fake->order[slab].digest, HASH_BYTES);
    assert_int_equal(proved->device_charged, charged);
    check_result(fake, &packet, slab);
    return proved->times;
}

static void expect_failed(struct fake *fake, uint64_t assignment, enum wire_fault fault,
                          const char *why)
{
    struct wire_packet packet;
    const struct wire_failed *failed = &packet.message.failed;
    assert_string_equal(wire_type_name(fake_receive(fake, &packet)), "failed");
    assert_int_equal(failed->assignment, assignment);
    assert_int_equal(failed->fault, fault);
    if (!strstr(failed->why, why))
        assert_string_equal(failed->why, why);
}

static void expect_whole_proof(struct fake *fake, uint32_t slab)
{
    expect_step(fake, WIRE_STARTED, slab);
    expect_step(fake, WIRE_COMPUTED, slab);
    expect_proved(fake, slab, 0);
}

static void wait_arrived(void)
{
    while (sem_wait(&gate->arrived))
        ;
}

static void open_filled(struct fake *fake, const char *folder, uint32_t slabs)
{
    fake_open(fake, folder);
    fake_send_image(fake, WIRE_IMAGE);
    for (uint32_t slab = 0; slab < slabs; slab++)
        fake_fill(fake, slab, (struct filling){0});
}

static unsigned count_fds(pid_t pid)
{
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
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
