/*
 * Checks of a key's points, in parallel over the caller's threads. Called by image_build.c and
 * vkey_export.c. Scratch is freed before return; a SIGKILL leaves nothing.
 */
#include "synth-worker/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "kernels/point_checks.h"
#include "kernels/ranges.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"

#define PIECE_LEAST 256
#define SCRATCH_ALIGN 64

static uint32_t point_bytes(const struct point_array *array)
{
    return array->group == GROUP_G2 ? array->curve->g2_bytes : array->curve->g1_bytes;
}

static const void *point_at(const struct point_array *array, uint64_t index)
{
    return (const uint8_t *)array->points + index * point_bytes(array);
}

static enum point_check check_one(const struct point_array *array, uint64_t index)
{
    const struct curve *curve = array->curve;
    const void *point = point_at(array, index);
    return array->group == GROUP_G2 ? curve->g2_check(point) : curve->g1_check(point);
}

struct check_work {
    const struct point_array *array;
    _Atomic uint64_t first_wrong;
};

static void note_wrong(struct check_work *work, uint64_t index)
{
    uint64_t seen = atomic_load_explicit(&work->first_wrong, memory_order_relaxed);
    while (index < seen &&
           !atomic_compare_exchange_weak_explicit(&work->first_wrong, &seen, index,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

static void check_piece(void *arg, size_t begin, size_t end)
{
    struct check_work *work = arg;
    const struct point_array *array = work->array;
    size_t fine = point_checks_run(array->curve, array->group, point_at(array, begin), end - begin);
    if (fine < end - begin)
        note_wrong(work, begin + fine);
}

int points_check(const struct point_array *array, struct parallel *parallel,
                 struct complaint *complaint)
{
    struct check_work work = {.array = array, .first_wrong = UINT64_MAX};
    if (!array->count)
        return 0;
    ranges_run(parallel, array->count, PIECE_LEAST, check_piece, &work);
    uint64_t wrong = atomic_load_explicit(&work.first_wrong, memory_order_relaxed);
    if (wrong == UINT64_MAX)
        return 0;
    return complain_input(complaint, "%.700s: section %" PRIu32 ": point %" PRIu64 " %s",
                          array->name, array->section, wrong,
                          check_one(array, wrong) == POINT_NOT_CANONICAL
                              ? "has a coordinate that is not below the field's prime"
                              : "is not on the curve");
}

struct subgroup_work {
    void *scratch;
    uint8_t seed[32];
    struct parallel *parallel;
};

static int range_in_subgroup(const struct point_array *array, struct subgroup_work *work,
                             uint64_t begin, uint64_t count)
{
    return array->curve->points_in_subgroup(array->group, point_at(array, begin), count, work->seed,
                                            work->scratch, work->parallel);
}

/* Halves a range that holds a wrong point until one is left. */
static uint64_t find_outside(const struct point_array *array, struct subgroup_work *work)
{
    uint64_t begin = 0, count = array->count;
    while (count > 1) {
        uint64_t half = count / 2;
        if (range_in_subgroup(array, work, begin, half)) {
            begin += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return begin;
}

static int check_subgroup_with(const struct point_array *array, struct subgroup_work *work,
                               struct complaint *complaint)
{
    if (getrandom(work->seed, sizeof work->seed, 0) != (ssize_t)sizeof work->seed)
        return complain_system(complaint, EXIT_INTERNAL, errno, "no random numbers");
    if (range_in_subgroup(array, work, 0, array->count))
        return 0;
    return complain_input(complaint,
                          "%.700s: section %" PRIu32 ": point %" PRIu64
                          " is not in the subgroup of order r",
                          array->name, array->section, find_outside(array, work));
}

int points_check_subgroup(const struct point_array *array, struct parallel *parallel,
                          struct complaint *complaint)
{
    const struct curve *curve = array->curve;
    if (!array->count || (curve->id == CURVE_BN254 && array->group == GROUP_G1))
        return 0;
    size_t bytes = curve->subgroup_scratch_bytes(array->group, array->count, parallel->threads);
    struct subgroup_work work = {.parallel = parallel};
    if (posix_memalign(&work.scratch, SCRATCH_ALIGN, bytes ? bytes : SCRATCH_ALIGN))
        return complain_system(complaint, EXIT_MACHINE, ENOMEM,
                               "%zu bytes of scratch for the subgroup check", bytes);
    int status = check_subgroup_with(array, &work, complaint);
    free(work.scratch);
    return status;
}

static const char *const constant_names[] = {"alpha1", "beta1",  "delta1",
                                             "beta2",  "gamma2", "delta2"};

/* Constant 0..2 is in G1, 3..5 in G2. */
static const uint8_t *constant_at(const struct curve *curve, const void *constants, unsigned index)
{
    const uint8_t *bytes = constants;
    return index < 3 ? bytes + index * curve->g1_bytes
                     : bytes + 3 * curve->g1_bytes + (index - 3) * curve->g2_bytes;
}

static int is_zero(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (bytes[i])
            return 0;
    return 1;
}

static const char *constant_fault(const struct curve *curve, const void *constants, unsigned index)
{
    const uint8_t *point = constant_at(curve, constants, index);
    if (is_zero(point, index < 3 ? curve->g1_bytes : curve->g2_bytes))
        return "is the point at infinity";
    switch (index < 3 ? curve->g1_check(point) : curve->g2_check(point)) {
    case POINT_NOT_CANONICAL:
        return "has a coordinate that is not below the field's prime";
    case POINT_NOT_ON_CURVE:
        return "is not on the curve";
    default:
        return NULL;
    }
}

int points_check_constants(const struct curve *curve, const void *constants, const char *name,
                           struct complaint *complaint)
{
    for (unsigned i = 0; i < 6; i++) {
        const char *fault = constant_fault(curve, constants, i);
        if (fault)
            return complain_input(complaint, "%.700s: section 2: %s %s", name, constant_names[i],
                                  fault);
    }
    return 0;
}

int points_check_constants_subgroup(const struct curve *curve, const void *constants,
                                    const char *name, struct complaint *complaint)
{
    for (unsigned i = 0; i < 6; i++) {
        const void *point = constant_at(curve, constants, i);
        if (!(i < 3 ? curve->g1_in_subgroup(point) : curve->g2_in_subgroup(point)))
            return complain_input(complaint,
                                  "%.700s: section 2: %s is not in the subgroup of order r", name,
                                  constant_names[i]);
    }
    return 0;
}
