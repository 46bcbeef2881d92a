/*
 * The subset sums of one group: included by subgroup.c once for G1 and once for G2 (so no guard).
 * Wants GROUP; subgroup.c has the mathematics.
 */

/* Puts the points of one split into the buckets of one pass. */
static void GROUP_FN(subset_fill)(const struct subgroup_job *job, unsigned task, GROUP_XYZZ *bucket)
{
    const unsigned split = task % job->plan.splits;
    const size_t begin = job->count / job->plan.splits * split;
    const size_t end =
        split + 1 == job->plan.splits ? job->count : job->count / job->plan.splits * (split + 1);
    const unsigned width = job->plan.width, per_draw = 64 / width;
    struct random random;
    uint64_t draw = 0;
    random_start(&random, job->seed, task);
    for (size_t i = begin; i < end; i++) {
        GROUP_AFFINE point;
        draw = (i - begin) % per_draw ? draw >> width : random_next(&random);
        GROUP_XYZZ *place = &bucket[draw & ((1u << width) - 1)];
        GROUP_FN(affine_load)(&point, job->points + i * sizeof(point));
        GROUP_FN(xyzz_add_affine)(place, place, &point);
    }
}

/* sum[j] = the sum of the buckets whose index has bit j; the buckets are used up. */
static void GROUP_FN(subset_fold)(GROUP_XYZZ *sum, GROUP_XYZZ *bucket, unsigned width)
{
    for (unsigned bit = width; bit-- > 0;) {
        const size_t half = (size_t)1 << bit;
        sum[bit] = GROUP_FN(xyzz_infinity);
        for (size_t i = 0; i < half; i++) {
            GROUP_FN(xyzz_add)(&sum[bit], &sum[bit], &bucket[half + i]);
            GROUP_FN(xyzz_add)(&bucket[i], &bucket[i], &bucket[half + i]);
        }
    }
}

static void GROUP_FN(subset_task)(void *arg, unsigned task)
{
    const struct subgroup_job *job = arg;
    const unsigned width = job->plan.width;
    GROUP_XYZZ *bucket = (GROUP_XYZZ *)job->buckets + ((size_t)task << width);
    memset(bucket, 0, sizeof(*bucket) << width);
    GROUP_FN(subset_fill)(job, task, bucket);
    GROUP_FN(subset_fold)((GROUP_XYZZ *)job->sums + (size_t)task * width, bucket, width);
}

/* Subset sum `index`, added up over the splits: is it in the subgroup? */
static void GROUP_FN(subset_judge)(void *arg, unsigned index)
{
    struct subgroup_job *job = arg;
    const unsigned width = job->plan.width, pass = index / width, bit = index % width;
    const GROUP_XYZZ *sum = (const GROUP_XYZZ *)job->sums;
    GROUP_XYZZ total = GROUP_FN(xyzz_infinity);
    for (unsigned split = 0; split < job->plan.splits; split++) {
        const size_t task = (size_t)pass * job->plan.splits + split;
        GROUP_FN(xyzz_add)(&total, &total, &sum[task * width + bit]);
    }
    job->bad[index] = !GROUP_FN(is_in_subgroup)(&total);
}

static int GROUP_FN(subgroup_run)(struct subgroup_job *job, struct parallel *parallel)
{
    const unsigned tasks = job->plan.passes * job->plan.splits;
    job->sums = job->buckets + ((size_t)tasks << job->plan.width) * sizeof(GROUP_XYZZ);
    parallel->run(parallel, GROUP_FN(subset_task), job, tasks);
    parallel->run(parallel, GROUP_FN(subset_judge), job, SUBSET_SUMS);
    for (unsigned i = 0; i < SUBSET_SUMS; i++)
        if (job->bad[i])
            return 0;
    return 1;
}

#undef GROUP
