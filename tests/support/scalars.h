/*
 * Arithmetic of Fr and random numbers for tests and the test key maker, on nothing but a curve's
 * table. Elements are Montgomery unless a name says plain. Header only; no state but the caller's
 * generator.
 */
#ifndef PAWL_TESTS_SUPPORT_SCALARS_H
#define PAWL_TESTS_SUPPORT_SCALARS_H

#include <string.h>

#include "kernels/curves.h"

struct scalar {
    uint64_t word[FR_WORDS];
};

/* SplitMix64 (Steele, Lea, Flood 2014): small, the same everywhere, and no secret. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline struct scalar scalar_random(const struct curve *curve, uint64_t *state)
{
    struct scalar out;
    do {
        for (int i = 0; i < FR_WORDS; i++)
            out.word[i] = random_next(state);
        out.word[FR_WORDS - 1] >>= 1;
    } while (!curve->fr_is_canonical(out.word));
    return out;
}

static inline struct scalar scalar_from(const struct curve *curve, uint64_t small)
{
    struct scalar out = {{small}};
    curve->fr_to_montgomery(out.word, out.word);
    return out;
}

static inline struct scalar scalar_plain(const struct curve *curve, const struct scalar *a)
{
    struct scalar out;
    curve->fr_from_montgomery(out.word, a->word);
    return out;
}

/* out = a - b over the words; returns the borrow. */
static inline uint64_t words_subtract(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < FR_WORDS; i++) {
        unsigned __int128 t = (unsigned __int128)a[i] - b[i] - borrow;
        out[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

static inline struct scalar scalar_sub(const struct curve *curve, const struct scalar *a,
                                       const struct scalar *b)
{
    struct scalar out;
    uint64_t carry = 0;
    if (!words_subtract(out.word, a->word, b->word))
        return out;
    for (int i = 0; i < FR_WORDS; i++) {
        unsigned __int128 t = (unsigned __int128)out.word[i] + curve->fr_modulus[i] + carry;
        out.word[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return out;
}

static inline struct scalar scalar_neg(const struct curve *curve, const struct scalar *a)
{
    struct scalar zero = {{0}};
    return scalar_sub(curve, &zero, a);
}

static inline struct scalar scalar_add(const struct curve *curve, const struct scalar *a,
                                       const struct scalar *b)
{
    struct scalar minus = scalar_neg(curve, b);
    return scalar_sub(curve, a, &minus);
}

static inline struct scalar scalar_mul(const struct curve *curve, const struct scalar *a,
                                       const struct scalar *b)
{
    struct scalar out;
    curve->fr_multiply(out.word, a->word, b->word);
    return out;
}

static inline int scalar_equal(const struct scalar *a, const struct scalar *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline struct scalar scalar_pow(const struct curve *curve, const struct scalar *a,
                                       const uint64_t *exponent)
{
    struct scalar out = scalar_from(curve, 1);
    for (int bit = 64 * FR_WORDS; bit-- > 0;) {
        out = scalar_mul(curve, &out, &out);
        if (exponent[bit / 64] >> bit % 64 & 1)
            out = scalar_mul(curve, &out, a);
    }
    return out;
}

static inline struct scalar scalar_pow_small(const struct curve *curve, const struct scalar *a,
                                             uint64_t exponent)
{
    uint64_t words[FR_WORDS] = {exponent};
    return scalar_pow(curve, a, words);
}

static inline struct scalar scalar_inverse(const struct curve *curve, const struct scalar *a)
{
    uint64_t exponent[FR_WORDS], two[FR_WORDS] = {2};
    words_subtract(exponent, curve->fr_modulus, two);
    return scalar_pow(curve, a, exponent);
}

/* 5^((r - 1) / 2^log2_order): the root that snarkjs takes, on both curves. */
static inline struct scalar scalar_root(const struct curve *curve, unsigned log2_order)
{
    uint64_t exponent[FR_WORDS], one[FR_WORDS] = {1};
    struct scalar five = scalar_from(curve, 5);
    words_subtract(exponent, curve->fr_modulus, one);
    for (unsigned i = 0; i < log2_order; i++) {
        for (int j = 0; j < FR_WORDS; j++)
            exponent[j] = exponent[j] >> 1 | (j + 1 < FR_WORDS ? exponent[j + 1] << 63 : 0);
    }
    return scalar_pow(curve, &five, exponent);
}

/* Replaces each of count elements, none zero, by its inverse; `prefix` is scratch of the same
 * length. */
static inline void scalars_invert(const struct curve *curve, struct scalar *x, size_t count,
                                  struct scalar *prefix)
{
    struct scalar product = scalar_from(curve, 1);
    for (size_t i = 0; i < count; i++) {
        prefix[i] = product;
        product = scalar_mul(curve, &product, &x[i]);
    }
    product = scalar_inverse(curve, &product);
    for (size_t i = count; i-- > 0;) {
        struct scalar inverse = scalar_mul(curve, &product, &prefix[i]);
        product = scalar_mul(curve, &product, &x[i]);
        x[i] = inverse;
    }
}

#endif
