/*
 * Command lines: what each kind of option takes, and that everything else is refused with 64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/options.h"
#include "shm/program.h"

static const struct option_spec specs[] = {{"--flag", OPTION_FLAG, NULL, "a flag"},
                                           {"--value", OPTION_VALUE, "V", "a value"},
                                           {"--later", OPTION_LATER, NULL, NULL},
                                           {0}};
static const struct command two = {"two", "A B", "", specs, 2, 2, NULL, 0};
static const struct command any = {"any", "A...", "", specs, 0, -1, NULL, 0};

static int read_words(struct arguments *arguments, const struct command *command, char **words)
{
    int count = 0;
    while (words[count])
        count++;
    return options_read(arguments, command, count, words);
}

static void values_and_flags(void **state)
{
    (void)state;
    struct arguments arguments;
    char *words[] = {"a", "--value", "--flag", "b", "--flag", NULL};
    assert_int_equal(read_words(&arguments, &two, words), 0);
    assert_int_equal(arguments.count, 2);
    assert_string_equal(arguments.positional[0], "a");
    assert_string_equal(arguments.positional[1], "b");
    assert_string_equal(options_value(&arguments, "--value"), "--flag");
    assert_string_equal(options_value(&arguments, "--flag"), "");
}

static void joined_value(void **state)
{
    (void)state;
    struct arguments arguments;
    char *words[] = {"--value=x=y", NULL};
    assert_int_equal(read_words(&arguments, &any, words), 0);
    assert_string_equal(options_value(&arguments, "--value"), "x=y");
    assert_null(options_value(&arguments, "--flag"));
}

static void after_two_dashes_all_is_positional(void **state)
{
    (void)state;
    struct arguments arguments;
    char *words[] = {"-", "--", "--flag", "--", NULL};
    assert_int_equal(read_words(&arguments, &any, words), 0);
    assert_int_equal(arguments.count, 3);
    assert_string_equal(arguments.positional[0], "-");
    assert_string_equal(arguments.positional[1], "--flag");
    assert_string_equal(arguments.positional[2], "--");
    assert_null(options_value(&arguments, "--flag"));
}

static void what_is_wrong_is_64(void **state)
{
    (void)state;
    struct arguments arguments;
    char *wrong[][4] = {{"a", NULL},
                        {"a", "b", "c", NULL},
                        {"a", "b", "--frob", NULL},
                        {"a", "b", "--fla", NULL},
                        {"a", "b", "--value", NULL},
                        {"a", "b", "--flag=1", NULL},
                        {"a", "b", "--later", NULL},
                        {"a", "b", "--later=1", NULL},
                        {"--flag", "--flag", "a", NULL}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(read_words(&arguments, &two, wrong[i]), EXIT_USAGE_ERROR);
}

static void numbers(void **state)
{
    (void)state;
    struct arguments arguments;
    unsigned long number = 7;
    char *good[] = {"--value", "12", NULL};
    assert_int_equal(read_words(&arguments, &any, good), 0);
    assert_int_equal(options_number(&arguments, "--value", 12, &number), 0);
    assert_int_equal(number, 12);
    char *wrong[] = {"13", "-1", "+1", " 1", "", "1x", "99999999999999999999999", "0x1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char *words[] = {"--value", wrong[i], NULL};
        assert_int_equal(read_words(&arguments, &any, words), 0);
        assert_int_equal(options_number(&arguments, "--value", 12, &number), EXIT_USAGE_ERROR);
        assert_int_equal(number, 12);
    }
    char *none[] = {NULL};
    assert_int_equal(read_words(&arguments, &any, none), 0);
    assert_int_equal(options_number(&arguments, "--value", 12, &number), 0);
    assert_int_equal(number, 12);
}

/* Every command of the table fits options_read, and those without a function say what they are. */
static void the_table_is_whole(void **state)
{
    (void)state;
    for (const struct command *command = commands; command->name; command++) {
        int count = 0;
        for (const struct option_spec *spec = command->options; spec && spec->name; spec++) {
            assert_true(!strncmp(spec->name, "--", 2));
            assert_true(spec->kind == OPTION_LATER || spec->help);
            count++;
        }
        assert_true(count <= OPTIONS_MAX);
        assert_true(command->hidden || (command->summary[0] && command->run));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_flags),
                                       cmocka_unit_test(joined_value),
                                       cmocka_unit_test(after_two_dashes_all_is_positional),
                                       cmocka_unit_test(what_is_wrong_is_64),
                                       cmocka_unit_test(numbers),
                                       cmocka_unit_test(the_table_is_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
