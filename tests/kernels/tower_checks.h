/*
 * The tower against its defining polynomials, and squarings and Frobenius maps against products.
 * A test program of one curve is this file behind its PAWL_CURVE. No state.
 */
#include "kernels/curve/group.h"
#include "kernels/field/tower.h"
#include "kernels/pairing/miller.h"
#include "tests/kernels/vectors.h"

static struct fq12 sample(unsigned seed)
{
    struct fq12 a;
    struct fq *c = &a.c[0].c[0].c0;
    for (unsigned k = 0; k < 12; k++) {
        memcpy(&c[k], fq_vectors[(seed + k * (seed + 3)) % COUNT(fq_vectors)].a, sizeof(*c));
        fq_mul(&c[k], &c[k], &fq_r_squared);
        fq_add(&c[k], &c[k], k % 3 ? &fq_one : &g1_generator_y);
    }
    return a;
}

/* c_k, the coefficient of w^k, against products by powers of w with w^6 = xi: the schoolbook */
static void mul_plainly(struct fq12 *out, const struct fq12 *a, const struct fq12 *b)
{
    struct fq12 sum = {0};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            struct fq2 t, *place = &sum.c[(i + j) % 2].c[(i + j) % 6 / 2];
            fq2_mul(&t, &a->c[i % 2].c[i / 2], &b->c[j % 2].c[j / 2]);
            if (i + j >= 6) {
                const struct fq2 xi = {{{FQ2_XI_REAL}}, {{1}}};
                struct fq2 m;
                fq_to_montgomery(&m.c0, &xi.c0);
                fq_to_montgomery(&m.c1, &xi.c1);
                fq2_mul(&t, &t, &m);
            }
            fq2_add(place, place, &t);
        }
    *out = sum;
}

static void products_are_those_of_polynomials(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct fq12 a = sample(i), b = sample(i + 20), want, got;
        mul_plainly(&want, &a, &b);
        fq12_mul(&got, &a, &b);
        assert_true(fq12_equal(&got, &want));
        mul_plainly(&want, &a, &a);
        fq12_square(&got, &a);
        assert_true(fq12_equal(&got, &want));
        fq12_square(&a, &a);
        assert_true(fq12_equal(&a, &want));
    }
}

static void sparse_products_are_products(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        const struct fq12 a = sample(i), b = sample(i + 5);
        struct fq6 got, want;
        const struct fq6 sparse = {{b.c[0].c[0], b.c[1].c[1], fq2_zero}};
        fq6_mul(&want, &a.c[0], &sparse);
        fq6_mul_sparse(&got, &a.c[0], &sparse.c[0], &sparse.c[1]);
        assert_memory_equal(&got, &want, sizeof(got));
        got = a.c[0];
        fq6_mul_sparse(&got, &got, &sparse.c[0], &sparse.c[1]);
        assert_memory_equal(&got, &want, sizeof(got));
    }
}

static void inverses_invert(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct fq12 a = sample(i), inverse;
        fq12_inverse(&inverse, &a);
        fq12_mul(&a, &a, &inverse);
        assert_true(fq12_is_one(&a));
    }
}

static void power(struct fq12 *out, const struct fq12 *a, const uint64_t *exponent, int words)
{
    const struct fq12 base = *a;
    fq12_set_one(out);
    for (int bit = 64 * words - 1; bit >= 0; bit--) {
        fq12_square(out, out);
        if (exponent[bit / 64] >> (bit % 64) & 1)
            fq12_mul(out, out, &base);
    }
}

static void frobenius_is_the_power_q(void **state)
{
    (void)state;
    struct fq12 a = sample(3), want = a, got;
    for (int n = 1; n <= 3; n++) {
        power(&want, &want, fq_modulus, FQ_LIMBS);
        fq12_frobenius(&got, &a, n);
        assert_true(fq12_equal(&got, &want));
    }
    fq12_frobenius(&got, &got, 3);
    fq12_conjugate(&a, &a);
    assert_true(fq12_equal(&got, &a));
}

static void final_exponentiation_lands_in_the_group(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct fq12 a = sample(i), squared, t;
        CURVE_FN(final_exponentiation)(&a, &a);
        assert_false(fq12_is_one(&a));
        fq12_square(&squared, &a);
        fq12_cyclotomic_square(&t, &a);
        assert_true(fq12_equal(&t, &squared));
        power(&t, &a, fr_modulus, FR_LIMBS);
        assert_true(fq12_is_one(&t));
        fq12_conjugate(&t, &a);
        fq12_mul(&t, &t, &a);
        assert_true(fq12_is_one(&t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_polynomials),
        cmocka_unit_test(sparse_products_are_products),
        cmocka_unit_test(inverses_invert),
        cmocka_unit_test(frobenius_is_the_power_q),
        cmocka_unit_test(final_exponentiation_lands_in_the_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
