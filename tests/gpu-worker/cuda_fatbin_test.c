/*
 * Which GPUs a fatbin's code runs on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "gpu-worker/cuda_fatbin.h"
#include "gpu-worker/cuda_modules.h"
#include "tests/gpu-worker/fatbin_text.h"

static char why[256];

static int fits(const struct fatbin_made *made, int capability, int driver)
{
    why[0] = 0;
    return cuda_fatbin_fits(made->bytes, made->size, capability, driver, why, sizeof(why));
}

static struct fatbin_made as_built(void)
{
    struct fatbin_made made;
    fatbin_begin(&made);
    fatbin_add_code(&made, 80);
    fatbin_add_code(&made, 90);
    fatbin_add_ptx(&made, 121, 9, 0);
    return made;
}

/* Machine code runs on its own and on higher minor numbers of the same generation. */
static void test_machine_code(void **state)
{
    (void)state;
    struct fatbin_made made = as_built();
    assert_int_equal(fits(&made, 80, 13000), FATBIN_CODE);
    assert_true(fits(&made, 86, 13000));
    assert_true(fits(&made, 89, 13000));
    assert_true(fits(&made, 90, 13000));
    assert_false(fits(&made, 75, 13000));
    assert_false(fits(&made, 100, 13000));
    assert_string_equal(why, "built with machine code for 80 90: build with CUDA_ARCHS=100");
    fatbin_begin(&made);
    fatbin_add_code(&made, 86);
    assert_true(fits(&made, 89, 13000));
    assert_false(fits(&made, 80, 13000));
    fatbin_begin(&made);
    fatbin_add_code(&made, 100);
    fatbin_add_code(&made, 120);
    assert_true(fits(&made, 103, 13000));
    assert_true(fits(&made, 121, 13000));
    assert_false(fits(&made, 110, 13000));
}

/* An embedded GPU runs its own code, and others do not run that. */
static void test_embedded(void **state)
{
    (void)state;
    struct fatbin_made made = as_built();
    fatbin_add_code(&made, 86);
    assert_false(fits(&made, 87, 13000));
    fatbin_begin(&made);
    fatbin_add_code(&made, 87);
    assert_true(fits(&made, 87, 13000));
    assert_false(fits(&made, 89, 13000));
    fatbin_begin(&made);
    fatbin_add_ptx(&made, 80, 9, 0);
    assert_true(fits(&made, 87, 13000));
}

/* PTX runs on what is newer than it, where the driver knows its version. */
static void test_ptx(void **state)
{
    (void)state;
    struct fatbin_made made = as_built();
    assert_int_equal(fits(&made, 121, 13000), FATBIN_PTX);
    assert_int_equal(fits(&made, 130, 13000), FATBIN_PTX);
    assert_false(fits(&made, 120, 13000));
    fatbin_begin(&made);
    fatbin_add_ptx(&made, 80, 9, 0); /* machine code goes first, wherever it stands */
    fatbin_add_code(&made, 90);
    assert_int_equal(fits(&made, 90, 13000), FATBIN_CODE);
    assert_int_equal(fits(&made, 86, 13000), FATBIN_PTX);
    fatbin_begin(&made);
    fatbin_add_ptx(&made, 90, 9, 2);
    assert_true(fits(&made, 100, 13020));
    assert_false(fits(&made, 100, 13010));
    assert_non_null(strstr(why, "newer driver"));
    assert_true(fits(&made, 100, 14000));
}

/* Cut short anywhere, or with any one byte of its headers damaged, it is read within its bounds. */
static void test_damaged(void **state)
{
    (void)state;
    struct fatbin_made made = as_built();
    for (size_t bytes = 0; bytes < made.size; bytes++) {
        unsigned char *copy = malloc(bytes ? bytes : 1);
        memcpy(copy, made.bytes, bytes);
        assert_false(cuda_fatbin_fits(copy, bytes, 90, 13000, why, sizeof(why)));
        free(copy);
    }
    assert_non_null(strstr(why, "damaged"));
    unsigned char *copy = malloc(made.size);
    for (size_t at = 0; at < made.size; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, made.bytes, made.size);
            copy[at] ^= (unsigned char)(1 << bit);
            cuda_fatbin_fits(copy, made.size, 70, 13000, why, sizeof(why));
        }
    free(copy);
}

/* What nvcc made for this program is read as such. */
static void test_own_modules(void **state)
{
    (void)state;
    if (cuda_modules_count() == 0)
        skip();
    for (unsigned i = 0; i < cuda_modules_count(); i++) {
        const struct cuda_module *module = cuda_modules_at(i);
        assert_false(cuda_fatbin_fits(module->image, module->bytes, 70, 13000, why, sizeof(why)));
        assert_non_null(strstr(why, "built with machine code for "));
        assert_true(cuda_fatbin_fits(module->image, module->bytes, 999, 99000, why, sizeof(why)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_code), cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_ptx),          cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_own_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
