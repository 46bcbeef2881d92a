/*
 * The fields of the curve that this file is compiled for: Fr (scalars), Fq (coordinates), Fq2.
 *
 * Elements are little-endian 64-bit words in Montgomery form (x * R mod p, R = 2^(64 * limbs)),
 * always canonical, so that equality is a comparison of words. Each of the three has, with `fr`,
 * `fq` or `fq2` in front,
 *
 *     _add _sub _mul (out, a, b)      _neg _double _square _inverse (out, a)      0^-1 is 0
 *     _is_zero (a)  _equal (a, b)     and the constants _zero and _one
 *
 * and the two prime fields _to_montgomery, _from_montgomery (out, a), _is_canonical (words) and
 * _pow (out, a, exponent words, count). `out` may be any of the operands. Nothing is promised to
 * run in constant time save that add, sub, neg, double, mul and square have no branches on values.
 *
 * The two prime fields are one template, field_template.h; a faster form of an operation stands
 * beside it there. Constants come from constants.py.
 */
#ifndef PAWL_KERNELS_FIELD_FIELDS_H
#define PAWL_KERNELS_FIELD_FIELDS_H

#include "kernels/field/curve_select.h"

#include <stdint.h>
#if FORM_NUMBER != 0
#include <immintrin.h>
#endif

struct fr {
    uint64_t word[FR_LIMBS];
};
struct fq {
    uint64_t word[FQ_LIMBS];
};
/* c0 + c1 u, u^2 = -1 on both curves */
struct fq2 {
    struct fq c0, c1;
};

#if CURVE_NUMBER == 1
#include "kernels/field/constants_bn254.h"
#else
#include "kernels/field/constants_bls12381.h"
#endif

/*
 * For what is built from several products: a call costs less than the code cache that copies of the
 * body would (a G2 addition is a quarter faster so, and its file compiles in a tenth of the time).
 */
#define FIELD_OUT_OF_LINE static __attribute__((noinline, unused))
/* The products and sums themselves; a sanitizer's checks make their copies too large to compile. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FIELD_INLINE FIELD_OUT_OF_LINE
#else
#define FIELD_INLINE static inline
#endif

/* *out = a + b + carry or a - b - borrow; the carry or borrow out, 0 or 1. */
#if FORM_NUMBER == 0
static inline unsigned char word_add(unsigned char carry, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned __int128 t = (unsigned __int128)a + b + carry;
    *out = (uint64_t)t;
    return (unsigned char)(t >> 64);
}

static inline unsigned char word_sub(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned __int128 t = (unsigned __int128)a - b - borrow;
    *out = (uint64_t)t;
    return (unsigned char)(t >> 64 & 1);
}
#else
static inline unsigned char word_add(unsigned char carry, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned long long sum;
    carry = _addcarry_u64(carry, a, b, &sum);
    *out = sum;
    return carry;
}

static inline unsigned char word_sub(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *out)
{
    unsigned long long difference;
    borrow = _subborrow_u64(borrow, a, b, &difference);
    *out = difference;
    return borrow;
}
#endif

/*
 * a where the mask is all ones, b where it is zero. A word by itself: gathered in vectors, as the
 * compiler would have it, the words just stored would be waited for (two thirds of an addition).
 */
static inline uint64_t word_select(uint64_t mask, uint64_t a, uint64_t b)
{
    uint64_t word = (a & mask) | (b & ~mask);
    __asm__("" : "+r"(word));
    return word;
}

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_NEGATIVE_INVERSE FR_NEGATIVE_INVERSE
#include "kernels/field/field_template.h"

#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#define FIELD_NEGATIVE_INVERSE FQ_NEGATIVE_INVERSE
#include "kernels/field/field_template.h"

#include "kernels/field/fq2.h"

#endif
