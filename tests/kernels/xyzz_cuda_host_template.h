/*
 * One group's checks of the host model: included by field_cuda_host_checks.h once for G1 and once
 * for G2 (so no guard). Wants GROUP, COORDINATE, GPU_GROUP, GPU_COORDINATE (group_template.h's and
 * xyzz_template_cuda.h's macros are in force); undefines them.
 */

static void GROUP_FN(host_assert_same)(const GPU_XYZZ *got, const GROUP_XYZZ *want)
{
    GROUP_XYZZ plain;
    GROUP_AFFINE p, q;
    GPU_GROUP_FN(xyzz_store)(&plain, got);
    assert_int_equal(GPU_GROUP_FN(xyzz_is_infinity)(got), GROUP_FN(xyzz_is_infinity)(want));
    GROUP_FN(xyzz_to_affine)(&p, &plain);
    GROUP_FN(xyzz_to_affine)(&q, want);
    assert_memory_equal(&p, &q, sizeof(p));
}

/* n G, reached by additions, so that zz is not 1 */
static void GROUP_FN(host_multiple)(GROUP_XYZZ *out, unsigned n)
{
    GROUP_AFFINE g;
    GROUP_FN(point_load)(&g, &CURVE_FN(GROUP_FN(generator)));
    *out = GROUP_FN(xyzz_infinity);
    for (unsigned i = 0; i < n; i++)
        GROUP_FN(xyzz_add_affine)(out, out, &g);
}

/* a G + b G and a G - b G by both additions */
static void GROUP_FN(host_check_sums)(unsigned a, unsigned b)
{
    GROUP_XYZZ p, q, want, negated;
    GROUP_AFFINE affine;
    GPU_AFFINE point;
    GPU_XYZZ got, other;
    GROUP_FN(host_multiple)(&p, a);
    GROUP_FN(host_multiple)(&q, b);
    GROUP_FN(xyzz_to_affine)(&affine, &q);
    GPU_GROUP_FN(affine_load)(&point, &affine);
    GROUP_FN(xyzz_neg)(&negated, &q);
    for (uint32_t negate = 0; negate < 2; negate++) {
        GROUP_FN(xyzz_add)(&want, &p, negate ? &negated : &q);
        GPU_GROUP_FN(xyzz_load)(&got, &p);
        GPU_GROUP_FN(xyzz_add_affine)(&got, &point, negate);
        GROUP_FN(host_assert_same)(&got, &want);
        GPU_GROUP_FN(xyzz_load)(&got, &p);
        GPU_GROUP_FN(xyzz_load)(&other, negate ? &negated : &q);
        GPU_GROUP_FN(xyzz_add)(&got, &other);
        GROUP_FN(host_assert_same)(&got, &want);
    }
}

static void GROUP_FN(host_additions_are_complete)(void **state)
{
    (void)state;
    GROUP_XYZZ p, want;
    GPU_XYZZ got;
    for (unsigned a = 0; a < 6; a++)
        for (unsigned b = 0; b < 6; b++)
            GROUP_FN(host_check_sums)(a, b);
    for (unsigned a = 0; a < 6; a++) {
        GROUP_FN(host_multiple)(&p, a);
        GROUP_FN(xyzz_double)(&want, &p);
        GPU_GROUP_FN(xyzz_load)(&got, &p);
        GPU_GROUP_FN(xyzz_double)(&got);
        GROUP_FN(host_assert_same)(&got, &want);
    }
    GPU_GROUP_FN(xyzz_set_infinity)(&got);
    assert_true(GPU_GROUP_FN(xyzz_is_infinity)(&got));
}

/* a long accumulation, that meets its own value and its opposite now and then */
static void GROUP_FN(host_accumulates)(void **state)
{
    (void)state;
    uint64_t seed = 11;
    GROUP_XYZZ want = GROUP_FN(xyzz_infinity);
    GPU_XYZZ got;
    GPU_GROUP_FN(xyzz_set_infinity)(&got);
    for (unsigned i = 0; i < 1000; i++) {
        GROUP_AFFINE affine;
        GPU_AFFINE point;
        const uint32_t negate = random_next(&seed) & 1;
        GROUP_FN(point_load)
        (&affine, &GROUP_FN(vectors)[random_next(&seed) % COUNT(GROUP_FN(vectors))].point);
        if (i % 7 == 0)
            GROUP_FN(xyzz_to_affine)(&affine, &want);
        GPU_GROUP_FN(affine_load)(&point, &affine);
        GPU_GROUP_FN(xyzz_add_affine)(&got, &point, negate);
        if (negate)
            GROUP_FN(xyzz_sub_affine)(&want, &want, &affine);
        else
            GROUP_FN(xyzz_add_affine)(&want, &want, &affine);
        GROUP_FN(host_assert_same)(&got, &want);
    }
}

#undef GROUP
#undef COORDINATE
#undef GPU_GROUP
#undef GPU_COORDINATE
