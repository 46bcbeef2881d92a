/*
 * A prime field, portable C: included by fields.h once for Fr and once for Fq (so no guard).
 *
 * Wants FIELD (the prefix), FIELD_LIMBS, FIELD_NEGATIVE_INVERSE (-p^-1 mod 2^64) and, from the
 * generated constants, FIELD_modulus, FIELD_one, FIELD_r_squared, FIELD_inverse_exponent.
 *
 * Every modulus here leaves the top bit of its top word free. So a sum of two elements does not
 * overflow, and the interleaved Montgomery product (Koc, Acar, Kaliski 1996, "CIOS") needs no word
 * beyond FIELD_LIMBS: the two carries of a round add up without one of their own. The forms adx and
 * ifma take the product from field_adx.h; all else is the same text.
 */
#ifndef FIELD_TYPE
#define FIELD_JOIN_(a, b) a##_##b
#define FIELD_JOIN(a, b) FIELD_JOIN_(a, b)
#define FIELD_FN(name) FIELD_JOIN(FIELD, name)
#define FIELD_TYPE struct FIELD
#endif

static const FIELD_TYPE FIELD_FN(zero);

/* 1 where the words, read as an integer, are below the modulus. */
static inline int FIELD_FN(is_canonical)(const uint64_t *x)
{
    uint64_t borrow = 0;
    for (int i = 0; i < FIELD_LIMBS; i++) {
        unsigned __int128 d = (unsigned __int128)x[i] - FIELD_FN(modulus)[i] - borrow;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return (int)borrow;
}

/* out = x or x - p, whichever is canonical; x is below 2p. */
FIELD_INLINE void FIELD_FN(reduce_once)(FIELD_TYPE *out, const uint64_t *x)
{
    uint64_t d[FIELD_LIMBS];
    unsigned char borrow = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        borrow = word_sub(borrow, x[i], FIELD_FN(modulus)[i], &d[i]);
    const uint64_t keep = 0 - (uint64_t)borrow;
    for (int i = 0; i < FIELD_LIMBS; i++)
        out->word[i] = word_select(keep, x[i], d[i]);
}

FIELD_INLINE void FIELD_FN(add)(FIELD_TYPE *out, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t s[FIELD_LIMBS];
    unsigned char carry = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        carry = word_add(carry, a->word[i], b->word[i], &s[i]);
    FIELD_FN(reduce_once)(out, s);
}

FIELD_INLINE void FIELD_FN(sub)(FIELD_TYPE *out, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t d[FIELD_LIMBS];
    unsigned char borrow = 0, carry = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        borrow = word_sub(borrow, a->word[i], b->word[i], &d[i]);
    const uint64_t mask = 0 - (uint64_t)borrow;
    for (int i = 0; i < FIELD_LIMBS; i++)
        carry = word_add(carry, d[i], FIELD_FN(modulus)[i] & mask, &out->word[i]);
}

static inline void FIELD_FN(double)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    FIELD_FN(add)(out, a, a);
}

static inline void FIELD_FN(neg)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    FIELD_FN(sub)(out, &FIELD_FN(zero), a);
}

static inline int FIELD_FN(is_zero)(const FIELD_TYPE *a)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->word[i];
    return any == 0;
}

static inline int FIELD_FN(equal)(const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t any = 0;
    for (int i = 0; i < FIELD_LIMBS; i++)
        any |= a->word[i] ^ b->word[i];
    return any == 0;
}

#if FORM_NUMBER == 0
/* t = (t + a * b + m * p) / 2^64 with the m that makes the division exact; b is one word. */
static inline __attribute__((always_inline)) void FIELD_FN(mul_round)(uint64_t *t,
                                                                      const uint64_t *a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a[0] * b + t[0];
    const uint64_t m = (uint64_t)product * FIELD_NEGATIVE_INVERSE;
    unsigned __int128 reduced = (unsigned __int128)m * FIELD_FN(modulus)[0] + (uint64_t)product;
    for (int j = 1; j < FIELD_LIMBS; j++) {
        product = (unsigned __int128)a[j] * b + t[j] + (uint64_t)(product >> 64);
        reduced = (unsigned __int128)m * FIELD_FN(modulus)[j] + (uint64_t)product +
                  (uint64_t)(reduced >> 64);
        t[j - 1] = (uint64_t)reduced;
    }
    t[FIELD_LIMBS - 1] = (uint64_t)(product >> 64) + (uint64_t)(reduced >> 64);
}

/* out = a * b / R mod p */
FIELD_INLINE void FIELD_FN(mul)(FIELD_TYPE *out, const FIELD_TYPE *a, const FIELD_TYPE *b)
{
    uint64_t t[FIELD_LIMBS] = {0};
    for (int i = 0; i < FIELD_LIMBS; i++)
        FIELD_FN(mul_round)(t, a->word, b->word[i]);
    FIELD_FN(reduce_once)(out, t);
}
#else
#include "kernels/field/field_adx.h"
#endif

static inline void FIELD_FN(square)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    FIELD_FN(mul)(out, a, a);
}

/* a is plain, below p */
static inline void FIELD_FN(to_montgomery)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    FIELD_FN(mul)(out, a, &FIELD_FN(r_squared));
}

static inline void FIELD_FN(from_montgomery)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    static const FIELD_TYPE plain_one = {{1}};
    FIELD_FN(mul)(out, a, &plain_one);
}

/* out = a^exponent; the exponent is `words` little-endian words, and not secret. */
FIELD_OUT_OF_LINE void FIELD_FN(pow)(FIELD_TYPE *out, const FIELD_TYPE *a, const uint64_t *exponent,
                                     int words)
{
    const FIELD_TYPE base = *a;
    FIELD_TYPE acc = FIELD_FN(one);
    for (int bit = 64 * words - 1; bit >= 0; bit--) {
        FIELD_FN(square)(&acc, &acc);
        if (exponent[bit / 64] >> (bit % 64) & 1)
            FIELD_FN(mul)(&acc, &acc, &base);
    }
    *out = acc;
}

/* By Fermat: a^(p - 2). The inverse of zero is zero. */
FIELD_OUT_OF_LINE void FIELD_FN(inverse)(FIELD_TYPE *out, const FIELD_TYPE *a)
{
    FIELD_FN(pow)(out, a, FIELD_FN(inverse_exponent), FIELD_LIMBS);
}

#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_NEGATIVE_INVERSE
