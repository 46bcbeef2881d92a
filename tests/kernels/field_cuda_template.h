/*
 * One prime field's kernels: included by field_cuda_checks.h once for Fr and once for Fq (so no
 * guard). Wants FIELD (field_template.h's macros are in force); undefines it.
 */

static void FIELD_FN(fill)(FIELD_TYPE *a, FIELD_TYPE *b, uint64_t seed)
{
    for (unsigned i = 0; i < ELEMENTS; i++) {
        FIELD_FN(sample)(&a[i], &seed, i);
        FIELD_FN(sample)(&b[i], &seed, i * 5 % 60);
    }
}

static void FIELD_FN(products_are_exact)(void **state)
{
    (void)state;
    FIELD_TYPE a[ELEMENTS], b[ELEMENTS], products[ELEMENTS], squares[ELEMENTS], want;
    FIELD_FN(fill)(a, b, 31);
    struct operands o = {.kernel = "field_" TEXT(FIELD) "_products",
                         .a = a,
                         .b = b,
                         .a_bytes = sizeof(a),
                         .b_bytes = sizeof(b),
                         .count = ELEMENTS,
                         .repeat = 3};
    run_kernel(products, sizeof(products), &o);
    o.kernel = "field_" TEXT(FIELD) "_squares";
    run_kernel(squares, sizeof(squares), &o);
    for (unsigned i = 0; i < ELEMENTS; i++) {
        want = a[i];
        for (unsigned k = 0; k < o.repeat; k++)
            FIELD_FN(mul)(&want, &want, &b[i]);
        assert_memory_equal(&products[i], &want, sizeof(want));
        want = a[i];
        for (unsigned k = 0; k < o.repeat; k++)
            FIELD_FN(square)(&want, &want);
        assert_memory_equal(&squares[i], &want, sizeof(want));
    }
}

static void FIELD_FN(sums_are_exact)(void **state)
{
    (void)state;
    FIELD_TYPE a[ELEMENTS], b[ELEMENTS], got[ELEMENTS][FIELD_SUMS], want[FIELD_SUMS];
    FIELD_FN(fill)(a, b, 32);
    run_kernel(got, sizeof(got),
               &(struct operands){.kernel = "field_" TEXT(FIELD) "_sums",
                                  .a = a,
                                  .b = b,
                                  .a_bytes = sizeof(a),
                                  .b_bytes = sizeof(b),
                                  .count = ELEMENTS});
    for (unsigned i = 0; i < ELEMENTS; i++) {
        FIELD_FN(add)(&want[0], &a[i], &b[i]);
        FIELD_FN(sub)(&want[1], &a[i], &b[i]);
        FIELD_FN(double)(&want[2], &a[i]);
        FIELD_FN(neg)(&want[3], &a[i]);
        FIELD_FN(to_montgomery)(&want[4], &a[i]);
        FIELD_FN(from_montgomery)(&want[5], &a[i]);
        assert_memory_equal(got[i], want, sizeof(want));
    }
}

#undef FIELD
