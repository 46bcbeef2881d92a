/*
 * Multi-scalar multiplication at the sizes where vectors, chunks and windows change, and the four
 * sums over a witness, in every form that this machine has: each gives the same words.
 */
#include "tests/kernels/msm_mix.h"

/* ---- sizes ---- */

static void size_check(struct side *side, size_t count, uint64_t *state)
{
    struct mix mix = mix_make(side, count);
    struct parallel parallel = threads_make(1 + (unsigned)(count % 3));
    union point want, got;
    for (size_t i = 0; i < count; i++)
        mix_set(side, &mix, i, distinct(i), dense(side, i, state));
    mix_expect(side, &mix, &want);
    assert_int_equal(mix_run(side, &mix, &got, &parallel), 0);
    assert_memory_equal(&got, &want, sizeof(got));
    mix_free(&mix);
}

/* Where `most` is below 4097, so that a slow form takes its share of the time only. */
static void sizes_check(const struct curve *curve, enum group group, size_t most)
{
    struct side side = side_make(curve, group);
    uint64_t state = 1;
    for (size_t count = 0; count <= 9; count++)
        size_check(&side, count, &state);
    for (size_t power = 16; power - 1 <= most; power *= 2)
        for (size_t count = power - 1; count <= power + 1; count++)
            size_check(&side, count, &state);
    free(side.multiple);
}

static void every_form(void (*check)(const struct curve *curve, size_t most))
{
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++)
        for (int form = FORM_PORTABLE; form < FORM_COUNT; form++) {
            const struct curve *curve = curve_in_form(id, (enum cpu_form)form);
            if (curve)
                check(curve, form == FORM_IFMA ? 4097 : 130);
        }
}

static void sizes_check_g1(const struct curve *curve, size_t most)
{
    sizes_check(curve, GROUP_G1, most);
}

static void sizes_check_g2(const struct curve *curve, size_t most)
{
    sizes_check(curve, GROUP_G2, most);
}

static void sizes_g1(void **state)
{
    (void)state;
    every_form(sizes_check_g1);
}

static void sizes_g2(void **state)
{
    (void)state;
    every_form(sizes_check_g2);
}

/* ---- a witness ---- */

/* Points of the four sums: a has some infinities, b1 and b2 many, c none and fewer points. */
struct witness_mix {
    struct mix a, b1, b2, c;
    size_t first_private;
};

static struct scalar witness_value(const struct side *side, size_t i, uint64_t *state)
{
    switch (random_next(state) % 4) {
    case 0:
        return dense(side, i, state);
    case 1:
        return tiny(side, i, state);
    default:
        return (struct scalar){{random_next(state) & 1}};
    }
}

static struct witness_mix witness_make(const struct side *g1, const struct side *g2, size_t count,
                                       size_t first_private)
{
    struct witness_mix w = {mix_make(g1, count), mix_make(g1, count), mix_make(g2, count),
                            mix_make(g1, count - first_private), first_private};
    uint64_t state = count;
    for (size_t i = 0; i < count; i++) {
        struct scalar value = witness_value(g1, i, &state);
        mix_set(g1, &w.a, i, i % 97 ? distinct(i) : 0, value);
        mix_set(g1, &w.b1, i, i % 3 ? 0 : distinct(3 * i), value);
        mix_set(g2, &w.b2, i, i % 3 ? 0 : distinct(3 * i), value);
        if (i >= first_private)
            mix_set(g1, &w.c, i - first_private, opposite(i), value);
    }
    return w;
}

static void witness_run(const struct curve *curve, const struct witness_mix *w,
                        struct proof_sums *out, struct parallel *parallel, int result)
{
    struct witness_points points = {w->a.points, w->b1.points, w->b2.points, w->c.points};
    size_t bytes =
        curve->witness_sums_scratch_bytes(w->a.count, w->first_private, parallel->threads);
    unsigned char *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    assert_non_null(scratch);
    memset(scratch, 0xa5, bytes + 64);
    assert_int_equal(curve->witness_sums(out, &points, w->a.scalars->word, w->a.count,
                                         w->first_private, scratch, parallel),
                     result);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(scratch[bytes + i], 0xa5);
    free(scratch);
}

static void witness_check(const struct curve *curve, const struct side *g1, const struct side *g2,
                          size_t count, size_t first_private)
{
    struct witness_mix w = witness_make(g1, g2, count, first_private);
    union point a, b1, b2, c;
    mix_expect(g1, &w.a, &a);
    mix_expect(g1, &w.b1, &b1);
    mix_expect(g2, &w.b2, &b2);
    mix_expect(g1, &w.c, &c);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct parallel parallel = threads_make(threads);
        struct proof_sums out;
        memset(&out, 0x5a, sizeof(out));
        struct g1 h = out.h;
        witness_run(curve, &w, &out, &parallel, 0);
        assert_memory_equal(&out.a, &a.g1, sizeof(out.a));
        assert_memory_equal(&out.b1, &b1.g1, sizeof(out.b1));
        assert_memory_equal(&out.b2, &b2.g2, sizeof(out.b2));
        assert_memory_equal(&out.c, &c.g1, sizeof(out.c));
        assert_memory_equal(&out.h, &h, sizeof(h));
    }
    mix_free(&w.a);
    mix_free(&w.b1);
    mix_free(&w.b2);
    mix_free(&w.c);
}

static void witness_check_form(const struct curve *curve, size_t most)
{
    static const struct {
        size_t count, first_private;
    } sizes[] = {{1, 1}, {2, 1}, {9, 9}, {100, 30}, {1500, 1}, {2500, 400}};
    struct side g1 = side_make(curve, GROUP_G1), g2 = side_make(curve, GROUP_G2);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (sizes[i].count <= most)
            witness_check(curve, &g1, &g2, sizes[i].count, sizes[i].first_private);
    free(g1.multiple);
    free(g2.multiple);
}

static void witness_sums(void **state)
{
    (void)state;
    every_form(witness_check_form);
}

/* ---- cancelling at the n-th question ---- */

struct counted {
    struct parallel parallel; /* first, so that it is the whole's address */
    unsigned left;
};

static int cancelled_later(struct parallel *self)
{
    struct counted *counted = (struct counted *)self;
    if (counted->left == 0)
        return 1;
    counted->left--;
    return 0;
}

static void witness_is_cancelled(void **state)
{
    (void)state;
    const struct curve *curve = curve_by_id(CURVE_BN254);
    struct side g1 = side_make(curve, GROUP_G1), g2 = side_make(curve, GROUP_G2);
    struct witness_mix w = witness_make(&g1, &g2, 300, 2);
    for (unsigned n = 0; n < 6; n++) {
        struct counted counted = {parallel_serial, n};
        struct proof_sums out;
        counted.parallel.cancelled = cancelled_later;
        witness_run(curve, &w, &out, &counted.parallel, -ECANCELED);
    }
    mix_free(&w.a);
    mix_free(&w.b1);
    mix_free(&w.b2);
    mix_free(&w.c);
    free(g1.multiple);
    free(g2.multiple);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_g1),
        cmocka_unit_test(sizes_g2),
        cmocka_unit_test(witness_sums),
        cmocka_unit_test(witness_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
