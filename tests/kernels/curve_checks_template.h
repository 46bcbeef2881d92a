/*
 * One group's checks: included by curve_checks.h once for G1 and once for G2 (so no guard).
 * Wants GROUP, COORDINATE, GROUP_ID; group_template.h's macros are in force.
 */
#define TABLE_FN(name) CURVE_FN(GROUP_FN(name))

static void GROUP_FN(multiples_match_vectors)(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(GROUP_FN(vectors)); i++) {
        GROUP_POINT p;
        TABLE_FN(multiply)(&p, &TABLE_FN(generator), GROUP_FN(vectors)[i].scalar);
        assert_memory_equal(&p, &GROUP_FN(vectors)[i].point, sizeof(p));
    }
}

/* 2G and 3G as Python has them, in XYZZ with zz != 1: G + 2G + ... reached the long way. */
static void GROUP_FN(multiple)(GROUP_XYZZ *out, unsigned n)
{
    GROUP_AFFINE g;
    GROUP_FN(point_load)(&g, &TABLE_FN(generator));
    *out = GROUP_FN(xyzz_infinity);
    for (unsigned i = 0; i < n; i++)
        GROUP_FN(xyzz_add_affine)(out, out, &g);
}

static void GROUP_FN(assert_same)(const GROUP_XYZZ *a, const GROUP_XYZZ *b)
{
    GROUP_AFFINE p, q;
    GROUP_FN(xyzz_to_affine)(&p, a);
    GROUP_FN(xyzz_to_affine)(&q, b);
    assert_true(GROUP_FN(affine_equal)(&p, &q));
    assert_int_equal(GROUP_FN(affine_is_infinity)(&p), GROUP_FN(xyzz_is_infinity)(a));
}

/* a G + b G by every function, for sums that meet infinity, equal and opposite operands */
static void GROUP_FN(check_sum)(unsigned a, unsigned b)
{
    GROUP_XYZZ p, q, want, got;
    GROUP_AFFINE affine;
    GROUP_FN(multiple)(&p, a);
    GROUP_FN(multiple)(&q, b);
    GROUP_FN(multiple)(&want, a + b);
    GROUP_FN(xyzz_to_affine)(&affine, &q);
    GROUP_FN(xyzz_add)(&got, &p, &q);
    GROUP_FN(assert_same)(&got, &want);
    GROUP_FN(xyzz_add_affine)(&got, &p, &affine);
    GROUP_FN(assert_same)(&got, &want);
    GROUP_FN(xyzz_sub_affine)(&got, &want, &affine);
    GROUP_FN(assert_same)(&got, &p);
    GROUP_FN(xyzz_neg)(&got, &q);
    GROUP_FN(xyzz_add)(&got, &got, &want);
    GROUP_FN(assert_same)(&got, &p);
    GROUP_FN(xyzz_sub_affine)(&got, &q, &affine);
    assert_true(GROUP_FN(xyzz_is_infinity)(&got));
    GROUP_FN(xyzz_neg)(&got, &q);
    GROUP_FN(xyzz_add)(&got, &got, &q);
    assert_true(GROUP_FN(xyzz_is_infinity)(&got));
    GROUP_FN(xyzz_add)(&q, &p, &q); /* out is an operand */
    GROUP_FN(assert_same)(&q, &want);
}

static void GROUP_FN(additions_are_complete)(void **state)
{
    (void)state;
    GROUP_XYZZ p, want, got;
    GROUP_AFFINE affine;
    for (unsigned a = 0; a < 5; a++)
        for (unsigned b = 0; b < 5; b++)
            GROUP_FN(check_sum)(a, b);
    for (unsigned a = 0; a < 5; a++) {
        GROUP_FN(multiple)(&p, a);
        GROUP_FN(multiple)(&want, 2 * a);
        GROUP_FN(xyzz_double)(&got, &p);
        GROUP_FN(assert_same)(&got, &want);
        GROUP_FN(xyzz_to_affine)(&affine, &p);
        GROUP_FN(xyzz_double_affine)(&got, &affine);
        GROUP_FN(assert_same)(&got, &want);
        GROUP_FN(xyzz_double)(&p, &p);
        GROUP_FN(assert_same)(&p, &want);
    }
}

static void GROUP_FN(order_is_r)(void **state)
{
    (void)state;
    const GROUP_POINT infinity = {{0}};
    GROUP_POINT p, q;
    uint64_t scalar[FR_LIMBS];
    assert_true(TABLE_FN(in_subgroup)(&TABLE_FN(generator)));
    memcpy(scalar, fr_modulus, sizeof(scalar));
    TABLE_FN(multiply)(&p, &TABLE_FN(generator), scalar);
    assert_memory_equal(&p, &infinity, sizeof(p));
    scalar[0]--;
    TABLE_FN(multiply)(&p, &TABLE_FN(generator), scalar);
    TABLE_FN(add)(&q, &p, &TABLE_FN(generator));
    assert_memory_equal(&q, &infinity, sizeof(q));
    TABLE_FN(add)(&q, &p, &q);
    assert_memory_equal(&q, &p, sizeof(q));
}

static void GROUP_FN(bad_points_are_named)(void **state)
{
    (void)state;
    const size_t words = sizeof(GROUP_AFFINE) / 8;
    GROUP_POINT p = {{0}};
    assert_int_equal(TABLE_FN(check)(&p), POINT_OK);
    p = TABLE_FN(generator);
    assert_int_equal(TABLE_FN(check)(&p), POINT_OK);
    for (size_t i = 0; i < words; i++) {
        p = TABLE_FN(generator);
        p.word[i] ^= 1;
        assert_int_not_equal(TABLE_FN(check)(&p), POINT_OK);
    }
    for (size_t c = 0; c < words; c += FQ_LIMBS) { /* x + q is x, but not canonical */
        unsigned __int128 carry = 0;
        p = TABLE_FN(generator);
        for (int i = 0; i < FQ_LIMBS; i++) {
            carry += (unsigned __int128)p.word[c + i] + fq_modulus[i];
            p.word[c + i] = (uint64_t)carry;
            carry >>= 64;
        }
        assert_int_equal(TABLE_FN(check)(&p), POINT_NOT_CANONICAL);
    }
    p = TABLE_FN(generator);
    memset(p.word, 0, sizeof(COORD));
    assert_int_equal(TABLE_FN(check)(&p), POINT_NOT_ON_CURVE);
}

/* `count` points of the subgroup, some of them infinity and repeated, packed. Free it. */
static unsigned char *GROUP_FN(insiders)(size_t count)
{
    unsigned char *points = calloc(count + 1, sizeof(GROUP_AFFINE));
    assert_non_null(points);
    for (size_t i = 0; i < count; i++)
        if (i % 5)
            memcpy(points + i * sizeof(GROUP_AFFINE),
                   GROUP_FN(vectors)[i % COUNT(GROUP_FN(vectors))].point.word,
                   sizeof(GROUP_AFFINE));
    return points;
}

static int GROUP_FN(all_inside)(const void *points, size_t count, unsigned threads, uint8_t seed)
{
    struct parallel parallel = parallel_serial;
    uint8_t seeds[32];
    parallel.threads = threads;
    for (int i = 0; i < 32; i++)
        seeds[i] = (uint8_t)(seed + 7 * i);
    const size_t bytes = CURVE_FN(subgroup_scratch_bytes)(GROUP_ID, count, threads);
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(scratch);
    const int inside =
        CURVE_FN(points_in_subgroup)(GROUP_ID, points, count, seeds, scratch, &parallel);
    free(scratch);
    return inside;
}

static void GROUP_FN(insiders_pass)(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 9, 300, 33000};
    for (unsigned i = 0; i < COUNT(counts); i++) {
        unsigned char *points = GROUP_FN(insiders)(counts[i]);
        assert_true(GROUP_FN(all_inside)(points, counts[i], 1 + 11 * (i % 2), (uint8_t)i));
        free(points);
    }
}

static void GROUP_FN(assert_outsider_is_caught_among)(const GROUP_POINT *outsider, size_t count,
                                                      size_t place)
{
    unsigned char *points = GROUP_FN(insiders)(count);
    memcpy(points + place * sizeof(GROUP_AFFINE), outsider->word, sizeof(GROUP_AFFINE));
    assert_false(GROUP_FN(all_inside)(points, count, place % 2 ? 12 : 1, (uint8_t)place));
    free(points);
}

/* One wrong point, alone and among others. (BN254's G1 has none.) */
__attribute__((unused)) static void
GROUP_FN(assert_outsiders_are_caught)(const GROUP_POINT *outsiders, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(TABLE_FN(check)(&outsiders[i]), POINT_OK);
        assert_false(TABLE_FN(in_subgroup)(&outsiders[i]));
        GROUP_FN(assert_outsider_is_caught_among)(&outsiders[i], 1, 0);
        GROUP_FN(assert_outsider_is_caught_among)(&outsiders[i], 2, 1);
        GROUP_FN(assert_outsider_is_caught_among)(&outsiders[i], 300, 299 - i);
    }
    GROUP_FN(assert_outsider_is_caught_among)(&outsiders[count - 1], 33000, 32999);
}

#undef GROUP
#undef COORDINATE
#undef GROUP_ID
#undef TABLE_FN
