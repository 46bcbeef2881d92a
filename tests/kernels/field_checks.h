/*
 * The fields against Python's integers and against their own laws. A test program of one curve is
 * this file behind its PAWL_CURVE. No state.
 */
#include "kernels/curve/group.h"
#include "kernels/field/scalars.h"
#include "tests/kernels/vectors.h"
#include "tests/support/forms.h"

#include <errno.h>

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#include "tests/kernels/field_checks_template.h"
#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#include "tests/kernels/field_checks_template.h"

static void fr_root_has_full_order(void **state)
{
    (void)state;
    struct fr x = fr_root, minus_one;
    for (int i = 0; i + 1 < FR_TWO_ADICITY; i++)
        fr_square(&x, &x);
    fr_neg(&minus_one, &fr_one);
    assert_true(fr_equal(&x, &minus_one));
}

/* snarkjs takes the root from 5 on both curves. */
static void fr_root_comes_from_five(void **state)
{
    (void)state;
    uint64_t exponent[FR_LIMBS];
    struct fr five = {{5}};
    memcpy(exponent, fr_modulus, sizeof(exponent));
    for (int bit = 0; bit < FR_TWO_ADICITY; bit++)
        for (int i = 0; i < FR_LIMBS; i++)
            exponent[i] = exponent[i] >> 1 | (i + 1 < FR_LIMBS ? exponent[i + 1] << 63 : 0);
    fr_to_montgomery(&five, &five);
    fr_pow(&five, &five, exponent, FR_LIMBS);
    assert_true(fr_equal(&five, &fr_root));
}

static struct fq2 fq2_sample(unsigned i)
{
    struct fq2 a;
    memcpy(&a.c0, fq_vectors[i % COUNT(fq_vectors)].a, sizeof(a.c0));
    memcpy(&a.c1, fq_vectors[(i * 5 + 3) % COUNT(fq_vectors)].b, sizeof(a.c1));
    return a;
}

/* (a0 b0 - a1 b1) + (a0 b1 + a1 b0) u, by the schoolbook */
static void fq2_mul_plainly(struct fq2 *out, const struct fq2 *a, const struct fq2 *b)
{
    struct fq s, t;
    fq_mul(&s, &a->c0, &b->c0);
    fq_mul(&t, &a->c1, &b->c1);
    fq_sub(&out->c0, &s, &t);
    fq_mul(&s, &a->c0, &b->c1);
    fq_mul(&t, &a->c1, &b->c0);
    fq_add(&out->c1, &s, &t);
}

static void fq2_obeys_its_laws(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        struct fq2 a = fq2_sample(i), b = fq2_sample(i / 7 + 2), want, got;
        fq2_mul_plainly(&want, &a, &b);
        fq2_mul(&got, &a, &b);
        assert_true(fq2_equal(&got, &want));
        fq2_mul(&b, &a, &b);
        assert_true(fq2_equal(&b, &want));
        fq2_mul_plainly(&want, &a, &a);
        fq2_square(&got, &a);
        assert_true(fq2_equal(&got, &want));
        fq2_inverse(&b, &a);
        fq2_mul(&got, &a, &b);
        assert_true(fq2_is_zero(&a) ? fq2_is_zero(&b) : fq2_equal(&got, &fq2_one));
        fq2_square(&a, &a);
        assert_true(fq2_equal(&a, &want));
        fq2_neg(&b, &a);
        fq2_add(&b, &b, &a);
        assert_true(fq2_is_zero(&b));
    }
}

static void table_functions_agree(void **state)
{
    (void)state;
    uint64_t x[FQ_LIMBS], y[FQ_LIMBS];
    for (unsigned i = 0; i < COUNT(fr_vectors); i++) {
        const struct fr_vector *v = &fr_vectors[i];
        CURVE_FN(fr_to_montgomery)(x, v->a);
        CURVE_FN(fr_multiply)(y, x, v->b);
        assert_memory_equal(y, v->product, sizeof(v->product));
        CURVE_FN(fr_from_montgomery)(y, x);
        assert_memory_equal(y, v->a, sizeof(v->a));
    }
    for (unsigned i = 0; i < COUNT(fq_vectors); i++) {
        assert_int_equal(CURVE_FN(fq_to_montgomery)(x, fq_vectors[i].a), 0);
        CURVE_FN(fq_from_montgomery)(y, x);
        assert_memory_equal(y, fq_vectors[i].a, sizeof(y));
    }
    assert_int_equal(CURVE_FN(fq_to_montgomery)(x, fq_modulus), -EINVAL);
    assert_false(CURVE_FN(fr_is_canonical)(fr_modulus));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_matches_vectors),
        cmocka_unit_test(fq_matches_vectors),
        cmocka_unit_test(fr_obeys_its_laws),
        cmocka_unit_test(fq_obeys_its_laws),
        cmocka_unit_test(fr_canonical_is_below_the_modulus),
        cmocka_unit_test(fq_canonical_is_below_the_modulus),
        cmocka_unit_test(fr_root_has_full_order),
        cmocka_unit_test(fr_root_comes_from_five),
        cmocka_unit_test(fq2_obeys_its_laws),
        cmocka_unit_test(table_functions_agree),
    };
    if (forms_skip(FORM_NUMBER))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
