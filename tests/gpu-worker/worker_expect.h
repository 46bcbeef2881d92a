/*
 * What must come from a gpu-worker that a test plays coordinator to, message by message. Header
 * only.
 */
#ifndef PAWL_TESTS_GPU_WORKER_WORKER_EXPECT_H
#define PAWL_TESTS_GPU_WORKER_WORKER_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/gpu-worker/fake_coordinator.h"

/* The next message is this step of that slab's assignment. */
static inline void expect_step(struct fake *fake, enum wire_type type, uint32_t slab)
{
    struct wire_packet packet;
    assert_string_equal(wire_type_name(fake_receive(fake, &packet)), wire_type_name(type));
    assert_int_equal(packet.message.step.assignment, fake->order[slab].assignment);
    assert_int_equal(packet.message.step.slab, slab);
    assert_int_equal(packet.message.step.generation, fake->order[slab].generation);
}

static inline void check_result(struct fake *fake, struct wire_packet *packet, uint32_t slab)
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
static inline struct wire_times expect_proved(struct fake *fake, uint32_t slab, uint32_t charged)
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

static inline void expect_failed(struct fake *fake, uint64_t assignment, enum wire_fault fault,
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

static inline void expect_whole_proof(struct fake *fake, uint32_t slab)
{
    expect_step(fake, WIRE_STARTED, slab);
    expect_step(fake, WIRE_COMPUTED, slab);
    expect_proved(fake, slab, 0);
}

static inline void wait_arrived(void)
{
    while (sem_wait(&gate->arrived))
        ;
}

static inline void open_filled(struct fake *fake, const char *folder, uint32_t slabs)
{
    fake_open(fake, folder);
    fake_send_image(fake, WIRE_IMAGE);
    for (uint32_t slab = 0; slab < slabs; slab++)
        fake_fill(fake, slab, (struct filling){0});
}

#endif
