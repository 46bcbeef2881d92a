/*
 * One prime field's checks: included by field_checks.h once for Fr and once for Fq (so no guard).
 * Wants FIELD and FIELD_LIMBS; field_template.h's FIELD_FN is in force.
 */

static void FIELD_FN(from_plain)(FIELD_TYPE *out, const uint64_t *plain)
{
    memcpy(out, plain, sizeof(*out));
    FIELD_FN(to_montgomery)(out, out);
}

static void FIELD_FN(assert_plain)(const FIELD_TYPE *got, const uint64_t *want)
{
    FIELD_TYPE plain;
    FIELD_FN(from_montgomery)(&plain, got);
    assert_memory_equal(&plain, want, sizeof(plain));
}

static void FIELD_FN(matches_vectors)(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(FIELD_FN(vectors)); i++) {
        const struct FIELD_FN(vector) *v = &FIELD_FN(vectors)[i];
        FIELD_TYPE a, b, c;
        FIELD_FN(from_plain)(&a, v->a);
        FIELD_FN(from_plain)(&b, v->b);
        FIELD_FN(add)(&c, &a, &b);
        FIELD_FN(assert_plain)(&c, v->sum);
        FIELD_FN(sub)(&c, &a, &b);
        FIELD_FN(assert_plain)(&c, v->difference);
        FIELD_FN(mul)(&c, &a, &b);
        FIELD_FN(assert_plain)(&c, v->product);
        FIELD_FN(inverse)(&c, &a);
        FIELD_FN(assert_plain)(&c, v->inverse);
        FIELD_FN(mul)(&b, &a, &b);
        FIELD_FN(assert_plain)(&b, v->product);
    }
}

static void FIELD_FN(obeys_its_laws)(void **state)
{
    (void)state;
    FIELD_TYPE a, b, c, left, right, t;
    for (unsigned i = 0; i + 2 < COUNT(FIELD_FN(vectors)); i++) {
        FIELD_FN(from_plain)(&a, FIELD_FN(vectors)[i].a);
        FIELD_FN(from_plain)(&b, FIELD_FN(vectors)[i + 1].a);
        FIELD_FN(from_plain)(&c, FIELD_FN(vectors)[i + 2].b);
        FIELD_FN(add)(&left, &a, &b);
        FIELD_FN(mul)(&left, &left, &c);
        FIELD_FN(mul)(&right, &a, &c);
        FIELD_FN(mul)(&t, &b, &c);
        FIELD_FN(add)(&right, &right, &t);
        assert_true(FIELD_FN(equal)(&left, &right));
        FIELD_FN(square)(&left, &a);
        FIELD_FN(mul)(&right, &a, &a);
        assert_true(FIELD_FN(equal)(&left, &right));
        FIELD_FN(double)(&left, &a);
        FIELD_FN(mul)(&left, &left, &FIELD_FN(two_inverse));
        assert_true(FIELD_FN(equal)(&left, &a));
        FIELD_FN(neg)(&left, &a);
        assert_true(FIELD_FN(is_canonical)(left.word));
        FIELD_FN(add)(&left, &left, &a);
        assert_true(FIELD_FN(is_zero)(&left));
        FIELD_FN(mul)(&left, &a, &FIELD_FN(one));
        assert_true(FIELD_FN(equal)(&left, &a));
    }
}

static void FIELD_FN(canonical_is_below_the_modulus)(void **state)
{
    (void)state;
    uint64_t x[FIELD_LIMBS];
    memcpy(x, FIELD_FN(modulus), sizeof(x));
    assert_false(FIELD_FN(is_canonical)(x));
    x[0]--;
    assert_true(FIELD_FN(is_canonical)(x));
    x[0] += 2;
    assert_false(FIELD_FN(is_canonical)(x));
    memset(x, 0xff, sizeof(x));
    assert_false(FIELD_FN(is_canonical)(x));
    memset(x, 0, sizeof(x));
    assert_true(FIELD_FN(is_canonical)(x));
    x[FIELD_LIMBS - 1] = FIELD_FN(modulus)[FIELD_LIMBS - 1] + 1;
    assert_false(FIELD_FN(is_canonical)(x));
}

#undef FIELD
#undef FIELD_LIMBS
