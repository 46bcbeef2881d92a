/*
 * The sets of points that the same scalars multiply. Private to msm/; no state of its own.
 */
#ifndef PAWL_KERNELS_MSM_SETS_IFMA_H
#define PAWL_KERNELS_MSM_SETS_IFMA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/curves.h"

/* Points of scalars `first` and up, packed. */
struct sum_set {
    enum group group;
    const unsigned char *points;
    size_t first, point_bytes;
    uint64_t *infinite; /* a bit for each scalar's point; NULL: few or none is infinity */
    void *result;       /* windows * window_bits packed points */
    void *out;          /* struct g1 or g2 */
};

enum { INFINITE_SAMPLES = 256, INFINITE_SHARE = 32 };

static inline int set_is_infinite(const struct sum_set *set, uint32_t number)
{
    return (int)(set->infinite[number / 64] >> (number % 64) & 1);
}

static inline int set_point_infinite(const struct sum_set *set, size_t number)
{
    const uint64_t *word =
        (const uint64_t *)(set->points + (number - set->first) * set->point_bytes);
    uint64_t any = 0;
    for (size_t i = 0; any == 0 && i < set->point_bytes / sizeof(*word); i++)
        any = word[i];
    return any == 0;
}

/* 1 where so many of the points may be infinity that it pays to leave them out beforehand; they
 * need not be, for the additions look for them themselves. */
static inline int set_has_infinite(const struct sum_set *set, size_t count)
{
    size_t found = 0, points = count - set->first;
    if (points < INFINITE_SAMPLES)
        return 0;
    for (size_t i = 0; i < INFINITE_SAMPLES; i++)
        found += (size_t)set_point_infinite(set, set->first + points * i / INFINITE_SAMPLES);
    return found > INFINITE_SAMPLES / INFINITE_SHARE;
}

/* The bits of scalars begin .. end - 1, multiples of 64 or the last. */
static inline void set_mark_infinite(const struct sum_set *set, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i += 64)
        set->infinite[i / 64] = 0;
    for (size_t i = begin > set->first ? begin : set->first; i < end; i++)
        set->infinite[i / 64] |= (uint64_t)set_point_infinite(set, i) << (i % 64);
}

#endif
