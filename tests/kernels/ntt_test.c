/*
 * The quotient against its definition: by interpolation and evaluation one by one where the domain
 * is small, at single points by the barycentric formula where it is large; and cancelling.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/scalars.h"
#include "tests/support/threads.h"

struct instance {
    const struct curve *curve;
    unsigned log2;
    size_t n;
    struct scalar *a, *b, *ab;    /* values on the domain */
    struct scalar *h, *h_b, *h_c; /* the same, for quotient to work on; then h is its result */
    void *table;
};

static void *memory_new(size_t bytes)
{
    void *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(out);
    return out;
}

static struct instance instance_make(const struct curve *curve, unsigned log2,
                                     struct parallel *parallel)
{
    size_t n = (size_t)1 << log2, bytes = n * sizeof(struct scalar);
    struct instance x = {curve,
                         log2,
                         n,
                         memory_new(bytes),
                         memory_new(bytes),
                         memory_new(bytes),
                         memory_new(bytes),
                         memory_new(bytes),
                         memory_new(bytes),
                         memory_new(curve->ntt_table_bytes(log2))};
    uint64_t state = log2;
    for (size_t i = 0; i < n; i++) {
        x.a[i] = scalar_random(curve, &state);
        x.b[i] = i % 7 ? scalar_random(curve, &state) : (struct scalar){{0}};
        x.ab[i] = scalar_mul(curve, &x.a[i], &x.b[i]);
    }
    memcpy(x.h, x.a, bytes);
    memcpy(x.h_b, x.b, bytes);
    curve->ntt_table_make(x.table, log2, parallel);
    return x;
}

static int instance_run(struct instance *x, struct parallel *parallel)
{
    return x->curve->quotient(x->h->word, x->h_b->word, x->h_c->word, x->log2, x->table, parallel);
}

static void instance_free(struct instance *x)
{
    void *all[] = {x->a, x->b, x->ab, x->h, x->h_b, x->h_c, x->table};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        free(all[i]);
}

/* The value at v^(2 index + 1) of the polynomial with the given values on the domain: coefficients
 * one by one. */
static struct scalar evaluate_slowly(const struct instance *x, const struct scalar *values,
                                     size_t index)
{
    const struct curve *c = x->curve;
    struct scalar w = scalar_root(c, x->log2), v = scalar_root(c, x->log2 + 1), sum = {{0}};
    struct scalar inverse_w = scalar_inverse(c, &w), n = scalar_from(c, x->n);
    struct scalar inverse_n = scalar_inverse(c, &n);
    struct scalar point = scalar_pow_small(c, &v, 2 * index + 1);
    for (size_t j = x->n; j-- > 0;) {
        struct scalar coefficient = {{0}}, step = scalar_pow_small(c, &inverse_w, j);
        for (size_t i = x->n; i-- > 0;) {
            coefficient = scalar_mul(c, &coefficient, &step);
            coefficient = scalar_add(c, &coefficient, &values[i]);
        }
        coefficient = scalar_mul(c, &coefficient, &inverse_n);
        sum = scalar_mul(c, &sum, &point);
        sum = scalar_add(c, &sum, &coefficient);
    }
    return sum;
}

/* The same by (x^n - 1) / n * sum values_i w^i / (x - w^i), for one point and the three arrays. */
static void evaluate_barycentric(const struct instance *x, size_t index, struct scalar out[3])
{
    const struct curve *c = x->curve;
    const struct scalar *values[3] = {x->a, x->b, x->ab};
    struct scalar w = scalar_root(c, x->log2), v = scalar_root(c, x->log2 + 1);
    struct scalar point = scalar_pow_small(c, &v, 2 * index + 1), one = scalar_from(c, 1);
    struct scalar *inverse = memory_new(x->n * sizeof(w)), *prefix = memory_new(x->n * sizeof(w));
    struct scalar power = one, n = scalar_from(c, x->n), factor = scalar_inverse(c, &n);
    struct scalar vanishing = scalar_pow_small(c, &point, x->n);
    vanishing = scalar_sub(c, &vanishing, &one);
    factor = scalar_mul(c, &factor, &vanishing);
    for (size_t i = 0; i < x->n; i++, power = scalar_mul(c, &power, &w))
        inverse[i] = scalar_sub(c, &point, &power);
    scalars_invert(c, inverse, x->n, prefix);
    for (int k = 0; k < 3; k++) {
        out[k] = (struct scalar){{0}};
        power = one;
        for (size_t i = 0; i < x->n; i++, power = scalar_mul(c, &power, &w)) {
            struct scalar term = scalar_mul(c, &values[k][i], &power);
            term = scalar_mul(c, &term, &inverse[i]);
            out[k] = scalar_add(c, &out[k], &term);
        }
        out[k] = scalar_mul(c, &out[k], &factor);
    }
    free(inverse);
    free(prefix);
}

static void expect_h(const struct instance *x, size_t index, const struct scalar value[3])
{
    struct scalar want = scalar_mul(x->curve, &value[0], &value[1]);
    want = scalar_sub(x->curve, &want, &value[2]);
    want = scalar_plain(x->curve, &want);
    assert_true(scalar_equal(&want, &x->h[index]));
}

static void check_small(const struct curve *curve, unsigned log2)
{
    struct instance x = instance_make(curve, log2, &parallel_serial);
    assert_int_equal(instance_run(&x, &parallel_serial), 0);
    for (size_t i = 0; i < x.n; i++) {
        struct scalar value[3] = {evaluate_slowly(&x, x.a, i), evaluate_slowly(&x, x.b, i),
                                  evaluate_slowly(&x, x.ab, i)};
        expect_h(&x, i, value);
    }
    instance_free(&x);
}

static void quotient_small_domains(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (unsigned log2 = 1; log2 <= 5; log2++)
            check_small(curve_by_id(id), log2);
    }
}

static void check_large(const struct curve *curve, unsigned log2, unsigned threads)
{
    struct parallel parallel = threads_make(threads);
    struct instance x = instance_make(curve, log2, &parallel);
    assert_int_equal(instance_run(&x, &parallel), 0);
    size_t points[] = {0, x.n / 3, x.n - 1};
    for (size_t i = 0; i < 3; i++) {
        struct scalar value[3];
        evaluate_barycentric(&x, points[i], value);
        expect_h(&x, points[i], value);
    }
    instance_free(&x);
}

/* The portable form: 10 is the last without upper levels, 11 and 12 have a pass of one and two, 16
 * and 17 two passes; AVX-512's: 9, then a pass of one to six, 16 and 17 two. */
static void quotient_large_domains(void **state)
{
    (void)state;
    static const unsigned sizes[] = {8, 10, 11, 12, 15, 16, 17};
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            check_large(curve_by_id(id), sizes[i], 1 + (unsigned)i % 4);
    }
}

static void quotient_any_threads_same(void **state)
{
    (void)state;
    const struct curve *curve = curve_by_id(CURVE_BN254);
    struct instance serial = instance_make(curve, 13, &parallel_serial);
    assert_int_equal(instance_run(&serial, &parallel_serial), 0);
    static const unsigned threads[] = {2, 3, 7, 32};
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        struct parallel parallel = threads_make(threads[i]);
        struct instance x = instance_make(curve, 13, &parallel);
        assert_memory_equal(x.table, serial.table, curve->ntt_table_bytes(13));
        assert_int_equal(instance_run(&x, &parallel), 0);
        assert_memory_equal(x.h, serial.h, x.n * sizeof(*x.h));
        instance_free(&x);
    }
    instance_free(&serial);
}

/* ---- the forms against the portable one ---- */

enum filling { RANDOM, LARGEST, ZERO, FILLINGS };
enum { FILLED_LOG2 = 12 }; /* larger domains: random rows only */

static void instance_fill(struct instance *x, enum filling filling)
{
    struct scalar largest;
    memcpy(&largest, x->curve->fr_modulus, sizeof(largest));
    largest.word[0]--;
    for (size_t i = 0; i < x->n && filling != RANDOM; i++)
        x->a[i] = x->b[i] = filling == LARGEST ? largest : (struct scalar){{0}};
    memcpy(x->h, x->a, x->n * sizeof(*x->a));
    memcpy(x->h_b, x->b, x->n * sizeof(*x->b));
}

static void check_form(const struct curve *curve, const struct curve *other, unsigned log2,
                       unsigned threads)
{
    struct parallel parallel = threads_make(threads);
    struct instance want = instance_make(curve, log2, &parallel);
    struct instance got = instance_make(other, log2, &parallel);
    for (int filling = 0; filling < (log2 < FILLED_LOG2 ? FILLINGS : 1); filling++) {
        instance_fill(&want, filling);
        instance_fill(&got, filling);
        assert_int_equal(instance_run(&want, &parallel), 0);
        assert_int_equal(instance_run(&got, &parallel), 0);
        assert_memory_equal(got.h, want.h, want.n * sizeof(*want.h));
    }
    instance_free(&want);
    instance_free(&got);
}

static void forms_agree(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++)
        for (int form = FORM_PORTABLE + 1; form < FORM_COUNT; form++)
            for (unsigned log2 = 1; log2 <= 16 && curve_in_form(id, form); log2++)
                check_form(curve_portable(id), curve_in_form(id, form), log2, 1 + log2 % 3);
}

static int always_cancelled(struct parallel *self)
{
    (void)self;
    return 1;
}

static void quotient_is_cancelled(void **state)
{
    (void)state;
    struct parallel parallel = threads_make(2);
    struct instance x = instance_make(curve_by_id(CURVE_BLS12381), 12, &parallel);
    parallel.cancelled = always_cancelled;
    assert_int_equal(instance_run(&x, &parallel), -ECANCELED);
    instance_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotient_small_domains),    cmocka_unit_test(quotient_large_domains),
        cmocka_unit_test(quotient_any_threads_same), cmocka_unit_test(forms_agree),
        cmocka_unit_test(quotient_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
