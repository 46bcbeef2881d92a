/*
 * Multi-scalar multiplication by the kernels that nvcc made, run by the PTX interpreter: the mixes
 * of scalars and points that break such code, sorts shared by several sums, small plans, and plans
 * for counts that no test runs.
 */
#define MIX_COUNT_MAX 1000
#include "tests/kernels/msm_mix.h"

#include "kernels/msm/msm_cuda.h"
#include "kernels/msm/msm_plan_cuda.c" /* for plan_shape */
#include "tests/softcuda/soft_queue.h"

enum { MANY = 132 }; /* multiprocessors */
#define PLENTY ((size_t)1 << 40)

struct rig {
    struct soft_queue *soft;
    struct side side;
    struct msm_cuda_plan plan;
    gpu_pointer scratch, scalars;
};

/* The curve's name as modules have it. */
static const char *module_curve(const struct curve *curve)
{
    return curve->id == CURVE_BN254 ? "bn254" : "bls12381";
}

static struct rig rig_make(uint32_t curve, enum group group, uint64_t seed)
{
    struct rig rig = {.side = side_make(curve_by_id(curve), group)};
    rig.soft = soft_queue_open(module_curve(rig.side.curve), seed);
    rig.soft->queue.multiprocessors = 1;
    return rig;
}

static void rig_close(struct rig *rig)
{
    soft_queue_close(rig->soft);
    free(rig->side.multiple);
}

static gpu_pointer rig_upload(struct rig *rig, const void *from, size_t bytes)
{
    gpu_pointer at =
        soft_queue_allocate(rig->soft, bytes + 16); /* of nothing there is a buffer too */
    if (bytes > 0)
        soft_queue_write(rig->soft, at, from, bytes);
    return at;
}

static void rig_plan(struct rig *rig, const struct mix *mix, size_t scratch_most)
{
    assert_int_equal(msm_cuda_plan_make(&rig->plan, rig->side.curve, mix->count, &rig->soft->queue,
                                        scratch_most),
                     0);
    assert_true(rig->plan.scratch_bytes <= scratch_most);
}

static void rig_sort(struct rig *rig, const struct mix *mix)
{
    rig->scratch = soft_queue_allocate(rig->soft, rig->plan.scratch_bytes);
    rig->scalars = rig_upload(rig, mix->scalars, mix->count * sizeof(struct scalar));
    assert_int_equal(msm_cuda_sort(&rig->soft->queue, &rig->plan, rig->scalars, rig->scratch), 0);
}

static void rig_free(struct rig *rig)
{
    soft_queue_free(rig->soft, rig->scratch);
    soft_queue_free(rig->soft, rig->scalars);
}

/* Runs a sum over the scalars that lie sorted, from `first` on, and reads the windows' sums. */
static void rig_sum(struct rig *rig, const struct side *side, const struct mix *mix, size_t first,
                    void *result)
{
    size_t bytes = msm_cuda_result_bytes(&rig->plan, side->group);
    size_t points = first < mix->count ? mix->count - first : 0;
    gpu_pointer at = soft_queue_allocate(rig->soft, bytes);
    gpu_pointer key = rig_upload(rig, mix->points + (mix->count - points) * side->point_bytes,
                                 points * side->point_bytes);
    assert_int_equal(
        msm_cuda_sum(&rig->soft->queue, &rig->plan, side->group, key, first, rig->scratch, at), 0);
    soft_queue_read(rig->soft, result, at, bytes);
    soft_queue_free(rig->soft, at);
    soft_queue_free(rig->soft, key);
}

static void rig_check(struct rig *rig, const struct side *side, const struct mix *mix, size_t first)
{
    size_t skipped = first < mix->count ? first : mix->count;
    struct mix rest = {mix->count - skipped, mix->points + skipped * side->point_bytes,
                       mix->factors + skipped, mix->scalars + skipped};
    union point want, got, cpu;
    struct parallel parallel = threads_make(1);
    void *result = malloc(rig->plan.result_bytes);
    assert_non_null(result);
    rig_sum(rig, side, mix, first, result);
    memset(&got, 0, sizeof(got));
    assert_int_equal(msm_cuda_finish(side->curve, &rig->plan, side->group, result, &got), 0);
    mix_expect(side, &rest, &want);
    assert_memory_equal(&got, &want, sizeof(got));
    assert_int_equal(mix_run(side, &rest, &cpu, &parallel), 0);
    assert_memory_equal(&got, &cpu, sizeof(got));
    free(result);
}

static void mix_fill(const struct side *side, struct mix *mix, unsigned factors,
                     struct scalar (*scalars)(const struct side *, size_t, uint64_t *))
{
    uint64_t state = mix->count;
    for (size_t i = 0; i < mix->count; i++)
        mix_set(side, mix, i, factor_kinds[factors](i), scalars(side, i, &state));
}

/* The whole of it for one mix. */
static void mix_check(struct rig *rig, const struct mix *mix, size_t first)
{
    rig_plan(rig, mix, PLENTY);
    rig_sort(rig, mix);
    rig_check(rig, &rig->side, mix, first);
    rig_free(rig);
}

/* A witness of bits: nine of ten are 0 or 1, a few are short, fewer still are of full length. */
static struct scalar skewed(const struct side *side, size_t i, uint64_t *state)
{
    if (i % 40 == 13)
        return scalar_random(side->curve, state);
    if (i % 10 == 7)
        return (struct scalar){{random_next(state) & 0xff}};
    return i % 41 == 5 ? minus_one(side) : (struct scalar){{i % 3 == 0}};
}

static struct scalar all_the_same(const struct side *side, size_t i, uint64_t *state)
{
    (void)i, (void)state;
    uint64_t same = 7;
    return scalar_random(side->curve, &same);
}

static void kinds_check(struct rig *rig, size_t count)
{
    struct mix mix = mix_make(&rig->side, count);
    for (unsigned f = 0; f < sizeof(factor_kinds) / sizeof(*factor_kinds); f++) {
        for (size_t s = 0; s < sizeof(scalar_kinds) / sizeof(*scalar_kinds); s++) {
            mix_fill(&rig->side, &mix, f, scalar_kinds[s].make);
            mix_check(rig, &mix, 0);
        }
        mix_fill(&rig->side, &mix, f, all_the_same);
        mix_check(rig, &mix, 0);
    }
    mix_free(&mix);
}

static void counts_check(struct rig *rig, size_t most)
{
    static const size_t counts[] = {0, 1, 2, 7, 8, 9, 31, 33, 100, 257};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts) && counts[i] <= most; i++) {
        struct mix mix = mix_make(&rig->side, counts[i]);
        mix_fill(&rig->side, &mix, i % 2 ? 3 : 0, skewed);
        mix_check(rig, &mix, 0);
        mix_free(&mix);
    }
}

/* Few windows' digits: many entries in few buckets, so that runs go over many slices. */
static void slices_check(struct rig *rig, size_t count)
{
    static const uint32_t slices[] = {1, 2, 3, 40};
    struct mix mix = mix_make(&rig->side, count);
    mix_fill(&rig->side, &mix, 0, tiny);
    for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++) {
        rig_plan(rig, &mix, PLENTY);
        if (slices[i] < rig->plan.slices)
            rig->plan.slices = slices[i];
        rig_sort(rig, &mix);
        rig_check(rig, &rig->side, &mix, 0);
        rig_free(rig);
    }
    mix_free(&mix);
}

static void bn254_g1(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G1, 1);
    kinds_check(&rig, 9);
    counts_check(&rig, 257);
    slices_check(&rig, 100);
    rig_close(&rig);
}

static void bn254_g2(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G2, 2);
    kinds_check(&rig, 2);
    counts_check(&rig, 33);
    slices_check(&rig, 33);
    rig_close(&rig);
}

static void bls12381_g1(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BLS12381, GROUP_G1, 3);
    kinds_check(&rig, 3);
    counts_check(&rig, 100);
    slices_check(&rig, 33);
    rig_close(&rig);
}

static void bls12381_g2(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BLS12381, GROUP_G2, 4);
    counts_check(&rig, 33);
    slices_check(&rig, 9);
    rig_close(&rig);
}

/* Full digits in all windows, with chunks of several buckets and of one, and lanes in any order. */
static void dense_in_any_order(void **state)
{
    static const uint32_t multiprocessors[] = {1, MANY, 1};
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G1, 5);
    struct mix mix = mix_make(&rig.side, 60);
    mix_fill(&rig.side, &mix, 0, dense);
    for (uint64_t i = 0; i < 3; i++) {
        rig.soft->seed = 1000 + i;
        rig.soft->queue.multiprocessors = multiprocessors[i];
        mix_check(&rig, &mix, 0);
        assert_int_equal(rig.plan.chunk_buckets > 1, multiprocessors[i] == 1);
    }
    mix_free(&mix);
    rig_close(&rig);
}

/* More buckets than one block scans, several blocks of scalars, and all levels of merging. */
static void large_ones(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G1, 8);
    struct mix mix = mix_make(&rig.side, 1000);
    mix_fill(&rig.side, &mix, 0, dense);
    mix_check(&rig, &mix, 0);
    mix_fill(&rig.side, &mix, 3, all_the_same);
    rig.soft->queue.multiprocessors = MANY;
    mix_check(&rig, &mix, 300);
    mix_free(&mix);
    rig_close(&rig);
}

/* The same digit of `bits` bits in every window but the last ones: those that a carry begins or
 * ends at; then r - 2, and numbers at random. */
static struct scalar of_edges(const struct side *side, unsigned bits, size_t i, uint64_t *state)
{
    const uint64_t half = (uint64_t)1 << (bits - 1);
    const uint64_t digit[] = {half, half - 1, half + 1, 2 * half - 1};
    struct scalar out = minus_one(side);
    out.word[0]--;
    if (i >= 4)
        return i == 4 ? out : scalar_random(side->curve, state);
    memset(&out, 0, sizeof(out));
    for (unsigned bit = 0; bit + bits <= 252; bit += bits) {
        out.word[bit / 64] |= digit[i] << bit % 64;
        if (bit % 64 + bits > 64)
            out.word[bit / 64 + 1] |= digit[i] >> (64 - bit % 64);
    }
    return out;
}

static void window_check(uint32_t curve, enum group group, unsigned bits, uint32_t passes,
                         uint32_t multiprocessors)
{
    struct rig rig = rig_make(curve, group, bits);
    struct mix mix = mix_make(&rig.side, 12);
    uint64_t state = bits;
    for (size_t i = 0; i < mix.count; i++)
        mix_set(&rig.side, &mix, i, factor_kinds[0](i), of_edges(&rig.side, bits, i, &state));
    rig_plan(&rig, &mix, PLENTY);
    plan_shape(&rig.plan, bits, modulus_bits(rig.side.curve->fr_modulus), passes, multiprocessors);
    rig_sort(&rig, &mix);
    rig_check(&rig, &rig.side, &mix, 0);
    rig_free(&rig);
    mix_free(&mix);
    rig_close(&rig);
}

/* Windows of more bits than a plan has for so few points. A thread has one bucket, or several; all
 * warps of a block add up a window's chunks, or one lane alone. */
static void windows_of_many_bits(void **state)
{
    (void)state;
    window_check(CURVE_BN254, GROUP_G1, 9, 1, MANY);
    window_check(CURVE_BLS12381, GROUP_G1, 7, 2, MANY);
    window_check(CURVE_BN254, GROUP_G2, 7, 1, MANY);
    window_check(CURVE_BLS12381, GROUP_G2, 5, 1, MANY);
    window_check(CURVE_BLS12381, GROUP_G1, 13, 3, 1);
    window_check(CURVE_BN254, GROUP_G1, WINDOW_BITS_MAX, 4, 1);
}

/* As a proof uses it: one sort of a witness; all points in G1 and in G2, and those of the end. */
static void one_sort_serves_several_sums(void **state)
{
    static const size_t firsts[] = {1, 5, 40, 49, 50, 1000};
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G1, 6);
    struct side other = side_make(rig.side.curve, GROUP_G2);
    struct mix mix = mix_make(&rig.side, 50), twin = mix_make(&other, 50);
    mix_fill(&rig.side, &mix, 0, skewed);
    mix_fill(&other, &twin, 0, skewed);
    rig_plan(&rig, &mix, PLENTY);
    rig_sort(&rig, &mix);
    rig_check(&rig, &rig.side, &mix, 0);
    rig_check(&rig, &other, &twin, 0);
    for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
        rig_check(&rig, &rig.side, &mix, firsts[i]);
    rig_free(&rig);
    mix_free(&mix);
    mix_free(&twin);
    free(other.multiple);
    rig_close(&rig);
}

/* The least scratch that has a plan, to the byte, for what `mix` multiplies. */
static size_t least_scratch(const struct rig *rig, size_t count)
{
    struct msm_cuda_plan plan;
    size_t low = 0, high = rig->plan.scratch_bytes; /* of which only the second suffices */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        int error = msm_cuda_plan_make(&plan, rig->side.curve, count, &rig->soft->queue, middle);
        assert_true(error == 0 || error == -ENOSPC);
        if (error)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void smaller_plans_give_the_same(void **state)
{
    (void)state;
    struct rig rig = rig_make(CURVE_BN254, GROUP_G1, 7);
    struct mix mix = mix_make(&rig.side, 101);
    mix_fill(&rig.side, &mix, 3, skewed);
    rig_plan(&rig, &mix, PLENTY);
    size_t whole = rig.plan.scratch_bytes, least = least_scratch(&rig, mix.count);
    size_t sizes[] = {whole - 1, least + (whole - least) / 3, least};
    assert_true(least < whole / 4);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        rig_plan(&rig, &mix, sizes[i]);
        assert_true(i < 2 || rig.plan.windows_a_pass == 1);
        rig_sort(&rig, &mix);
        rig_check(&rig, &rig.side, &mix, i);
        rig_free(&rig);
    }
    mix_free(&mix);
    rig_close(&rig);
}

/* ---- without kernels ---- */

/* A queue that refuses its n-th call. */
struct refusing {
    struct gpu_queue queue;
    unsigned calls, refused;
};

static int refusing_launch(struct gpu_queue *self, const struct gpu_launch *launch)
{
    struct refusing *refusing = (struct refusing *)self;
    assert_true(launch->blocks > 0 && launch->threads > 0);
    return ++refusing->calls == refusing->refused ? -EIO : 0;
}

static int refusing_clear(struct gpu_queue *self, gpu_pointer at, size_t bytes)
{
    struct refusing *refusing = (struct refusing *)self;
    assert_true(at != 0 && bytes > 0);
    return ++refusing->calls == refusing->refused ? -EIO : 0;
}

static struct refusing refusing_make(unsigned refused)
{
    return (struct refusing){.queue = {refusing_launch, refusing_clear, MANY, 49152},
                             .refused = refused};
}

static int calls_make(struct refusing *refusing, size_t scratch_most)
{
    struct msm_cuda_plan plan;
    struct gpu_queue *queue = &refusing->queue;
    assert_int_equal(msm_cuda_plan_make(&plan, curve_by_id(CURVE_BN254), 100, queue, scratch_most),
                     0);
    int error = msm_cuda_sort(queue, &plan, 4096, 8192);
    return error ? error : msm_cuda_sum(queue, &plan, GROUP_G2, 4096, 0, 8192, 4096);
}

static void errors_come_through(void **state)
{
    static const size_t scratches[] = {PLENTY, 1 << 18}; /* one pass, and several */
    unsigned calls[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (unsigned refused = 1;; refused++) {
            struct refusing refusing = refusing_make(refused);
            int error = calls_make(&refusing, scratches[i]);
            calls[i] = refusing.calls;
            if (refusing.calls < refused) {
                assert_int_equal(error, 0);
                break;
            }
            assert_int_equal(error, -EIO);
            assert_int_equal(refusing.calls, refused);
        }
    }
    assert_true(calls[0] > 10);
    assert_true(calls[1] > calls[0]);
}

static void plan_check_large(const struct curve *curve, size_t count, size_t scratch_most)
{
    struct refusing refusing = refusing_make(0);
    struct msm_cuda_plan plan;
    assert_int_equal(msm_cuda_plan_make(&plan, curve, count, &refusing.queue, scratch_most), 0);
    struct msm_cuda_additions additions = msm_cuda_count_additions(&plan);
    uint64_t entries = (uint64_t)count * plan.windows_a_pass;
    assert_true(plan.scratch_bytes <= scratch_most);
    assert_true(entries <= (uint64_t)1 << 31);
    assert_true(plan.scratch_bytes > 4 * entries);
    assert_int_equal(additions.mixed, (uint64_t)count * plan.digits.windows);
    assert_true(plan.result_bytes >= msm_cuda_result_bytes(&plan, GROUP_G1));
    if (count < (size_t)1 << 16)
        return;
    assert_true(plan.digits.window_bits >= 12);
    assert_true(additions.full < additions.mixed);
}

static void plans_for_any_count(void **state)
{
    (void)state;
    for (uint32_t id = CURVE_BN254; id <= CURVE_BLS12381; id++) {
        for (unsigned k = 0; k <= 27; k++) {
            size_t count = (size_t)1 << k;
            plan_check_large(curve_by_id(id), count, PLENTY);
            plan_check_large(curve_by_id(id), count - count / 3, PLENTY);
        }
        plan_check_large(curve_by_id(id), MSM_CUDA_COUNT_MOST, (size_t)2 << 30);
    }
    struct refusing refusing = refusing_make(0);
    struct msm_cuda_plan plan;
    assert_int_equal(msm_cuda_plan_make(&plan, curve_by_id(CURVE_BN254), MSM_CUDA_COUNT_MOST + 1,
                                        &refusing.queue, PLENTY),
                     -E2BIG);
    assert_int_equal(
        msm_cuda_plan_make(&plan, curve_by_id(CURVE_BN254), 1000, &refusing.queue, 1000), -ENOSPC);
}

/* Window sums that are no field elements come from a device that went wrong. */
static void finish_refuses_what_is_not_canonical(void **state)
{
    (void)state;
    const struct curve *curve = curve_by_id(CURVE_BLS12381);
    struct refusing refusing = refusing_make(0);
    struct msm_cuda_plan plan;
    assert_int_equal(msm_cuda_plan_make(&plan, curve, 10, &refusing.queue, PLENTY), 0);
    for (enum group group = GROUP_G1; group <= GROUP_G2; group++) {
        size_t bytes = msm_cuda_result_bytes(&plan, group);
        union point out, infinity = {0};
        uint64_t *result = calloc(1, bytes);
        assert_non_null(result);
        assert_int_equal(msm_cuda_finish(curve, &plan, group, result, &out), 0);
        memcpy((char *)result + bytes - curve->fq_bytes, curve->fq_modulus, curve->fq_bytes);
        memset(&out, 0x5a, sizeof(out));
        assert_int_equal(msm_cuda_finish(curve, &plan, group, result, &out), -EBADMSG);
        assert_memory_equal(&out, &infinity, group == GROUP_G1 ? sizeof(out.g1) : sizeof(out.g2));
        free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bn254_g1),
        cmocka_unit_test(bn254_g2),
        cmocka_unit_test(bls12381_g1),
        cmocka_unit_test(bls12381_g2),
        cmocka_unit_test(dense_in_any_order),
        cmocka_unit_test(large_ones),
        cmocka_unit_test(windows_of_many_bits),
        cmocka_unit_test(one_sort_serves_several_sums),
        cmocka_unit_test(smaller_plans_give_the_same),
        cmocka_unit_test(errors_come_through),
        cmocka_unit_test(plans_for_any_count),
        cmocka_unit_test(finish_refuses_what_is_not_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
