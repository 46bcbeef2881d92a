/*
 * The inverse in Fq by a binary gcd: a batch of additions waits for one, so its cost sets how small
 * a batch may be. Private to msm/; not in constant time; no state.
 *
 * Thomas Pornin, "Optimized Binary GCD for Modular Inversion" (eprint 2020/972), here in variable
 * time and with the division by 2^GCD_STEPS done modulo p: with y the element's words, a = y * u
 * and b = y * v (mod p) hold throughout, b stays odd, and when a is 0, b is 1 and v is 1 / y.
 * GCD_STEPS steps run on 64-bit images of a and b (their lowest GCD_STEPS bits below their leading
 * ones), then the factors found are applied to all four numbers at once.
 */
#ifndef PAWL_KERNELS_MSM_INVERSE_H
#define PAWL_KERNELS_MSM_INVERSE_H

#include <string.h>

#include "kernels/field/fields.h"

enum { GCD_STEPS = 30, GCD_TOP_BITS = 64 - GCD_STEPS };

struct gcd {
    uint64_t a[FQ_LIMBS], b[FQ_LIMBS], u[FQ_LIMBS], v[FQ_LIMBS];
};

/* a = (a fa + b ga) / 2^GCD_STEPS and b = (a fb + b gb) / 2^GCD_STEPS */
struct gcd_factors {
    int64_t fa, ga, fb, gb;
};

static inline int gcd_is_zero(const uint64_t *a)
{
    uint64_t any = 0;
    for (int i = 0; i < FQ_LIMBS; i++)
        any |= a[i];
    return any == 0;
}

/* The images: exact where both numbers fit a word. */
static inline void gcd_images(const struct gcd *s, uint64_t *a, uint64_t *b)
{
    int top = FQ_LIMBS - 1;
    while (top > 0 && (s->a[top] | s->b[top]) == 0)
        top--;
    *a = s->a[0];
    *b = s->b[0];
    if (top == 0)
        return;
    unsigned free_bits = (unsigned)__builtin_clzll(s->a[top] | s->b[top]);
    const uint64_t low = ((uint64_t)1 << GCD_STEPS) - 1;
    uint64_t high_a = s->a[top] << free_bits, high_b = s->b[top] << free_bits;
    if (free_bits) {
        high_a |= s->a[top - 1] >> (64 - free_bits);
        high_b |= s->b[top - 1] >> (64 - free_bits);
    }
    *a = (*a & low) | high_a >> GCD_STEPS << GCD_STEPS;
    *b = (*b & low) | high_b >> GCD_STEPS << GCD_STEPS;
}

/* Both factors of a number ride in one word, the second in its upper half. */
static inline void gcd_unpack(uint64_t packed, int64_t *f, int64_t *g)
{
    *f = (int32_t)(uint32_t)packed;
    *g = (int64_t)(packed - (uint64_t)*f) >> 32;
}

static inline struct gcd_factors gcd_steps(uint64_t a, uint64_t b)
{
    struct gcd_factors out;
    uint64_t factors_a = 1, factors_b = (uint64_t)1 << 32;
    for (int i = 0; i < GCD_STEPS; i++) {
        const uint64_t odd = 0 - (a & 1), swap = odd & (0 - (uint64_t)(a < b));
        uint64_t t = (a ^ b) & swap;
        a ^= t;
        b ^= t;
        t = (factors_a ^ factors_b) & swap;
        factors_a ^= t;
        factors_b ^= t;
        a = (a - (b & odd)) >> 1;
        factors_a -= factors_b & odd;
        factors_b <<= 1;
    }
    gcd_unpack(factors_a, &out.fa, &out.ga);
    gcd_unpack(factors_b, &out.fb, &out.gb);
    return out;
}

/* out = x f + y g, two's complement with one word more than x and y have */
static inline void gcd_combine(uint64_t *out, const uint64_t *x, int64_t f, const uint64_t *y,
                               int64_t g)
{
    __int128 sum = 0;
    for (int i = 0; i < FQ_LIMBS; i++) {
        sum += (__int128)x[i] * f + (__int128)y[i] * g;
        out[i] = (uint64_t)sum;
        sum >>= 64;
    }
    out[FQ_LIMBS] = (uint64_t)sum;
}

/* out = x / 2^GCD_STEPS, x with one word more, not negative after the shift */
static inline void gcd_shift(uint64_t *out, const uint64_t *x)
{
    for (int i = 0; i < FQ_LIMBS; i++)
        out[i] = x[i] >> GCD_STEPS | x[i + 1] << (64 - GCD_STEPS);
}

/* out = |x f + y g| / 2^GCD_STEPS, exact; the factors change sign with it. */
static inline void gcd_reduce_number(uint64_t *out, const uint64_t *x, int64_t *f,
                                     const uint64_t *y, int64_t *g)
{
    uint64_t wide[FQ_LIMBS + 1];
    gcd_combine(wide, x, *f, y, *g);
    if (wide[FQ_LIMBS] >> 63) {
        *f = -*f;
        *g = -*g;
        gcd_combine(wide, x, *f, y, *g);
    }
    gcd_shift(out, wide);
}

/* out = (x f + y g) / 2^GCD_STEPS mod p */
static inline void gcd_reduce_modular(uint64_t *out, const uint64_t *x, int64_t f,
                                      const uint64_t *y, int64_t g)
{
    uint64_t wide[FQ_LIMBS + 1];
    gcd_combine(wide, x, f, y, g);
    const uint64_t mask = ((uint64_t)1 << GCD_STEPS) - 1;
    const uint64_t times = wide[0] * FQ_NEGATIVE_INVERSE & mask;
    /* a sum below 0 is above -2^GCD_STEPS p: that much more makes it positive, below 2 p after all
     */
    unsigned __int128 sum = 0;
    const uint64_t factor = wide[FQ_LIMBS] >> 63 ? times + ((uint64_t)1 << GCD_STEPS) : times;
    for (int i = 0; i < FQ_LIMBS; i++) {
        sum += (unsigned __int128)fq_modulus[i] * factor + wide[i];
        wide[i] = (uint64_t)sum;
        sum >>= 64;
    }
    wide[FQ_LIMBS] += (uint64_t)sum;
    uint64_t shifted[FQ_LIMBS];
    struct fq reduced;
    gcd_shift(shifted, wide);
    fq_reduce_once(&reduced, shifted);
    memcpy(out, reduced.word, sizeof(reduced));
}

static inline void gcd_apply(struct gcd *s, struct gcd_factors by)
{
    struct gcd next = {.a = {0}};
    gcd_reduce_number(next.a, s->a, &by.fa, s->b, &by.ga);
    gcd_reduce_number(next.b, s->a, &by.fb, s->b, &by.gb);
    gcd_reduce_modular(next.u, s->u, by.fa, s->v, by.ga);
    gcd_reduce_modular(next.v, s->u, by.fb, s->v, by.gb);
    *s = next;
}

/* out = 1 / x, Montgomery, canonical; x is not zero. v is x^-1 / R: two products with R^2 mend it.
 */
FIELD_OUT_OF_LINE void fq_inverse_gcd(struct fq *out, const struct fq *x)
{
    struct gcd s = {.u = {1}};
    memcpy(s.a, x->word, sizeof(s.a));
    memcpy(s.b, fq_modulus, sizeof(s.b));
    while (!gcd_is_zero(s.a)) {
        uint64_t a, b;
        gcd_images(&s, &a, &b);
        gcd_apply(&s, gcd_steps(a, b));
    }
    memcpy(out->word, s.v, sizeof(s.v));
    fq_mul(out, out, &fq_r_squared);
    fq_mul(out, out, &fq_r_squared);
}

/* conj(x) / (c0^2 + c1^2) */
FIELD_OUT_OF_LINE void fq2_inverse_gcd(struct fq2 *out, const struct fq2 *x)
{
    struct fq norm, t;
    struct fq2 conjugate;
    fq_square(&norm, &x->c0);
    fq_square(&t, &x->c1);
    fq_add(&norm, &norm, &t);
    fq_inverse_gcd(&norm, &norm);
    fq2_conjugate(&conjugate, x);
    fq2_scale(out, &conjugate, &norm);
}

#endif
