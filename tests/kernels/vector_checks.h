/*
 * The fields in eight lanes against their portable form (vector_ifma.h): every bound at its edges,
 * and many random elements. A test program of one curve is this file behind its PAWL_CURVE; the
 * Makefile compiles it with AVX-512's flags. No state.
 */
#include "kernels/field/vector_ifma.h"
#include "tests/support/forms.h"
#include "tests/support/scalars.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#include "tests/kernels/vector_checks_template.h"
#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#include "tests/kernels/vector_checks_template.h"

static void fq2_draw(struct fq2 out[8], uint64_t *state)
{
    struct fq c0[8], c1[8];
    fq_draw(c0, state);
    fq_draw(c1, state);
    for (int i = 0; i < 8; i++)
        out[i] = (struct fq2){c0[i], c1[i]};
}

static void fq2_assert_is(const struct fq2_x8 *got, const struct fq2 want[8])
{
    struct fq2 out[8];
    fq2_x8_store_packed(out[0].c0.word, got);
    assert_memory_equal(out, want, sizeof(out));
}

static void fq2_lazy(struct fq2_x8 *out, const struct fq2 value[8], uint64_t k)
{
    fq2_x8_load_packed(out, value[0].c0.word);
    fq2_x8_canonical(out, out);
    fq_raise(&out->c0, k);
    fq_raise(&out->c1, k);
}

static void fq2_check(const struct fq2 a[8], const struct fq2 b[8], uint64_t ka, uint64_t kb)
{
    struct fq2_x8 x, y, out;
    struct fq2 product[8], square[8];
    fq2_lazy(&x, a, ka);
    fq2_lazy(&y, b, kb);
    for (int i = 0; i < 8; i++) {
        fq2_mul(&product[i], &a[i], &b[i]);
        fq2_square(&square[i], &b[i]);
    }
    fq2_x8_mul(&out, &x, &y);
    fq_assert_below(&out.c0, 2);
    fq_assert_below(&out.c1, 2);
    fq2_assert_is(&out, product);
    fq2_x8_square(&out, &y);
    fq_assert_below(&out.c0, 2);
    fq2_assert_is(&out, square);
    out = x;
    fq2_x8_mul(&out, &out, &y); /* in place */
    fq2_assert_is(&out, product);
}

static void fq2_holds_at_its_bounds(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 2000; i++) {
        struct fq2 a[8], b[8];
        struct fq2_x8 x, loaded;
        fq2_draw(a, &random);
        fq2_draw(b, &random);
        fq2_check(a, b, 0, 0);
        fq2_check(a, b, 7, 3);
        fq2_x8_load_packed(&x, a[0].c0.word);
        fq2_assert_is(&x, a);
        fq2_lazy(&x, a, 1);
        fq2_x8_load_packed(&loaded, b[0].c0.word);
        fq2_x8_mul_loaded(&x, &x, &loaded);
        for (int lane = 0; lane < 8; lane++)
            fq2_mul(&a[lane], &a[lane], &b[lane]);
        fq2_assert_is(&x, a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_holds_at_its_bounds),  cmocka_unit_test(fq_holds_at_its_bounds),
        cmocka_unit_test(fr_reduces_anything),     cmocka_unit_test(fq_reduces_anything),
        cmocka_unit_test(fr_agrees_on_many),       cmocka_unit_test(fq_agrees_on_many),
        cmocka_unit_test(fq2_holds_at_its_bounds),
    };
    if (forms_skip(FORM_IFMA))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
