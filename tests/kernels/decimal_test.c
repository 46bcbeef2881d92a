/*
 * Decimal text: both ways, edges of a word and of the range, and what a strict reader refuses.
 */
#include "kernels/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

struct example {
    uint64_t word[4];
    const char *text;
};

static const struct example examples[] = {
    {{0}, "0"},
    {{1}, "1"},
    {{9}, "9"},
    {{10}, "10"},
    {{9999999999999999999ULL}, "9999999999999999999"},
    {{10000000000000000000ULL}, "10000000000000000000"},
    {{UINT64_MAX}, "18446744073709551615"},
    {{0, 1}, "18446744073709551616"},
    {{687399551400673280ULL, 5421010862427522170ULL}, "100000000000000000000000000000000000000"},
    {{0, 0, 0, 1}, "6277101735386680763835789423207666416102355444464034512896"},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
     "115792089237316195423570985008687907853269984665640564039457584007913129639935"},
};

static void examples_read_and_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        uint64_t word[4];
        char text[DECIMAL_TEXT_BYTES(4)];
        const size_t length = strlen(examples[i].text);
        assert_int_equal(decimal_read(word, 4, examples[i].text, length), 0);
        assert_memory_equal(word, examples[i].word, sizeof(word));
        assert_int_equal(decimal_write(text, word, 4), length);
        assert_string_equal(text, examples[i].text);
    }
}

static void round_trips(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252ULL, word[6], again[6];
    char text[DECIMAL_TEXT_BYTES(6)];
    for (int i = 0; i < 2000; i++) {
        for (int k = 0; k < 6; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            word[k] = k < i % 7 ? x : 0;
        }
        const size_t length = decimal_write(text, word, 6);
        assert_true(length == 1 || text[0] != '0');
        assert_int_equal(decimal_read(again, 6, text, length), 0);
        assert_memory_equal(word, again, sizeof(word));
    }
}

static void longest_number_fits(void **state)
{
    (void)state;
    uint64_t word[DECIMAL_WORDS_MAX], again[DECIMAL_WORDS_MAX];
    char text[DECIMAL_TEXT_BYTES(DECIMAL_WORDS_MAX)];
    memset(word, 0xff, sizeof(word));
    const size_t length = decimal_write(text, word, DECIMAL_WORDS_MAX);
    assert_int_equal(decimal_read(again, DECIMAL_WORDS_MAX, text, length), 0);
    assert_memory_equal(word, again, sizeof(word));
}

static void refuse(int want, const char *text, size_t length)
{
    uint64_t word[4];
    assert_int_equal(decimal_read(word, 4, text, length), want);
}

static void junk_is_refused(void **state)
{
    (void)state;
    static const char *const junk[] = {"",    "-1",    "+1",  " 1",  "1 ",  "1\n", "0x10",
                                       "1.0", "1e3",   "abc", "12a", "a12", "--",  "\t7",
                                       "1,2", "1_000", "/",   ":",   "\xb2"};
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
        refuse(-EINVAL, junk[i], strlen(junk[i]));
    refuse(-EINVAL, "1\0002", 3);
    /* the length rules, not a NUL or what follows */
    uint64_t word[4];
    assert_int_equal(decimal_read(word, 4, "123x", 3), 0);
    assert_int_equal(word[0], 123);
    assert_int_equal(decimal_read(word, 4, "007", 3), 0);
    assert_int_equal(word[0], 7);
}

static void too_large_is_refused(void **state)
{
    (void)state;
    const char *over =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    char many[4096];
    uint64_t word[1];
    refuse(-ERANGE, over, strlen(over));
    memset(many, '9', sizeof(many));
    refuse(-ERANGE, many, sizeof(many));
    assert_int_equal(decimal_read(word, 1, "18446744073709551616", 20), -ERANGE);
    assert_int_equal(decimal_read(word, 1, "18446744073709551615", 20), 0);
    memset(many, '0', sizeof(many));
    refuse(0, many, sizeof(many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_read_and_write), cmocka_unit_test(round_trips),
        cmocka_unit_test(longest_number_fits),     cmocka_unit_test(junk_is_refused),
        cmocka_unit_test(too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
