/*
 * Which form of the mathematics is in use: PAWL_CPU's, or the best there is. Each case is a process
 * of its own, for the answer is remembered.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernels/curves.h"

struct answer {
    int status;
    enum cpu_form chosen, curve_form;
    char why[160];
};

/* What a fresh process with this PAWL_CPU (NULL: unset) says. */
static struct answer ask(const char *word)
{
    struct answer answer = {0};
    const char *why = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (word ? setenv("PAWL_CPU", word, 1) : unsetenv("PAWL_CPU"))
            _exit(1);
        answer.status = cpu_form_check(&why);
        answer.chosen = cpu_form_chosen();
        answer.curve_form = curve_by_id(CURVE_BN254)->form;
        strncpy(answer.why, why, sizeof(answer.why) - 1);
        _exit(write(ends[1], &answer, sizeof(answer)) != (ssize_t)sizeof(answer));
    }
    assert_int_equal(read(ends[0], &answer, sizeof(answer)), sizeof(answer));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
    close(ends[1]);
    return answer;
}

static enum cpu_form best(void)
{
    return cpu_form_available(FORM_IFMA)  ? FORM_IFMA
           : cpu_form_available(FORM_ADX) ? FORM_ADX
                                          : FORM_PORTABLE;
}

static void unset_means_the_best(void **state)
{
    (void)state;
    const char *const words[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        struct answer answer = ask(words[i]);
        assert_int_equal(answer.status, 0);
        assert_int_equal(answer.chosen, best());
        assert_int_equal(answer.curve_form, best());
    }
}

static void named_forms_are_taken_or_refused(void **state)
{
    (void)state;
    for (enum cpu_form form = FORM_PORTABLE; form < FORM_COUNT; form++) {
        struct answer answer = ask(cpu_form_name(form));
        int there = cpu_form_available(form);
        assert_int_equal(answer.status, there ? 0 : -ENOTSUP);
        assert_int_equal(answer.chosen, there ? form : best());
        assert_int_equal(answer.curve_form, answer.chosen);
        if (!there)
            assert_non_null(strstr(answer.why, cpu_form_name(form)));
    }
}

static void other_words_are_refused(void **state)
{
    (void)state;
    const char *const words[] = {"avx", "ADX", "ifma ", "portable,adx"};
    for (int i = 0; i < 4; i++) {
        struct answer answer = ask(words[i]);
        assert_int_equal(answer.status, -EINVAL);
        assert_non_null(strstr(answer.why, "none of portable, adx, ifma"));
        assert_int_equal(answer.chosen, best());
    }
}

static void tables_are_of_their_form_and_curve(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        assert_int_equal(curve_portable(id)->form, FORM_PORTABLE);
        for (enum cpu_form form = FORM_PORTABLE; form < FORM_COUNT; form++) {
            const struct curve *curve = curve_in_form(id, form);
            assert_int_equal(curve != NULL, cpu_form_available(form));
            if (!curve)
                continue;
            assert_int_equal(curve->form, form);
            assert_int_equal(curve->id, id);
        }
    }
    assert_null(curve_portable(0));
    assert_null(curve_in_form(3, FORM_PORTABLE));
    assert_null(curve_by_id(77));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unset_means_the_best),
        cmocka_unit_test(named_forms_are_taken_or_refused),
        cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(tables_are_of_their_form_and_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
