/*
 * Many multiples of the generator of G1 or G2: a table of it by windows, then one affine addition a
 * window, many at once.
 */
#ifndef PAWL_TESTS_TESTKEY_FIXED_BASE_H
#define PAWL_TESTS_TESTKEY_FIXED_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/msm/digits.h"

struct parallel;

struct fixed_base {
    struct digit_plan plan;
    void *table; /* window w, digit d > 0 at w * 2^(c-1) + d - 1: the table's owner frees it */
    void (*multiply)(const struct fixed_base *base, void *out, const uint64_t *scalars,
                     size_t count, struct parallel *parallel);
};

/* Sized for about `count` multiplications. multiply: out[i] = scalars[i] (plain) * generator,
 * packed. */
void bn254_fixed_base_g1(struct fixed_base *base, size_t count, struct parallel *parallel);
void bn254_fixed_base_g2(struct fixed_base *base, size_t count, struct parallel *parallel);
void bls12381_fixed_base_g1(struct fixed_base *base, size_t count, struct parallel *parallel);
void bls12381_fixed_base_g2(struct fixed_base *base, size_t count, struct parallel *parallel);

#endif
