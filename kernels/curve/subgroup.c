/*
 * Are all points of a key in the subgroup of order r? By random subset sums, called where a circuit
 * is added; curves.h has the contract. No state outside the caller's scratch.
 *
 * A curve point is P = S + T, S in the subgroup and T of an order that divides the cofactor. Add up
 * a random subset of the points: where some T_i is not zero, so is the sum of the subset's T with
 * probability at least 1/2, for whatever the other choices are, putting in i or leaving it out
 * gives different sums. So 64 independent subset sums that are all in the subgroup miss a
 * wrong point with probability at most 2^-64.
 *
 * A pass finds `width` subset sums for one addition a point: the point goes into the bucket of a
 * random index, and the j-th sum is that of the buckets whose index has bit j. Folding the upper
 * half of the buckets onto the lower gives the highest bit's sum (that of the upper half) and
 * leaves half as many buckets for the other bits: 2^(width+1) additions in all.
 *
 * The indices come from the caller's secret seed through xoshiro256** (Blackman, Vigna), whose
 * scrambler is no linear map; both curves' cofactors are odd, so that no group of order 2 is there
 * for the generator's linear state to meet.
 */
#include "kernels/curve/curve.h"

#include "kernels/curve/endomorphism.h"
#include "kernels/curve/group.h"
#include "kernels/parallel.h"

#define SUBSET_SUMS 64
#define WIDTH_SMALL 8
#define WIDTH_LARGE 13
#define WIDTH_LARGE_FROM 32768u /* points: fewer passes outweigh the folding */

/* How a check of `count` points is cut: tasks = passes * splits; a split is a share of points. */
struct subgroup_plan {
    unsigned width, passes, splits;
};

struct random {
    uint64_t state[4];
};

struct subgroup_job {
    struct subgroup_plan plan;
    const unsigned char *points;
    size_t count;
    const uint8_t *seed;
    unsigned char *buckets; /* per task, 2^width */
    unsigned char *sums;    /* per task, width */
    unsigned bad[SUBSET_SUMS];
};

static struct subgroup_plan plan_make(size_t count, unsigned threads)
{
    struct subgroup_plan plan;
    plan.width = count < WIDTH_LARGE_FROM ? WIDTH_SMALL : WIDTH_LARGE;
    plan.passes = (SUBSET_SUMS + plan.width - 1) / plan.width;
    plan.splits = count < WIDTH_LARGE_FROM ? 1 : (threads + plan.passes - 1) / plan.passes;
    if (plan.splits == 0)
        plan.splits = 1;
    return plan;
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t random_next(struct random *random)
{
    uint64_t *s = random->state;
    const uint64_t out = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return out;
}

/* The stream of one task: seeded with outputs of the stream that the caller's seed starts. */
static void random_start(struct random *random, const uint8_t seed[32], unsigned task)
{
    struct random parent;
    memcpy(parent.state, seed, sizeof(parent.state));
    for (unsigned i = 0; i <= task; i++)
        for (int k = 0; k < 4; k++)
            random->state[k] = random_next(&parent);
}

#define GROUP g1
#include "kernels/curve/subgroup_template.h"
#define GROUP g2
#include "kernels/curve/subgroup_template.h"

size_t CURVE_FN(subgroup_scratch_bytes)(enum group group, size_t count, unsigned threads)
{
    const struct subgroup_plan plan = plan_make(count, threads);
    const size_t point = group == GROUP_G1 ? sizeof(struct g1_xyzz) : sizeof(struct g2_xyzz);
    return (size_t)plan.passes * plan.splits * (((size_t)1 << plan.width) + plan.width) * point;
}

int CURVE_FN(points_in_subgroup)(enum group group, const void *points, size_t count,
                                 const uint8_t seed[32], void *scratch, struct parallel *parallel)
{
    struct subgroup_job job = {.plan = plan_make(count, parallel->threads),
                               .points = points,
                               .count = count,
                               .seed = seed,
                               .buckets = scratch};
    if (group == GROUP_G2)
        return g2_subgroup_run(&job, parallel);
    return G1_COFACTOR_IS_ONE || g1_subgroup_run(&job, parallel);
}
