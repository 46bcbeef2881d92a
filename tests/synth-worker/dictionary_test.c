/*
 * Values numbered in the order in which they come, whatever their number; and the limit.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "synth-worker/dictionary.h"

enum { MANY = 70000 };

/* Values that differ in one word only, another one for each i. */
static void value_make(uint64_t value[DICTIONARY_WORDS], uint32_t i)
{
    for (int j = 0; j < DICTIONARY_WORDS; j++)
        value[j] = 7;
    value[i % DICTIONARY_WORDS] = 8 + i;
}

static void numbers_follow_the_order(void **state)
{
    struct dictionary dictionary;
    uint64_t value[DICTIONARY_WORDS];
    uint32_t number;
    (void)state;
    assert_int_equal(dictionary_open(&dictionary, MANY), 0);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < MANY; i++) {
            value_make(value, i);
            assert_int_equal(dictionary_add(&dictionary, value, &number), 0);
            assert_int_equal(number, i);
        }
    assert_int_equal(dictionary.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        value_make(value, i);
        assert_memory_equal(dictionary.value[i], value, sizeof(value));
    }
    dictionary_close(&dictionary);
}

static void a_full_one_still_finds(void **state)
{
    struct dictionary dictionary;
    uint64_t value[DICTIONARY_WORDS];
    uint32_t number = 99;
    (void)state;
    assert_int_equal(dictionary_open(&dictionary, 2), 0);
    for (uint32_t i = 0; i < 3; i++) {
        value_make(value, i);
        assert_int_equal(dictionary_add(&dictionary, value, &number), i < 2 ? 0 : -ENOSPC);
    }
    value_make(value, 0);
    assert_int_equal(dictionary_add(&dictionary, value, &number), 0);
    assert_int_equal(number, 0);
    dictionary_close(&dictionary);
    dictionary_close(&dictionary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_order),
        cmocka_unit_test(a_full_one_still_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
