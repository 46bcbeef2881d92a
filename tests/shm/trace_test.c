/*
 * The trace ring: order, wrapping, slots that are not whole, and a reader beside the writer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "shm/trace.h"
#include "plain_control.h"

static const struct lane_spec lanes[] = {{.name = "main", .slab_bytes = 4096, .slab_count = 1}};

/* All fields follow from `n`, so that a mixture of two events shows. */
static struct trace_event event_of(uint64_t n)
{
    struct trace_event event = {.start_ns = n,
                                .duration_ns = n * 3,
                                .job = ~n,
                                .partition = (uint32_t)n,
                                .kind = TRACE_PROVE,
                                .lane = (uint16_t)n,
                                .slab = (uint32_t)n * 7,
                                .seat = (uint16_t)(n + 1),
                                .limit = (uint32_t)n ^ 5,
                                .available = (uint32_t)n ^ 9,
                                .seq = n << 8};

    return event;
}

static void events_come_back(void **state)
{
    struct control control;
    struct trace_event out, expected;

    (void)state;
    plain_control_make(&control, lanes, 1);
    assert_int_equal(trace_read(&control, 0, &out), 0);
    assert_int_equal(trace_read(&control, 1, &out), 0);
    for (uint64_t n = 1; n <= 100; n++) {
        expected = event_of(n);
        trace_add(&control, &expected);
        assert_int_equal(trace_written(&control), n);
    }
    for (uint64_t n = 1; n <= 100; n++) {
        expected = event_of(n);
        assert_int_equal(trace_read(&control, n, &out), 1);
        assert_memory_equal(&out, &expected, sizeof(out));
    }
    assert_int_equal(trace_read(&control, 101, &out), 0);
    assert_int_equal(trace_read(&control, UINT64_MAX, &out), 0);
    plain_control_drop(&control);
}

static void old_events_are_overwritten(void **state)
{
    struct control control;
    struct trace_event out, event;
    uint64_t total = TRACE_CAPACITY * 2 + 5;

    (void)state;
    plain_control_make(&control, lanes, 1);
    for (uint64_t n = 1; n <= total; n++) {
        event = event_of(n);
        trace_add(&control, &event);
    }
    assert_int_equal(trace_read(&control, total - TRACE_CAPACITY, &out), 0);
    for (uint64_t n = total - TRACE_CAPACITY + 1; n <= total; n++) {
        assert_int_equal(trace_read(&control, n, &out), 1);
        assert_int_equal(out.start_ns, n);
    }
    plain_control_drop(&control);
}

static void torn_slots_are_refused(void **state)
{
    struct control control;
    struct trace_event out, event = event_of(1);

    (void)state;
    plain_control_make(&control, lanes, 1);
    trace_add(&control, &event);
    atomic_store(&control.trace->slots[0].number, 0); /* as the writer leaves it half way */
    assert_int_equal(trace_read(&control, 1, &out), 0);
    atomic_store(&control.trace->slots[0].number, 1 + TRACE_CAPACITY);
    assert_int_equal(trace_read(&control, 1, &out), 0);
    plain_control_drop(&control);
}

static void credit_events_share_one_sequence(void **state)
{
    static const uint16_t kinds[] = {TRACE_CREDIT_TAKE, TRACE_SYNTH, TRACE_CREDIT_LIMIT,
                                     TRACE_CREDIT_RETURN};
    static const uint64_t seqs[] = {1, 77, 2, 3};
    struct control control;
    struct trace_event out;

    (void)state;
    plain_control_make(&control, lanes, 1);
    for (unsigned i = 0; i < 4; i++) {
        struct trace_event event = {.kind = kinds[i], .seq = 77};

        trace_add(&control, &event);
        assert_int_equal(trace_read(&control, i + 1, &out), 1);
        assert_int_equal(out.seq, seqs[i]);
    }
    assert_string_equal(trace_kind_name(TRACE_SYNTH), "synth");
    assert_string_equal(trace_kind_name(TRACE_STORE), "store");
    assert_string_equal(trace_kind_name(TRACE_CREDIT_TAKE), "credit_take");
    assert_string_equal(trace_kind_name(TRACE_CREDIT_RETURN), "credit_return");
    assert_string_equal(trace_kind_name(TRACE_CREDIT_LIMIT), "credit_limit");
    assert_string_equal(trace_kind_name(0), "unknown");
    assert_string_equal(trace_kind_name(8), "unknown");
    assert_string_equal(trace_kind_name(35), "unknown");
    plain_control_drop(&control);
}

#define THREAD_EVENTS 200000

static void *write_events(void *arg)
{
    for (uint64_t n = 1; n <= THREAD_EVENTS; n++) {
        struct trace_event event = event_of(n);

        trace_add(arg, &event);
    }
    return NULL;
}

/* A ring of eight slots, so that the writer runs over what is being read. */
static void reader_beside_the_writer_sees_whole_events(void **state)
{
    struct control control;
    struct trace_event out;
    pthread_t writer;
    uint64_t taken = 0, written = 0;

    (void)state;
    plain_control_make(&control, lanes, 1);
    control.header->trace_capacity = 8;
    assert_int_equal(pthread_create(&writer, NULL, write_events, &control), 0);
    while (written < THREAD_EVENTS) {
        written = trace_written(&control);
        for (uint64_t n = written > 8 ? written - 8 : 1; n <= written; n++) {
            struct trace_event expected = event_of(n);

            if (!trace_read(&control, n, &out))
                continue;
            taken++;
            assert_memory_equal(&out, &expected, sizeof(out));
        }
    }
    pthread_join(writer, NULL);
    assert_true(taken > 0);
    plain_control_drop(&control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_back),
        cmocka_unit_test(old_events_are_overwritten),
        cmocka_unit_test(torn_slots_are_refused),
        cmocka_unit_test(credit_events_share_one_sequence),
        cmocka_unit_test(reader_beside_the_writer_sees_whole_events),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
