/*
 * Checks of a key's points where they lie in the image: canonical and on the curve always, in the
 * subgroup of order r where it is asked for. The complaint names section and index. Stateless.
 */
#ifndef PAWL_SYNTH_WORKER_POINTS_H
#define PAWL_SYNTH_WORKER_POINTS_H

#include <stdint.h>

#include "kernels/curves.h"

struct complaint;
struct parallel;

/* `count` packed points, 8-byte aligned, as they came from section `section` of the file `name`. */
struct point_array {
    const struct curve *curve;
    enum group group;
    const void *points;
    uint64_t count;
    uint32_t section;
    const char *name;
};

/* All canonical and on the curve (infinity is). 0, or -EINVAL naming the first that is not. */
int points_check(const struct point_array *array, struct parallel *parallel,
                 struct complaint *complaint);
/*
 * All in the subgroup of order r, by random subset sums (a wrong point is missed with probability
 * at most 2^-64); points_check came first. BN254's G1 is its own subgroup: nothing to do. 0,
 * -EINVAL naming section and, where halving finds it, the first index; -ENOMEM.
 */
int points_check_subgroup(const struct point_array *array, struct parallel *parallel,
                          struct complaint *complaint);
/* The key's six constants (struct zkey): on the curve and none at infinity, which would be a
 * key that proves anything or nothing. */
int points_check_constants(const struct curve *curve, const void *constants, const char *name,
                           struct complaint *complaint);
/* The six constants in their subgroups. */
int points_check_constants_subgroup(const struct curve *curve, const void *constants,
                                    const char *name, struct complaint *complaint);

#endif
