/*
 * One prime field in eight lanes against its portable form: included by vector_checks.h once for Fr
 * and once for Fq (so no guard). Wants FIELD and FIELD_LIMBS.
 */
#define X8_FN(name) FIELD_JOIN(FIELD_JOIN(FIELD, x8), name)
#define X8_TYPE struct FIELD_JOIN(FIELD, x8)
#define CHECK_FN(name) FIELD_JOIN(FIELD, name)
#define X8_LIMBS ((int)(sizeof(X8_TYPE) / sizeof(__m512i)))
#define X8_CAP (FIELD_LIMBS == 6 ? UINT64_C(1) << 35 : FIELD_FN(modulus)[3] >> 60 > 3 ? 35 : 84)
#define X8_LOADED (FIELD_LIMBS == 6 ? UINT64_C(1) << 32 : UINT64_C(16))

/* Eight random canonical elements, with edges among them. */
static void CHECK_FN(draw)(FIELD_TYPE out[8], uint64_t *state)
{
    for (int i = 0; i < 8; i++) {
        uint64_t kind = random_next(state) % 32;
        for (int w = 0; w < FIELD_LIMBS; w++)
            out[i].word[w] = random_next(state);
        out[i].word[FIELD_LIMBS - 1] %= FIELD_FN(modulus)[FIELD_LIMBS - 1];
        if (kind < 3) {
            memset(&out[i], 0, sizeof(out[i]));
            out[i].word[0] = kind;
        } else if (kind < 5) {
            memcpy(&out[i], FIELD_FN(modulus), sizeof(out[i]));
            out[i].word[0] -= kind - 2;
        }
    }
}

/* x += k p, k below 2^52 and the sum within R' */
static void CHECK_FN(raise)(X8_TYPE *x, uint64_t k)
{
    const __m512i factor = _mm512_set1_epi64((long long)k);
    for (int j = 0; j < X8_LIMBS; j++) {
        __m512i limb = _mm512_set1_epi64((long long)FIELD_FN(modulus_52)[j]);
        x->limb[j] = _mm512_madd52lo_epu64(x->limb[j], factor, limb);
        if (j + 1 < X8_LIMBS)
            x->limb[j + 1] = _mm512_madd52hi_epu64(x->limb[j + 1], factor, limb);
    }
    X8_FN(normalize)(x);
}

/* The canonical vector form of the elements plus k p: as near to (k + 1) p as they are to p. */
static void CHECK_FN(lazy)(X8_TYPE *out, const FIELD_TYPE value[8], uint64_t k)
{
    X8_FN(load_packed)(out, value[0].word);
    X8_FN(canonical)(out, out);
    CHECK_FN(raise)(out, k);
}

/* Limbs below 2^52 and the number below k p, in all lanes. */
static void CHECK_FN(assert_below)(const X8_TYPE *x, uint64_t k)
{
    uint64_t limb[X8_LIMBS][8], limit[X8_LIMBS][8];
    X8_TYPE bound;
    X8_FN(zero)(&bound);
    CHECK_FN(raise)(&bound, k);
    memcpy(limb, x, sizeof(limb));
    memcpy(limit, &bound, sizeof(limit));
    for (int lane = 0; lane < 8; lane++) {
        uint64_t borrow = 0;
        for (int j = 0; j < X8_LIMBS; j++) {
            assert_true(limb[j][lane] >> 52 == 0);
            borrow = (limb[j][lane] - limit[j][lane] - borrow) >> 63;
        }
        assert_int_equal(borrow, 1);
    }
}

static void CHECK_FN(assert_is)(const X8_TYPE *got, const FIELD_TYPE want[8])
{
    FIELD_TYPE out[8];
    X8_FN(store_packed)(out[0].word, got);
    assert_memory_equal(out, want, sizeof(out));
}

/* mul and square with operands raised by ka p and kb p */
static void CHECK_FN(check_products)(const FIELD_TYPE a[8], const FIELD_TYPE b[8], uint64_t ka,
                                     uint64_t kb)
{
    X8_TYPE x, y, out;
    FIELD_TYPE want[8], twice[8];
    CHECK_FN(lazy)(&x, a, ka);
    CHECK_FN(lazy)(&y, b, kb);
    for (int i = 0; i < 8; i++) {
        FIELD_FN(mul)(&want[i], &a[i], &b[i]);
        FIELD_FN(double)(&twice[i], &want[i]);
    }
    X8_FN(mul)(&out, &x, &y);
    CHECK_FN(assert_below)(&out, 1 + ((ka + 1) * (kb + 1) + X8_CAP - 1) / X8_CAP);
    CHECK_FN(assert_is)(&out, want);
    X8_FN(mul)(&out, &y, &x);
    CHECK_FN(assert_is)(&out, want);
    X8_FN(mul_add)(&out, &x, &y, &y, &x);
    CHECK_FN(assert_below)(&out, 1 + (2 * (ka + 1) * (kb + 1) + X8_CAP - 1) / X8_CAP);
    CHECK_FN(assert_is)(&out, twice);
    if (ka + 1 > 2 * X8_CAP / (ka + 1))
        return;
    X8_FN(square)(&out, &x);
    CHECK_FN(assert_below)(&out, 1 + ((ka + 1) * (ka + 1) + X8_CAP - 1) / X8_CAP);
    for (int i = 0; i < 8; i++)
        FIELD_FN(square)(&want[i], &a[i]);
    CHECK_FN(assert_is)(&out, want);
}

static void CHECK_FN(check_sums)(const FIELD_TYPE a[8], const FIELD_TYPE b[8], uint64_t ka)
{
    X8_TYPE x, y, out;
    FIELD_TYPE sum[8], difference[8], minus[8];
    for (int i = 0; i < 8; i++) {
        FIELD_FN(add)(&sum[i], &a[i], &b[i]);
        FIELD_FN(sub)(&difference[i], &a[i], &b[i]);
        FIELD_FN(neg)(&minus[i], &b[i]);
    }
    CHECK_FN(lazy)(&x, a, ka);
    CHECK_FN(lazy)(&y, b, 3);
    X8_FN(sub)(&out, &x, &y);
    CHECK_FN(assert_below)(&out, ka + 5);
    CHECK_FN(assert_is)(&out, difference);
    X8_FN(add)(&out, &x, &y);
    CHECK_FN(assert_below)(&out, ka + 5);
    CHECK_FN(assert_is)(&out, sum);
    X8_FN(neg)(&out, &y);
    CHECK_FN(assert_is)(&out, minus);
    CHECK_FN(lazy)(&y, b, X8_LOADED - 1);
    X8_FN(sub_loaded)(&out, &x, &y);
    CHECK_FN(assert_below)(&out, ka + 1 + X8_LOADED);
    CHECK_FN(assert_is)(&out, difference);
    X8_FN(neg_loaded)(&out, &y);
    CHECK_FN(assert_is)(&out, minus);
}

/* reduce, canonical and the masks of a + k p */
static void CHECK_FN(check_reduction)(const FIELD_TYPE a[8], uint64_t k)
{
    X8_TYPE x, canonical, out;
    unsigned zeros = 0;
    CHECK_FN(lazy)(&canonical, a, 0);
    CHECK_FN(lazy)(&x, a, k);
    for (int i = 0; i < 8; i++)
        zeros |= (unsigned)FIELD_FN(is_zero)(&a[i]) << i;
    CHECK_FN(assert_below)(&canonical, 1);
    X8_FN(reduce)(&out, &x);
    CHECK_FN(assert_below)(&out, 2);
    assert_int_equal(X8_FN(is_zero_mask_below_2)(&out), zeros);
    X8_FN(reduce_once)(&out, &out);
    assert_memory_equal(&out, &canonical, sizeof(out));
    X8_FN(canonical)(&out, &x);
    assert_memory_equal(&out, &canonical, sizeof(out));
    assert_int_equal(X8_FN(is_zero_mask)(&x), zeros);
    assert_int_equal(X8_FN(equal_mask)(&x, &canonical), 0xff);
    X8_FN(add)(&out, &canonical, &canonical);
    assert_int_equal(X8_FN(equal_mask)(&x, &out), zeros);
}

static void CHECK_FN(check_memory)(const FIELD_TYPE a[8])
{
    const void *from[8];
    void *to[8];
    FIELD_TYPE out[8], plain[8], copy[8];
    X8_TYPE x, y;
    for (int i = 0; i < 8; i++) {
        from[i] = &a[7 - i];
        to[i] = &out[7 - i];
        FIELD_FN(from_montgomery)(&plain[i], &a[i]);
    }
    X8_FN(load)(&x, from);
    CHECK_FN(assert_below)(&x, X8_LOADED);
    X8_FN(store)(to, &x);
    assert_memory_equal(out, a, sizeof(out));
    X8_FN(load_packed)(&x, a[0].word);
    X8_FN(store_plain_packed)(out[0].word, &x);
    assert_memory_equal(out, plain, sizeof(out));
    X8_FN(load_plain_packed)(&y, plain[0].word);
    X8_FN(to_montgomery)(&y, &y);
    assert_int_equal(X8_FN(equal_mask)(&x, &y), 0xff);
    X8_FN(broadcast)(&y, &a[3]);
    for (int i = 0; i < 8; i++)
        copy[i] = a[3];
    CHECK_FN(assert_is)(&y, copy);
    X8_FN(select)(&y, 0x35, &y, &x);
    for (int i = 0; i < 8; i++)
        copy[i] = 0x35 >> i & 1 ? a[i] : a[3];
    CHECK_FN(assert_is)(&y, copy);
}

/* Where bounds are stated, operands at them; the middle by luck. */
static void CHECK_FN(holds_at_its_bounds)(void **state)
{
    (void)state;
    uint64_t random = 11;
    const uint64_t cap = X8_CAP, root = FIELD_LIMBS == 6 ? 1 << 17 : cap == 84 ? 9 : 5;
    for (int i = 0; i < 2000; i++) {
        FIELD_TYPE a[8], b[8];
        uint64_t k = random_next(&random) % cap;
        CHECK_FN(draw)(a, &random);
        CHECK_FN(draw)(b, &random);
        CHECK_FN(check_products)(a, b, 0, 0);
        CHECK_FN(check_products)(a, b, cap - 1, 0);
        CHECK_FN(check_products)(a, b, root - 1, root - 1);
        CHECK_FN(check_products)(a, b, X8_LOADED - 1, cap / X8_LOADED - 1);
        if (FIELD_LIMBS == 4)
            CHECK_FN(check_products)(a, b, 15, 15);
        CHECK_FN(check_sums)(a, b, 0);
        CHECK_FN(check_sums)(a, b, cap - 1 - X8_LOADED);
        CHECK_FN(check_reduction)(a, 0);
        CHECK_FN(check_reduction)(a, 1);
        CHECK_FN(check_reduction)(a, k);
        CHECK_FN(check_reduction)(a, cap - 1);
        CHECK_FN(check_memory)(a);
    }
}

/* The largest number that limbs hold: R' - 1. */
static void CHECK_FN(reduces_anything)(void **state)
{
    (void)state;
    X8_TYPE x, out, one;
    for (int j = 0; j < X8_LIMBS; j++)
        x.limb[j] = _mm512_set1_epi64(VECTOR_MASK52);
    X8_FN(canonical)(&out, &x);
    CHECK_FN(assert_below)(&out, 1);
    X8_FN(zero)(&one);
    one.limb[0] = _mm512_set1_epi64(1);
    X8_FN(add)(&out, &out, &one);
    X8_FN(broadcast_limbs)(&x, FIELD_FN(vector_one_52));
    assert_int_equal(X8_FN(equal_mask)(&out, &x), 0xff);
}

/* 10^6 random elements */
static void CHECK_FN(agrees_on_many)(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 1000000 / 8; i++) {
        FIELD_TYPE a[8], b[8], want[8];
        X8_TYPE x, y, out;
        CHECK_FN(draw)(a, &random);
        CHECK_FN(draw)(b, &random);
        X8_FN(load_packed)(&x, a[0].word);
        X8_FN(load_packed)(&y, b[0].word);
        X8_FN(reduce)(&y, &y);
        X8_FN(sub_loaded)(&out, &y, &x);
        X8_FN(mul)(&out, &out, &y);
        for (int lane = 0; lane < 8; lane++) {
            FIELD_FN(sub)(&want[lane], &b[lane], &a[lane]);
            FIELD_FN(mul)(&want[lane], &want[lane], &b[lane]);
        }
        CHECK_FN(assert_is)(&out, want);
    }
}

#undef X8_FN
#undef X8_TYPE
#undef X8_LIMBS
#undef X8_CAP
#undef X8_LOADED
#undef CHECK_FN
#undef FIELD
#undef FIELD_LIMBS
