/*
 * Inputs made exact: what is accepted comes out as the same number in decimal; everything else is
 * refused, and the text names the signal and never its value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"
#include "synth-worker/complaint.h"
#include "synth-worker/input_json.h"

#define BN_R "21888242871839275222246405745257275088548364400416034343698204186575808495617"
#define BN_R_MINUS_1 "21888242871839275222246405745257275088548364400416034343698204186575808495616"
#define BN_R_PLUS_5 "21888242871839275222246405745257275088548364400416034343698204186575808495622"

static char *normalise(const char *text, size_t bytes, struct complaint *complaint)
{
    char *out = NULL, *copy = malloc(bytes + !bytes); /* exact, so that ASan sees a byte too far */
    size_t out_bytes;
    FILE *file = open_memstream(&out, &out_bytes);
    memcpy(copy, text, bytes);
    int status = input_json_normalise(copy, bytes, curve_by_id(CURVE_BN254), file, complaint);
    fclose(file);
    free(copy);
    if (!status)
        return out;
    free(out);
    return NULL;
}

static void becomes(const char *text, const char *wanted)
{
    struct complaint complaint = {0};
    char *got = normalise(text, strlen(text), &complaint);
    if (!got)
        fail_msg("%s: %s", text, complaint.text);
    assert_string_equal(got, wanted);
    free(got);
}

static void refused_bytes(const char *text, size_t bytes, const char *reason)
{
    struct complaint complaint = {0};
    char *got = normalise(text, bytes, &complaint);
    if (got)
        fail_msg("%s became %s", text, got);
    assert_int_equal(complaint.exit_code, 1);
    if (!strstr(complaint.text, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, complaint.text, reason);
}

static void refused(const char *text, const char *reason)
{
    refused_bytes(text, strlen(text), reason);
}

static void numbers_stay_exact(void **state)
{
    (void)state;
    becomes("{}", "{}");
    becomes("{\"a\":1}", "{\"a\":\"1\"}");
    becomes(" { \"a\" : 9007199254740993 } \n", "{\"a\":\"9007199254740993\"}");
    becomes("{\"a\":" BN_R_MINUS_1 "}", "{\"a\":\"" BN_R_MINUS_1 "\"}");
    becomes("{\"a\":-1}", "{\"a\":\"" BN_R_MINUS_1 "\"}");
    becomes("{\"a\":\"-1\"}", "{\"a\":\"" BN_R_MINUS_1 "\"}");
    becomes("{\"a\":-0,\"b\":\"-0\",\"c\":\"007\"}", "{\"a\":\"0\",\"b\":\"0\",\"c\":\"7\"}");
    becomes("{\"a\":\"-" BN_R_MINUS_1 "\"}", "{\"a\":\"1\"}");
    becomes("{\"a\":[\"0x10\",\"0XfF\",\"0o17\",\"0b101\"]}",
            "{\"a\":[\"16\",\"255\",\"15\",\"5\"]}");
    becomes("{\"a\":\"\\u0031\\u0032\"}", "{\"a\":\"12\"}");
}

static void shapes_stay(void **state)
{
    (void)state;
    becomes("{\"a\":[1,\"2\",[3,[]]],\"b\":{\"c\":[{\"d\":4}]}}",
            "{\"a\":[\"1\",\"2\",[\"3\",[]]],\"b\":{\"c\":[{\"d\":\"4\"}]}}");
    becomes("{\"a.b\":1,\"a[0].c\":2}", "{\"a.b\":\"1\",\"a[0].c\":\"2\"}");
    becomes("{\"q\\\"\\\\\\n\\u00e9\\ud83d\\ude00\":1}",
            "{\"q\\\"\\\\\\u000a\u00e9\U0001F600\":\"1\"}");
}

static void other_numbers_are_refused_by_name(void **state)
{
    (void)state;
    refused("{\"in\":[1,2,3,1.6]}", "input signal in[3]: a fraction");
    refused("{\"in\":1e3}", "input signal in: a fraction or an exponent");
    refused("{\"a\":{\"b\":\"\"}}", "input signal a.b: an empty text");
    refused("{\"in\":" BN_R "}", "input signal in: the number is not below the prime r");
    refused("{\"in\":\"" BN_R_PLUS_5 "\"}", "not below the prime r");
    refused("{\"in\":-" BN_R "}", "not below the prime r");
    refused("{\"in\":\"0x1" BN_R BN_R "\"}", "not below the prime r");
    refused("{\"in\":true}", "input signal in: true, false and null");
    refused("{\"in\":[null]}", "input signal in[0]: true, false and null");
    static const char *const texts[] = {"1.6",  "1e3", " 1",  "1 ",  "+1", "--1",  "-",      "0x",
                                        "-0x1", "0b2", "0o8", "1_0", "x",  "0x-1", "\\u0661"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char input[64];
        snprintf(input, sizeof input, "{\"in\":\"%s\"}", texts[i]);
        refused(input, "input signal in: not a whole number");
    }
}

static void no_text_shows_a_value(void **state)
{
    struct complaint complaint = {0};
    (void)state;
    assert_null(normalise("{\"in\":\"86753x\"}", 15, &complaint));
    assert_null(strstr(complaint.text, "86753"));
    assert_null(normalise("{\"in\":86753.5}", 14, &complaint));
    assert_null(strstr(complaint.text, "86753"));
}

static void names_that_come_twice_are_refused(void **state)
{
    (void)state;
    refused("{\"a\":1,\"a\":1}", "input signal a: given twice");
    refused("{\"a\":{\"b\":1},\"a.b\":2}", "input signal a.b: given twice");
    refused("{\"a[0].b\":2,\"a\":[{\"b\":1}]}", "input signal a[0].b: given twice");
    refused("{\"a\":1,\"\\u0061\":2}", "input signal a: given twice");
    becomes("{\"a\":{\"b\":1},\"c\":{\"b\":1}}", "{\"a\":{\"b\":\"1\"},\"c\":{\"b\":\"1\"}}");
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "[]",
                                        "1",
                                        "\"a\"",
                                        "{",
                                        "{\"a\"",
                                        "{\"a\":",
                                        "{\"a\":1",
                                        "{\"a\":1,",
                                        "{\"a\":1,}",
                                        "{\"a\":[1,]}",
                                        "{\"a\":[1",
                                        "{\"a\":[",
                                        "{\"a\" 1}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "{\"a\":01}",
                                        "{\"a\":-}",
                                        "{\"a\":.5}",
                                        "{\"a\":1}{}",
                                        "{\"a\":1} x",
                                        "{\"a\":1 \"b\":2}",
                                        "{\"a\":NaN}",
                                        "{\"a\":\"\\x\"}",
                                        "{\"a\":\"\\u12\"}",
                                        "{\"a\":\"\\ud800\"}",
                                        "{\"a\":\"\\ud800\\u0041\"}",
                                        "{\"a\":\"\\u0000\"}",
                                        "{\"a\":\"\n\"}",
                                        "{\"a\":\"\xff\"}",
                                        "{\"a\":\"\xc0\x80\"}",
                                        "{\"a\":\"\xed\xa0\x80\"}",
                                        "{\"a\":\"\xf4\x90\x80\x80\"}",
                                        "{\"a\":\"\xe2\x82",
                                        "{\"a\":\"",
                                        "\xef\xbb\xbf{}",
                                        "{\"a\":tru}",
                                        "{,}",
                                        "{\"a\":[,1]}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused(texts[i], "the input is not JSON");
    refused_bytes("{\"a\":1\0}", 8, "the input is not JSON");
    refused_bytes("{\"a\0\":1}", 8, "the input is not JSON");
}

static void every_prefix_is_refused(void **state)
{
    static const char whole[] = "{\"a\":[1,\"0x2\",{\"b\":\"\\u0033\"}],\"c\":-4}";
    struct complaint complaint;
    (void)state;
    for (size_t bytes = 0; bytes < sizeof whole - 1; bytes++)
        assert_null(normalise(whole, bytes, &complaint));
}

static void names_are_bounded(void **state)
{
    enum { NAMES = (1 << 22) + 1, EACH = 14 };
    char *text = malloc((size_t)NAMES * EACH + 2), *at = text;
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < NAMES; i++)
        at += sprintf(at, "%c\"%07d\":1", i ? ',' : '{', i);
    *at++ = '}';
    refused_bytes(text, (size_t)(at - text), "more than 4194304 names");
    free(text);
}

static void depth_and_lengths_are_bounded(void **state)
{
    enum { DEEP = 100000 };
    char *text = malloc(2 * DEEP);
    (void)state;
    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', DEEP);
    refused_bytes(text, 5 + DEEP, "too deep");
    memset(text + 5, '1', DEEP);
    text[5 + DEEP] = '}';
    refused_bytes(text, 6 + DEEP, "not below the prime r");
    memcpy(text, "{\"", 2);
    memset(text + 2, 'k', DEEP);
    refused_bytes(text, 2 + DEEP, "too long");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay_exact),
        cmocka_unit_test(shapes_stay),
        cmocka_unit_test(other_numbers_are_refused_by_name),
        cmocka_unit_test(no_text_shows_a_value),
        cmocka_unit_test(names_that_come_twice_are_refused),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(depth_and_lengths_are_bounded),
        cmocka_unit_test(names_are_bounded),
    };
    return cmocka_run_group_tests_name("input_json", tests, NULL, NULL);
}
