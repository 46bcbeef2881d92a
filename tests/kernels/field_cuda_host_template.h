/*
 * One prime field's checks of the host model: included by field_cuda_host_checks.h once for Fr and
 * once for Fq (so no guard). Wants FIELD, FIELD_LIMBS, GPU_FIELD, GPU_WORDS (field_template.h's and
 * field_template_cuda.h's macros are in force); undefines them.
 */

static void FIELD_FN(host_check_pair)(const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    GPU_ELEMENT x, y, got;
    FIELD_TYPE want;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    GPU_FIELD_FN(add)(&got, &x, &y);
    FIELD_FN(add)(&want, a, b);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(sub)(&got, &x, &y);
    FIELD_FN(sub)(&want, a, b);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(mul)(&got, &x, &y);
    FIELD_FN(mul)(&want, a, b);
    assert_memory_equal(&got, &want, sizeof(want));
    assert_int_equal(GPU_FIELD_FN(equal)(&x, &y), FIELD_FN(equal)(a, b));
    GPU_FIELD_FN(mul)(&y, &x, &y); /* out is an operand */
    assert_memory_equal(&y, &want, sizeof(want));
}

static void FIELD_FN(host_check_one)(const FIELD_TYPE *a)
{
    GPU_ELEMENT x, got;
    FIELD_TYPE want;
    memcpy(&x, a, sizeof(x));
    GPU_FIELD_FN(square)(&got, &x);
    FIELD_FN(square)(&want, a);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(neg)(&got, &x);
    FIELD_FN(neg)(&want, a);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(double)(&got, &x);
    FIELD_FN(double)(&want, a);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(to_montgomery)(&got, &x);
    FIELD_FN(to_montgomery)(&want, a);
    assert_memory_equal(&got, &want, sizeof(want));
    GPU_FIELD_FN(from_montgomery)(&got, &x);
    FIELD_FN(from_montgomery)(&want, a);
    assert_memory_equal(&got, &want, sizeof(want));
    assert_int_equal(GPU_FIELD_FN(is_zero)(&x), FIELD_FN(is_zero)(a));
    GPU_FIELD_FN(square)(&x, &x);
    FIELD_FN(square)(&want, a);
    assert_memory_equal(&x, &want, sizeof(want));
}

static void FIELD_FN(host_matches_c)(void **state)
{
    (void)state;
    uint64_t seed = FIELD_LIMBS;
    FIELD_TYPE a, b;
    for (unsigned i = 0; i < SAMPLE_EDGES; i++)
        for (unsigned j = 0; j < SAMPLE_EDGES; j++) {
            FIELD_FN(sample)(&a, &seed, i);
            FIELD_FN(sample)(&b, &seed, j);
            FIELD_FN(host_check_pair)(&a, &b);
            FIELD_FN(host_check_one)(&a);
        }
    for (unsigned i = 0; i < HOST_RANDOM; i++) {
        FIELD_FN(sample)(&a, &seed, SAMPLE_EDGES);
        FIELD_FN(sample)(&b, &seed, SAMPLE_EDGES);
        FIELD_FN(host_check_pair)(&a, &b);
        if (i % 4 == 0)
            FIELD_FN(host_check_one)(&a);
    }
}

static void FIELD_FN(host_constants_are_right)(void **state)
{
    (void)state;
    const FIELD_TYPE zero = {{0}};
    GPU_ELEMENT got;
    GPU_FIELD_FN(set_one)(&got);
    assert_memory_equal(&got, &FIELD_FN(one), sizeof(got));
    GPU_FIELD_FN(set_zero)(&got);
    assert_memory_equal(&got, &zero, sizeof(got));
    memset(&got, 0xff, sizeof(got));
    GPU_FIELD_FN(load)(&got, &FIELD_FN(r_squared));
    assert_memory_equal(&got, &FIELD_FN(r_squared), sizeof(got));
}

/* 2 N words of any content, the largest too: the products know no bound */
static void FIELD_FN(host_wide_products_are_exact)(void **state)
{
    (void)state;
    uint64_t seed = 3, want[2 * FIELD_LIMBS], a[FIELD_LIMBS], b[FIELD_LIMBS];
    uint32_t x[GPU_WORDS], y[GPU_WORDS], got[2 * GPU_WORDS];
    for (unsigned i = 0; i < 4096; i++) {
        sample_words(a, FIELD_LIMBS, &seed);
        sample_words(b, FIELD_LIMBS, &seed);
        if (i == 0)
            memset(a, 0xff, sizeof(a));
        if (i < 2)
            memset(b, 0xff, sizeof(b));
        memcpy(x, a, sizeof(x));
        memcpy(y, b, sizeof(y));
        GPU_FIELD_FN(wide_mul)(got, x, y);
        host_multiply(want, a, b, FIELD_LIMBS);
        assert_memory_equal(got, want, sizeof(want));
        GPU_FIELD_FN(wide_square)(got, y);
        host_multiply(want, b, b, FIELD_LIMBS);
        assert_memory_equal(got, want, sizeof(want));
    }
}

/* t / R where t reaches its bound p R, and just below: 0 and -1 / R = -(1 out of Montgomery form)
 */
static void FIELD_FN(host_reduction_reaches_its_bound)(void **state)
{
    (void)state;
    const FIELD_TYPE zero = {{0}}, one = {{1}};
    uint32_t t[2 * GPU_WORDS] = {0};
    GPU_ELEMENT got;
    FIELD_TYPE want;
    memcpy(t + GPU_WORDS, FIELD_FN(modulus), sizeof(got));
    GPU_FIELD_FN(wide_reduce)(&got, t);
    assert_memory_equal(&got, &zero, sizeof(got));
    memset(t, 0xff, sizeof(got));
    t[GPU_WORDS]--; /* p is odd */
    GPU_FIELD_FN(wide_reduce)(&got, t);
    FIELD_FN(from_montgomery)(&want, &one);
    FIELD_FN(neg)(&want, &want);
    assert_memory_equal(&got, &want, sizeof(got));
}

/* a = R - p, the largest left factor, by the largest that a b <= p R allows: p, then p - 1 */
static void FIELD_FN(host_product_reaches_its_bound)(void **state)
{
    (void)state;
    const FIELD_TYPE one = {{1}}, zero = {{0}};
    FIELD_TYPE a, b, want;
    GPU_ELEMENT got;
    uint32_t x[GPU_WORDS], y[GPU_WORDS];
    host_complement(a.word, FIELD_FN(modulus), FIELD_LIMBS);
    memcpy(x, &a, sizeof(x));
    memcpy(y, FIELD_FN(modulus), sizeof(y));
    GPU_FIELD_FN(mul_raw)(&got, x, y);
    assert_memory_equal(&got, &zero, sizeof(got));
    FIELD_FN(neg)(&b, &one);
    memcpy(y, &b, sizeof(y));
    GPU_FIELD_FN(mul_raw)(&got, x, y);
    while (!FIELD_FN(is_canonical)(a.word))
        host_subtract(a.word, FIELD_FN(modulus), FIELD_LIMBS);
    FIELD_FN(mul)(&want, &a, &b);
    assert_memory_equal(&got, &want, sizeof(got));
}

#undef FIELD
#undef FIELD_LIMBS
#undef GPU_FIELD
#undef GPU_WORDS
