/*
 * JSON as the coordinator writes it: commas and escapes, the shape of a job, the trace in pieces.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <event2/buffer.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/json_job.h"
#include "coordinator/json_trace.h"
#include "coordinator/json_writer.h"
#include "coordinator/store.h"
#include "shm/control.h"
#include "shm/trace.h"

/* The text in the buffer; valid until the next call. */
static const char *text_of(struct evbuffer *out)
{
    evbuffer_add(out, "", 1);
    return (const char *)evbuffer_pullup(out, -1);
}

/* ---- the writer ---- */

static void commas_and_kinds(void **state)
{
    struct json_writer json;
    struct evbuffer *out = evbuffer_new();
    (void)state;
    jsonw_start(&json, out);
    jsonw_open(&json, '{');
    jsonw_put_open(&json, "a", '[');
    jsonw_close(&json, ']');
    jsonw_put_open(&json, "b", '[');
    jsonw_uint(&json, UINT64_MAX);
    jsonw_real(&json, 0.5);
    jsonw_real(&json, NAN);
    jsonw_bool(&json, 1);
    jsonw_raw(&json, "[1]");
    jsonw_open(&json, '{');
    jsonw_close(&json, '}');
    jsonw_close(&json, ']');
    jsonw_put_text(&json, "c", NULL);
    jsonw_close(&json, '}');
    assert_string_equal(
        text_of(out), "{\"a\":[],\"b\":[18446744073709551615,0.500,null,true,[1],{}],\"c\":null}");
    evbuffer_free(out);
}

/* Whatever bytes a text has, a strict reader takes what is written. */
static void every_text_is_legal(void **state)
{
    static const char *const texts[] = {"plain",
                                        "quote\" back\\slash",
                                        "tab\t nl\n del\x7f",
                                        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "\xff\xfe",
                                        "\xc3",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xc0\x80",
                                        "\xf4\x90\x80\x80",
                                        "a\xf0\x9f\x98z"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct json_writer json;
        struct evbuffer *out = evbuffer_new();
        jsonw_start(&json, out);
        jsonw_text(&json, texts[i]);
        json_t *value = json_loads(text_of(out), JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        if (i < 4) /* the legal ones come back as they were */
            assert_string_equal(json_string_value(value), texts[i]);
        json_decref(value);
        evbuffer_free(out);
    }
}

/* ---- jobs ---- */

static json_t *written_job(const struct store_job *job, uint64_t position)
{
    struct json_writer json;
    struct evbuffer *out = evbuffer_new();
    jsonw_start(&json, out);
    json_job(&json, job, position);
    json_t *value = json_loads(text_of(out), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    evbuffer_free(out);
    return value;
}

static void a_job_has_its_shape(void **state)
{
    struct store_partition partitions[2] = {
        {.state = PARTITION_DONE,
         .attempts = 1,
         .proof = "{\"pi_a\":[\"1\"]}",
         .publics = "[\"7\"]",
         .ms = {.queue = 1.5, .msm = 20, .upload = -1}},
        {.state = PARTITION_FAILED, .deaths = 2, .fault = FAULT_INPUT, .error = "bad \"w\""}};
    const struct store_job job = {.id = 0xab,
                                  .order = 1,
                                  .circuit = "c",
                                  .priority = PRIORITY_HIGH,
                                  .state = JOB_FAILED,
                                  .fault = FAULT_INPUT,
                                  .error = "bad",
                                  .partition_count = 2,
                                  .partitions = partitions};
    (void)state;
    json_t *value = written_job(&job, 0);
    json_t *wanted = json_loads(
        "{\"id\":\"00000000000000ab\",\"circuit\":\"c\",\"state\":\"failed\",\"priority\":\"high\","
        "\"error\":\"bad\",\"error_class\":\"input\",\"position\":null,\"partitions\":["
        "{\"index\":0,\"state\":\"done\",\"attempts\":1,\"deaths\":0,\"error\":null,"
        "\"error_class\":null,\"proof\":{\"pi_a\":[\"1\"]},\"public\":[\"7\"],\"ms\":{"
        "\"queue\":1.5,\"witness\":0.0,\"rows\":0.0,\"ready\":0.0,\"upload\":0.0,\"ntt\":0.0,"
        "\"msm\":20.0,\"prove\":0.0,\"finalize\":0.0,\"verify\":0.0,\"store\":0.0}},"
        "{\"index\":1,\"state\":\"failed\",\"attempts\":0,\"deaths\":2,\"error\":\"bad \\\"w\\\"\","
        "\"error_class\":\"input\",\"proof\":null,\"public\":null,\"ms\":{"
        "\"queue\":0.0,\"witness\":0.0,\"rows\":0.0,\"ready\":0.0,\"upload\":0.0,\"ntt\":0.0,"
        "\"msm\":0.0,\"prove\":0.0,\"finalize\":0.0,\"verify\":0.0,\"store\":0.0}}]}",
        0, NULL);
    assert_non_null(wanted);
    assert_true(json_equal(value, wanted));
    json_decref(value);
    json_decref(wanted);
    value = written_job(&job, 3);
    assert_int_equal(json_integer_value(json_object_get(value, "position")), 3);
    json_decref(value);
}

/* ---- the trace ---- */

struct traced {
    void *memory;
    struct control control;
};

static void traced_make(struct traced *traced)
{
    const struct lane_spec lane = {.name = "main", .slab_bytes = 4096, .slab_count = 2};
    uint64_t bytes = control_bytes(&lane, 1);
    traced->memory = aligned_alloc(4096, bytes);
    assert_non_null(traced->memory);
    memset(traced->memory, 0, bytes);
    control_lay_out(traced->memory, &lane, 1, "shm", "test");
    assert_int_equal(control_view(&traced->control, traced->memory, bytes), 0);
}

static json_t *written_trace(const struct control *control, uint64_t since_ns, uint32_t piece)
{
    struct json_trace trace;
    struct evbuffer *out = evbuffer_new();
    json_trace_start(&trace, out, control, NULL, since_ns);
    while (json_trace_continue(&trace, piece))
        ;
    json_t *value = json_loads(text_of(out), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    evbuffer_free(out);
    return value;
}

static const json_t *find_event(const json_t *trace, const char *name)
{
    size_t index;
    json_t *event;
    json_array_foreach(json_object_get(trace, "traceEvents"), index, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "name")), name) == 0)
            return event;
    }
    return NULL;
}

static void the_trace_has_its_shape(void **state)
{
    struct traced traced;
    const struct trace_event synth = {.start_ns = 5000,
                                      .duration_ns = 2500,
                                      .job = 0xcd,
                                      .partition = 4,
                                      .kind = TRACE_SYNTH,
                                      .slab = 1,
                                      .seat = 7};
    const struct trace_event take = {
        .start_ns = 6000, .kind = TRACE_CREDIT_TAKE, .limit = 2, .available = 1};
    (void)state;
    traced_make(&traced);
    trace_add(&traced.control, &synth);
    trace_add(&traced.control, &take);
    json_t *trace = written_trace(&traced.control, 0, 1);
    json_t *wanted = json_loads("{\"ph\":\"X\",\"name\":\"synth\",\"ts\":5.0,\"dur\":2.5,\"pid\":1,"
                                "\"tid\":7,\"args\":{\"job\":\"00000000000000cd\",\"partition\":4,"
                                "\"slab\":1,\"lane\":\"main\"}}",
                                0, NULL);
    assert_true(json_equal((json_t *)(uintptr_t)find_event(trace, "synth"), wanted));
    json_decref(wanted);
    const json_t *args = json_object_get(find_event(trace, "credit_take"), "args");
    wanted = json_loads("{\"lane\":\"main\",\"limit\":2,\"available\":1,\"seq\":1}", 0, NULL);
    assert_true(json_equal((json_t *)(uintptr_t)args, wanted));
    json_decref(wanted);
    json_decref(trace);
    trace = written_trace(&traced.control, 8000, 100); /* synth ended at 7500 */
    assert_null(find_event(trace, "synth"));
    json_decref(trace);
    free(traced.memory);
}

static void a_full_ring_is_written_whole(void **state)
{
    struct traced traced;
    struct trace_event event = {.kind = TRACE_READY, .seat = SEAT_NONE};
    size_t index, found = 0;
    json_t *value;
    (void)state;
    traced_make(&traced);
    for (uint64_t i = 1; i <= TRACE_CAPACITY + 1000; i++) {
        event.job = i;
        trace_add(&traced.control, &event);
    }
    json_t *trace = written_trace(&traced.control, 0, 512);
    json_array_foreach(json_object_get(trace, "traceEvents"), index, value)
    {
        found += strcmp(json_string_value(json_object_get(value, "name")), "ready") == 0;
    }
    assert_int_equal(found, TRACE_CAPACITY);
    json_decref(trace);
    free(traced.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_kinds),
        cmocka_unit_test(every_text_is_legal),
        cmocka_unit_test(a_job_has_its_shape),
        cmocka_unit_test(the_trace_has_its_shape),
        cmocka_unit_test(a_full_ring_is_written_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
