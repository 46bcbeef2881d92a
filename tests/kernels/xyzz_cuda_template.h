/*
 * One group's kernels: included by field_cuda_checks.h once for G1 and once for G2 (so no guard).
 * Wants GROUP and COORDINATE (group_template.h's macros are in force); undefines them.
 *
 * Operands are a G and b G for a and b below SIDE: infinity, equal, opposite and other ones.
 */
#ifndef SIDE
#define SIDE 5
#define PAIRS (SIDE * SIDE)
#endif

/* n G, reached by additions, so that zz is not 1 */
static void GROUP_FN(multiple)(GROUP_XYZZ *out, unsigned n)
{
    GROUP_AFFINE g;
    GROUP_FN(point_load)(&g, &CURVE_FN(GROUP_FN(generator)));
    *out = GROUP_FN(xyzz_infinity);
    for (unsigned i = 0; i < n; i++)
        GROUP_FN(xyzz_add_affine)(out, out, &g);
}

static void GROUP_FN(assert_all)(const GROUP_XYZZ *got, const GROUP_XYZZ *want)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        GROUP_AFFINE p, q;
        assert_int_equal(GROUP_FN(xyzz_is_infinity)(&got[i]), GROUP_FN(xyzz_is_infinity)(&want[i]));
        GROUP_FN(xyzz_to_affine)(&p, &got[i]);
        GROUP_FN(xyzz_to_affine)(&q, &want[i]);
        assert_memory_equal(&p, &q, sizeof(p));
    }
}

/* a + repeat * (+-b) by the C */
static void GROUP_FN(want_sums)(GROUP_XYZZ *out, const GROUP_XYZZ *a, const GROUP_XYZZ *b,
                                const struct operands *o)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        GROUP_XYZZ signed_b = b[i];
        if (o->negate)
            GROUP_FN(xyzz_neg)(&signed_b, &b[i]);
        out[i] = a[i];
        for (unsigned k = 0; k < o->repeat; k++)
            GROUP_FN(xyzz_add)(&out[i], &out[i], &signed_b);
    }
}

static void GROUP_FN(check_adds)(const GROUP_XYZZ *a, const GROUP_XYZZ *b, const GROUP_AFFINE *flat,
                                 uint32_t repeat, uint32_t negate)
{
    GROUP_XYZZ got[PAIRS], want[PAIRS];
    struct operands o = {.kernel = "curve_" TEXT(GROUP) "_mixed_adds",
                         .a = a,
                         .a_bytes = PAIRS * sizeof(*a),
                         .b = flat,
                         .b_bytes = PAIRS * sizeof(*flat),
                         .count = PAIRS,
                         .repeat = repeat,
                         .negate = negate};
    GROUP_FN(want_sums)(want, a, b, &o);
    run_kernel(got, sizeof(got), &o);
    GROUP_FN(assert_all)(got, want);
    if (negate)
        return;
    o.kernel = "curve_" TEXT(GROUP) "_full_adds";
    o.b = b;
    o.b_bytes = PAIRS * sizeof(*b);
    run_kernel(got, sizeof(got), &o);
    GROUP_FN(assert_all)(got, want);
}

static void GROUP_FN(sums_are_complete)(void **state)
{
    (void)state;
    GROUP_XYZZ a[PAIRS], b[PAIRS], got[PAIRS], want[PAIRS];
    GROUP_AFFINE flat[PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        GROUP_FN(multiple)(&a[i], i % SIDE);
        GROUP_FN(multiple)(&b[i], i / SIDE);
        GROUP_FN(xyzz_to_affine)(&flat[i], &b[i]);
    }
    GROUP_FN(check_adds)(a, b, flat, 1, 0);
    GROUP_FN(check_adds)(a, b, flat, 3, 1);
    run_kernel(got, sizeof(got),
               &(struct operands){.kernel = "curve_" TEXT(GROUP) "_doubles",
                                  .a = a,
                                  .a_bytes = sizeof(a),
                                  .count = PAIRS,
                                  .repeat = 2});
    for (unsigned i = 0; i < PAIRS; i++) {
        GROUP_FN(xyzz_double)(&want[i], &a[i]);
        GROUP_FN(xyzz_double)(&want[i], &want[i]);
    }
    GROUP_FN(assert_all)(got, want);
}

#undef GROUP
#undef COORDINATE
