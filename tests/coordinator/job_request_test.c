/*
 * Bodies of POST /v1/jobs: inputs cut out by their brackets, hostile JSON, fields and their names.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/job_request.h"
#include "coordinator/json_cut.h"

/* ---- cutting ---- */

static void expect_cuts(const char *text, uint32_t count, const char *const *wanted)
{
    struct json_cuts cuts;
    assert_int_equal(json_cut_find(&cuts, text, strlen(text), 100), 0);
    assert_int_equal(cuts.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(cuts.cuts[i].length, strlen(wanted[i]));
        assert_memory_equal(text + cuts.cuts[i].offset, wanted[i], strlen(wanted[i]));
    }
    json_cuts_free(&cuts);
}

static void inputs_are_found_by_brackets(void **state)
{
    (void)state;
    expect_cuts("", 0, NULL);
    expect_cuts("{\"partitions\":[{\"input\":{}}]}", 1, (const char *[]){"{}"});
    expect_cuts(
        "{\"partitions\" : [ {\"name\":\"input\", \"input\" : {\"a\":[1,{\"b\":\"]}\\\"\"}]}},"
        " {\"upload\":\"x\"}, {\"input\":{\"c\":\"\\\\\"}}]}",
        2, (const char *[]){"{\"a\":[1,{\"b\":\"]}\\\"\"}]}", "{\"c\":\"\\\\\"}"});
    /* elsewhere it is no input */
    expect_cuts("{\"input\":{}}", 0, NULL);
    expect_cuts("[{\"input\":{}}]", 0, NULL);
    expect_cuts("{\"partitions\":{\"input\":{}}}", 0, NULL);
    expect_cuts("{\"partitions\":[[{\"input\":{}}]]}", 0, NULL);
    expect_cuts("{\"partitions\":[{\"x\":{\"input\":{}}}]}", 0, NULL);
    expect_cuts("{\"partitions\":[{\"input\":[{}]}]}", 0, NULL);
    expect_cuts("{\"x\":[\"partitions\",{\"input\":{}}]}", 0, NULL);
    expect_cuts("{\"partitions\":[],\"x\":[{\"input\":{}}]}", 0, NULL);
    expect_cuts("{\"partitions\":[{\"\\u0069nput\":{}}]}", 0, NULL);
}

static void cuts_know_their_partition(void **state)
{
    struct json_cuts cuts;
    const char *text =
        "{\"partitions\":[{},{\"input\":{\"a\":[1,2]}},{\"x\":[1,2]},{\"input\":{}}]}";
    char *copy = strdup(text);
    (void)state;
    assert_int_equal(json_cut_find(&cuts, text, strlen(text), 2), 0);
    assert_null(json_cut_of(&cuts, 0));
    assert_ptr_equal(json_cut_of(&cuts, 1), &cuts.cuts[0]);
    assert_null(json_cut_of(&cuts, 2));
    assert_ptr_equal(json_cut_of(&cuts, 3), &cuts.cuts[1]);
    json_cut_blank(&cuts, copy);
    assert_string_equal(
        copy, "{\"partitions\":[{},{\"input\":0          },{\"x\":[1,2]},{\"input\":0 }]}");
    json_cuts_free(&cuts);
    assert_int_equal(json_cut_find(&cuts, text, strlen(text), 1), -E2BIG);
    free(copy);
}

static void brackets_that_do_not_match_are_refused(void **state)
{
    static const char *const wrong[] = {"{",
                                        "}",
                                        "[}",
                                        "{\"a",
                                        "\"\\",
                                        "{\"partitions\":[{\"input\":{]}}]}",
                                        "{\"partitions\":[{\"input\":{",
                                        "{\"partitions\":[{\"input\":{\"}}]}"};
    struct json_cuts cuts;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(json_cut_find(&cuts, wrong[i], strlen(wrong[i]), 9), -EINVAL);
}

static void depth_is_bounded(void **state)
{
    char text[400];
    struct json_cuts cuts;
    (void)state;
    for (size_t depth = 60; depth < 70; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        int wanted = depth <= JSON_CUT_DEPTH_MAX ? 0 : -E2BIG;
        assert_int_equal(json_cut_find(&cuts, text, 2 * depth, 9), wanted);
        json_cuts_free(&cuts);
    }
}

/* No cut of a text, and no change of a byte, makes the scanner read or write outside of it. */
static void damaged_texts_are_survived(void **state)
{
    const char *text = "{\"partitions\":[{\"input\":{\"a\":[1,\"\\\\x\"]}},{\"input\":{}}]}";
    size_t length = strlen(text);
    struct json_cuts cuts;
    (void)state;
    for (size_t at = 0; at < length; at++) {
        for (const char *with = "{}[]\",:\\ "; *with; with++) {
            char *copy = malloc(length); /* its end is the sanitizer's border */
            memcpy(copy, text, length);
            copy[at] = *with;
            if (json_cut_find(&cuts, copy, length, 9) == 0)
                json_cut_blank(&cuts, copy);
            json_cuts_free(&cuts);
            copy = realloc(copy, at + 1);
            assert_non_null(copy);
            if (json_cut_find(&cuts, copy, at + 1, 9) == 0)
                json_cut_blank(&cuts, copy);
            json_cuts_free(&cuts);
            free(copy);
        }
    }
}

/* ---- requests ---- */

static void a_request_is_read(void **state)
{
    struct job_request request;
    struct job_request_error error;
    const char *text =
        "{\"circuit\":\"c\",\"idempotency_key\":\"k 1\",\"deadline_s\":1.5,\"priority\":\"high\","
        "\"partitions\":[{\"upload\":\"0123456789abcdef\"},{\"path\":\"/a/b.wtns\"},"
        "{\"input\":{\"x\": 18446744073709551617, \"x\": 1e999}, \"name\":\"n\"}]}";
    (void)state;
    assert_int_equal(job_request_parse(&request, text, strlen(text), &error), 0);
    assert_string_equal(request.key, "k 1");
    assert_int_equal(request.partition_count, 3);
    assert_int_equal(request.partitions[0].source, SOURCE_UPLOAD);
    assert_true(request.partitions[0].upload == UINT64_C(0x0123456789abcdef));
    assert_string_equal(request.partitions[0].label, "witness 0");
    assert_string_equal(request.partitions[1].path, "/a/b.wtns");
    assert_string_equal(request.partitions[1].label, "/a/b.wtns");
    /* as it was written, to the byte, whatever it says */
    const char *input = "{\"x\": 18446744073709551617, \"x\": 1e999}";
    assert_int_equal(request.partitions[2].input_bytes, strlen(input));
    assert_memory_equal(request.partitions[2].input, input, strlen(input));
    assert_string_equal(request.partitions[2].label, "n");
    job_request_free(&request);
}

static void wrong_requests_name_the_field(void **state)
{
    static const struct {
        const char *partitions, *field;
        int status;
    } wrong[] = {
        {"[{\"path\":\"/a\\u0000b\"}]", "", 400},
        {"[{\"path\":\"a\"}]", "partitions[0].path", 422},
        {"[{\"upload\":\"0123456789abcdef\"},{\"path\":7}]", "partitions[1].path", 422},
        {"[{\"input\":0}]", "partitions[0].input", 422},
        {"[{\"inpu\\u0074\":{}}]", "partitions[0].input", 422},
        {"[{\"input\":{},\"path\":\"/a\"}]", "partitions[0].path", 422},
        {"[{\"path\":\"/a\",\"name\":\"\\n\"}]", "partitions[0].name", 422},
        {"[{\"name\":\"x\"}]", "partitions[0]", 422},
        {"[{\"input\":{},\"input\":{}}]", "", 400},
        {"{}", "partitions", 422},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[300];
        struct job_request request;
        struct job_request_error error = {0};
        int length = snprintf(text, sizeof(text), "{\"circuit\":\"c\",\"partitions\":%s}",
                              wrong[i].partitions);
        assert_int_equal(job_request_parse(&request, text, (size_t)length, &error), -EINVAL);
        assert_string_equal(error.field, wrong[i].field);
        assert_int_equal(error.status, wrong[i].status);
    }
}

static void a_long_path_gives_its_end_as_name(void **state)
{
    char text[2000], *at = text;
    struct job_request request;
    struct job_request_error error;
    (void)state;
    at += sprintf(at, "{\"circuit\":\"c\",\"partitions\":[{\"path\":\"/");
    memset(at, 'a', 1000);
    sprintf(at + 1000, "\\u0007.json\"}]}");
    assert_int_equal(job_request_parse(&request, text, strlen(text), &error), 0);
    const char *label = request.partitions[0].label;
    assert_int_equal(strlen(label), WIRE_LABEL_BYTES - 1);
    assert_string_equal(label + strlen(label) - 6, "?.json");
    job_request_free(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_found_by_brackets),
        cmocka_unit_test(cuts_know_their_partition),
        cmocka_unit_test(brackets_that_do_not_match_are_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(damaged_texts_are_survived),
        cmocka_unit_test(a_request_is_read),
        cmocka_unit_test(wrong_requests_name_the_field),
        cmocka_unit_test(a_long_path_gives_its_end_as_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
