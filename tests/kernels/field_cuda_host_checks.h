/*
 * The device functions of field_cuda.h, fq2_cuda.h and xyzz_cuda.h, compiled as C with the carry
 * flag as a variable, against the portable fields and groups. A test program of one curve is this
 * file behind its PAWL_CURVE. No state but the host model's carry.
 */
#include "kernels/curve/curve.h"
#include "kernels/curve/group.h"
#include "kernels/curve/xyzz_cuda.h"
#include "tests/kernels/field_samples_cuda.h"
#include "tests/kernels/vectors.h"

#include <string.h>

#define HOST_RANDOM 100000

/* out (2 count words) = a b, by the schoolbook */
static void host_multiply(uint64_t *out, const uint64_t *a, const uint64_t *b, int count)
{
    memset(out, 0, 2 * (size_t)count * sizeof(*out));
    for (int i = 0; i < count; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < count; j++) {
            const unsigned __int128 t = (unsigned __int128)a[i] * b[j] + out[i + j] + carry;
            out[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        out[i + count] = carry;
    }
}

/* a -= b; the borrow out is dropped */
static void host_subtract(uint64_t *a, const uint64_t *b, int count)
{
    unsigned char borrow = 0;
    for (int i = 0; i < count; i++)
        borrow = word_sub(borrow, a[i], b[i], &a[i]);
}

/* out = 2^(64 count) - a */
static void host_complement(uint64_t *out, const uint64_t *a, int count)
{
    memset(out, 0, (size_t)count * sizeof(*out));
    host_subtract(out, a, count);
}

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define GPU_FIELD fr
#define GPU_WORDS GPU_FR_WORDS
#include "tests/kernels/field_cuda_host_template.h"
#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#define GPU_FIELD fq
#define GPU_WORDS GPU_FQ_WORDS
#include "tests/kernels/field_cuda_host_template.h"
#define GROUP g1
#define COORDINATE fq
#define GPU_GROUP g1
#define GPU_COORDINATE fq
#include "tests/kernels/xyzz_cuda_host_template.h"
#define GROUP g2
#define COORDINATE fq2
#define GPU_GROUP g2
#define GPU_COORDINATE fq2
#include "tests/kernels/xyzz_cuda_host_template.h"

/* (2p - 1)(2p - 1), the largest factors that Fq2's square has */
static void fq_lazy_factors_are_reduced(void **state)
{
    (void)state;
    struct fq minus_one = {{1}}, want;
    struct gpu_fq got;
    uint32_t p_and_less[GPU_FQ_WORDS], x[GPU_FQ_WORDS], p[GPU_FQ_WORDS];
    fq_neg(&minus_one, &minus_one);
    memcpy(p_and_less, &minus_one, sizeof(x));
    memcpy(p, fq_modulus, sizeof(p));
    gpu_fq_add_raw(x, p_and_less, p);
    gpu_fq_mul_raw(&got, x, x);
    fq_mul(&want, &minus_one, &minus_one);
    assert_memory_equal(&got, &want, sizeof(got));
    gpu_fq_mul_add_raw(&got, p_and_less, p_and_less, p, p_and_less); /* p - 0 stays p */
    assert_memory_equal(&got, &want, sizeof(got));
}

static void fq_difference_of_products(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned i = 0; i < 20000; i++) {
        struct fq v[4], s, want;
        struct gpu_fq g[4], got;
        for (unsigned k = 0; k < 4; k++) {
            fq_sample(&v[k], &seed, (i >> 2 * k) % 4 ? SAMPLE_EDGES : (i + k) % 6);
            memcpy(&g[k], &v[k], sizeof(g[k]));
        }
        fq_mul(&want, &v[0], &v[1]);
        fq_mul(&s, &v[2], &v[3]);
        fq_sub(&want, &want, &s);
        gpu_fq_mul_sub(&got, &g[0], &g[1], &g[2], &g[3]);
        assert_memory_equal(&got, &want, sizeof(got));
        gpu_fq_mul_sub(&g[2], &g[0], &g[1], &g[2], &g[3]);
        assert_memory_equal(&g[2], &want, sizeof(got));
    }
}

static void fq2_check_pair(const struct fq2 *a, const struct fq2 *b)
{
    struct fq2 want, other;
    struct gpu_fq2 x, y, got;
    gpu_fq2_load(&x, a);
    gpu_fq2_load(&y, b);
    gpu_fq2_mul(&got, &x, &y);
    fq2_mul(&want, a, b);
    assert_memory_equal(&got, &want, sizeof(got));
    gpu_fq2_square(&got, &x);
    fq2_square(&other, a);
    assert_memory_equal(&got, &other, sizeof(got));
    gpu_fq2_mul_sub(&got, &x, &y, &y, &y);
    fq2_square(&other, b);
    fq2_sub(&other, &want, &other);
    assert_memory_equal(&got, &other, sizeof(got));
    gpu_fq2_sub(&got, &x, &y);
    gpu_fq2_neg(&got, &got);
    gpu_fq2_add(&got, &got, &x);
    assert_true(gpu_fq2_equal(&got, &y));
    gpu_fq2_store(&other, &y);
    assert_memory_equal(&other, b, sizeof(other));
    gpu_fq2_mul(&x, &x, &y);
    assert_memory_equal(&x, &want, sizeof(x));
}

static void fq2_matches_c(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned i = 0; i < 20000; i++) {
        struct fq2 a, b;
        fq_sample(&a.c0, &seed, i < 1296 ? i % 6 : SAMPLE_EDGES);
        fq_sample(&a.c1, &seed, i < 1296 ? i / 6 % 6 : SAMPLE_EDGES);
        fq_sample(&b.c0, &seed, i < 1296 ? i / 36 % 6 : SAMPLE_EDGES);
        fq_sample(&b.c1, &seed, i < 1296 ? i / 216 : SAMPLE_EDGES);
        fq2_check_pair(&a, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_host_matches_c),
        cmocka_unit_test(fq_host_matches_c),
        cmocka_unit_test(fr_host_constants_are_right),
        cmocka_unit_test(fq_host_constants_are_right),
        cmocka_unit_test(fr_host_wide_products_are_exact),
        cmocka_unit_test(fq_host_wide_products_are_exact),
        cmocka_unit_test(fr_host_reduction_reaches_its_bound),
        cmocka_unit_test(fq_host_reduction_reaches_its_bound),
        cmocka_unit_test(fr_host_product_reaches_its_bound),
        cmocka_unit_test(fq_host_product_reaches_its_bound),
        cmocka_unit_test(fq_lazy_factors_are_reduced),
        cmocka_unit_test(fq_difference_of_products),
        cmocka_unit_test(fq2_matches_c),
        cmocka_unit_test(g1_host_additions_are_complete),
        cmocka_unit_test(g2_host_additions_are_complete),
        cmocka_unit_test(g1_host_accumulates),
        cmocka_unit_test(g2_host_accumulates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
