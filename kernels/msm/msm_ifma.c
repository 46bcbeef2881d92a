/*
 * Multi-scalar multiplication with AVX-512 IFMA: one set of points, or the four that a witness
 * multiplies, whose scalars are then cut and sorted once. Called through struct curve
 * (kernels/curves.h), whose contract this is. Memory and threads are the caller's; a SIGKILL leaves
 * nothing but his buffers. Less than 2^31 points.
 *
 * msm.h has the mathematics. Here all of it is batched affine additions of eight points:
 * schedule_ifma.h says which, batch_template_ifma.h does them, columns_template_ifma.h brings
 * buckets into lanes, weigh_template_ifma.h weights them; task_template_ifma.h puts it together.
 * Products: windows * (6 points + 12 buckets), and some hundred for each window's last sums.
 */
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/curve/group.h"
#include "kernels/field/vector_ifma.h"
#include "kernels/msm/batch_ifma.h"
#include "kernels/msm/inverse.h"
#include "kernels/msm/msm.h"
#include "kernels/msm/pieces_ifma.h"
#include "kernels/msm/plan_ifma.h"
#include "kernels/msm/schedule_ifma.h"
#include "kernels/msm/sets_ifma.h"
#include "kernels/ranges.h"

#if CURVE_NUMBER == 1
#define SCALAR_BITS 254
#else
#define SCALAR_BITS 255
#endif

#define GROUP g1
#define COORDINATE fq
#define BATCH_ROWS 1024
#include "kernels/msm/batch_template_ifma.h"
#include "kernels/msm/columns_template_ifma.h"
#include "kernels/msm/weigh_template_ifma.h"
#include "kernels/msm/task_template_ifma.h"
#undef GROUP
#undef COORDINATE
#undef BATCH_ROWS

#define GROUP g2
#define COORDINATE fq2
#define BATCH_ROWS 512
#include "kernels/msm/batch_template_ifma.h"
#include "kernels/msm/columns_template_ifma.h"
#include "kernels/msm/weigh_template_ifma.h"
#include "kernels/msm/task_template_ifma.h"
#undef GROUP
#undef COORDINATE
#undef BATCH_ROWS

struct sums {
    struct schedule schedule;
    struct sums_layout layout;
    struct sum_set set[SETS_MAX]; /* the dearest first */
    unsigned sets, set_tasks;
    unsigned char *scratch;
    struct parallel *parallel;
    atomic_uint next_task;
    atomic_int cancelled;
};

static int sums_is_cancelled(struct sums *sums)
{
    if (parallel_is_cancelled(sums->parallel))
        atomic_store_explicit(&sums->cancelled, 1, memory_order_relaxed);
    return atomic_load_explicit(&sums->cancelled, memory_order_relaxed);
}

/* ---- the schedule ---- */

static void task_count(void *arg, unsigned index)
{
    struct sums *sums = arg;
    schedule_count_kinds(&sums->schedule.chunk[index], sums->schedule.scalar);
}

static void task_cut_digits(void *arg, unsigned index)
{
    struct sums *sums = arg;
    if (sums_is_cancelled(sums))
        return;
    schedule_classify(&sums->schedule, &sums->schedule.chunk[index]);
    schedule_cut_digits(&sums->schedule, &sums->schedule.chunk[index]);
}

static void task_sort(void *arg, unsigned index)
{
    struct sums *sums = arg;
    if (!sums_is_cancelled(sums))
        schedule_sort(&sums->schedule, index);
}

static void piece_mark_infinite(void *arg, size_t begin, size_t end)
{
    const struct sum_set *set = arg;
    set_mark_infinite(set, 64 * begin, 64 * end);
}

static void sums_mark_infinite(struct sums *sums)
{
    const size_t count = sums->schedule.count;
    for (unsigned i = 0; i < sums->sets; i++) {
        struct sum_set *set = &sums->set[i];
        if (!set_has_infinite(set, count))
            continue;
        set->infinite = (uint64_t *)(sums->scratch + sums->layout.infinite_at +
                                     i * sums->layout.infinite_bytes);
        ranges_run(sums->parallel, count / 64, 64, piece_mark_infinite, set);
        set_mark_infinite(set, count / 64 * 64, count);
    }
}

static void sums_schedule(struct sums *sums)
{
    struct schedule *s = &sums->schedule;
    struct parallel *parallel = sums->parallel;
    parallel->run(parallel, task_cut_digits, sums, (unsigned)s->chunks);
    parallel->run(parallel, task_sort, sums, s->plan.windows);
    if (!sums_is_cancelled(sums))
        sums_mark_infinite(sums);
}

/* ---- the sums ---- */

static void sums_task(struct sums *sums, unsigned char *slot, unsigned task)
{
    const struct sum_set *set = &sums->set[task / sums->set_tasks];
    const unsigned all = sums->schedule.plan.windows;
    unsigned first = task % sums->set_tasks * sums->layout.task_windows;
    unsigned windows =
        all - first < sums->layout.task_windows ? all - first : sums->layout.task_windows;
    if (set->group == GROUP_G1)
        g1_task_run(&sums->layout.slot, slot, set, &sums->schedule, first, windows);
    else
        g2_task_run(&sums->layout.slot, slot, set, &sums->schedule, first, windows);
}

/* Takes tasks until there are none left; worker `index` has slot `index`. */
static void sums_worker(void *arg, unsigned index)
{
    struct sums *sums = arg;
    unsigned char *slot = sums->scratch + sums->layout.slots_at + index * sums->layout.slot.bytes;
    for (;;) {
        unsigned task = atomic_fetch_add_explicit(&sums->next_task, 1, memory_order_relaxed);
        if (task >= sums->sets * sums->set_tasks || sums_is_cancelled(sums))
            return;
        sums_task(sums, slot, task);
    }
}

static void task_join(void *arg, unsigned index)
{
    struct sums *sums = arg;
    if (sums->set[index].group == GROUP_G1)
        g1_set_join(&sums->set[index], &sums->schedule.plan);
    else
        g2_set_join(&sums->set[index], &sums->schedule.plan);
}

/* ---- memory ---- */

static struct plan_input sums_input(size_t count, unsigned sets, unsigned threads, int with_g2)
{
    struct plan_input in = {.count = count,
                            .sets = sets,
                            .threads = threads,
                            .scalar_bits = SCALAR_BITS,
                            .batch_bytes = sizeof(struct g1_batch),
                            .point_bytes = sizeof(struct g1_affine)};
    if (with_g2) {
        in.point_bytes = sizeof(struct g2_affine);
        if (sizeof(struct g2_batch) > in.batch_bytes)
            in.batch_bytes = sizeof(struct g2_batch);
    }
    return in;
}

static void sums_place(struct sums *sums, const struct plan_input *in)
{
    struct schedule *s = &sums->schedule;
    unsigned char *base = sums->scratch;
    schedule_add_up(s);
    unsigned c = plan_choose_window(s->count, s->wide, SCALAR_BITS);
    struct plan_case now = {c, s->wide, s->wide};
    digit_plan_make(&s->plan, c, SCALAR_BITS);
    s->narrow_windows = schedule_narrow_windows(c);
    sums->layout = plan_make(in, &now);
    sums->set_tasks = (s->plan.windows + sums->layout.task_windows - 1) / sums->layout.task_windows;
    s->id = (void *)(base + sums->layout.id_at);
    s->digit = (void *)(base + sums->layout.digit_at);
    s->order = (void *)(base + sums->layout.order_at);
    s->head = (void *)(base + sums->layout.head_at);
    for (unsigned i = 0; i < sums->sets; i++)
        sums->set[i].result =
            base + sums->layout.result_at + (size_t)i * s->plan.windows * c * in->point_bytes;
}

static int sums_run(struct sums *sums, const struct plan_input *in)
{
    struct parallel *parallel = sums->parallel;
    schedule_cut(&sums->schedule, parallel->threads);
    parallel->run(parallel, task_count, sums, (unsigned)sums->schedule.chunks);
    sums_place(sums, in);
    sums_schedule(sums);
    parallel->run(parallel, sums_worker, sums, parallel->threads);
    if (sums_is_cancelled(sums))
        return -ECANCELED;
    parallel->run(parallel, task_join, sums, sums->sets);
    return 0;
}

/* ---- one set ---- */

static int sums_one(enum group group, void *out, const void *points, const uint64_t *scalars,
                    size_t count, void *scratch, struct parallel *parallel)
{
    struct plan_input in = sums_input(count, 1, parallel->threads, group == GROUP_G2);
    struct sums sums = {.schedule = {.scalar = scalars, .count = count},
                        .sets = 1,
                        .scratch = scratch,
                        .parallel = parallel};
    sums.set[0] = (struct sum_set){
        .group = group, .points = points, .point_bytes = in.point_bytes, .out = out};
    return sums_run(&sums, &in);
}

int CURVE_FN(msm_g1)(struct g1 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel)
{
    return sums_one(GROUP_G1, out, points, scalars, count, scratch, parallel);
}

int CURVE_FN(msm_g2)(struct g2 *out, const void *points, const uint64_t *scalars, size_t count,
                     void *scratch, struct parallel *parallel)
{
    return sums_one(GROUP_G2, out, points, scalars, count, scratch, parallel);
}

size_t CURVE_FN(msm_scratch_bytes)(enum group group, size_t count, unsigned threads)
{
    struct plan_input in = sums_input(count, 1, threads, group == GROUP_G2);
    return plan_scratch_bytes(&in);
}

/* ---- a witness's four ---- */

int CURVE_FN(witness_sums)(struct proof_sums *out, const struct witness_points *points,
                           const uint64_t *witness, size_t wires, size_t first_private,
                           void *scratch, struct parallel *parallel)
{
    struct plan_input in = sums_input(wires, SETS_MAX, parallel->threads, 1);
    const size_t g1 = sizeof(struct g1_affine), g2 = sizeof(struct g2_affine);
    struct sums sums = {
        .schedule = {.scalar = witness, .count = wires, .first_private = first_private},
        .sets = SETS_MAX,
        .scratch = scratch,
        .parallel = parallel};
    sums.set[0] = (struct sum_set){GROUP_G2, points->b2, 0, g2, NULL, NULL, &out->b2};
    sums.set[1] = (struct sum_set){GROUP_G1, points->a, 0, g1, NULL, NULL, &out->a};
    sums.set[2] = (struct sum_set){GROUP_G1, points->b1, 0, g1, NULL, NULL, &out->b1};
    sums.set[3] = (struct sum_set){GROUP_G1, points->c, first_private, g1, NULL, NULL, &out->c};
    return sums_run(&sums, &in);
}

size_t CURVE_FN(witness_sums_scratch_bytes)(size_t wires, size_t first_private, unsigned threads)
{
    struct plan_input in = sums_input(wires, SETS_MAX, threads, 1);
    (void)first_private;
    return plan_scratch_bytes(&in);
}
