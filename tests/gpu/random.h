/*
 * Numbers, scalars and points for the checks: the same at each run. Header only.
 */
#ifndef PAWL_TESTS_GPU_RANDOM_H
#define PAWL_TESTS_GPU_RANDOM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"

/* splitmix64, by Sebastiano Vigna (public domain) */
static inline uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Words below 2^60: whichever of them are taken as an element of a field are below its modulus. */
static inline void random_words(uint64_t *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        out[i] = random_word(&seed) >> 4;
}

/* Of full length, below 2^252 and so below r of both curves. */
static inline void random_scalars(uint64_t *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count * FR_WORDS; i++) {
        out[i] = random_word(&seed);
        if (i % FR_WORDS == FR_WORDS - 1)
            out[i] >>= 4;
    }
}

#define RANDOM_POINTS 1024 /* different ones */

static inline void random_point(void *out, const struct curve *curve, enum group group,
                                uint64_t *seed)
{
    uint64_t scalar[FR_WORDS] = {random_word(seed), random_word(seed)};
    struct g1 g1;
    struct g2 g2;
    if (group == GROUP_G1) {
        curve->g1_multiply(&g1, curve->g1_generator, scalar);
        memcpy(out, &g1, curve->g1_bytes);
    } else {
        curve->g2_multiply(&g2, curve->g2_generator, scalar);
        memcpy(out, &g2, curve->g2_bytes);
    }
}

/* Packed; the first RANDOM_POINTS again and again. */
static inline void random_points(void *out, const struct curve *curve, enum group group,
                                 size_t count, uint64_t seed)
{
    size_t bytes = group == GROUP_G1 ? curve->g1_bytes : curve->g2_bytes;
    for (size_t i = 0; i < count; i++) {
        char *at = (char *)out + i * bytes;
        if (i < RANDOM_POINTS)
            random_point(at, curve, group, &seed);
        else
            memcpy(at, at - RANDOM_POINTS * bytes, bytes);
    }
}

#endif
