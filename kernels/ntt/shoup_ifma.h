/*
 * Products with constants known beforehand, eight lanes at a time. Included by ntt's *_ifma.c. No
 * state.
 *
 * With w' = floor(w 2^260 / p) beside w, q = floor(v w' / 2^260) is the quotient of v w by p, or at
 * most one less, so that v w - q p needs only the low halves of two products and q the high half of
 * one (Shoup; Harvey 2014, "Faster arithmetic for number-theoretic transforms"). 84 multiply-adds
 * for 8 products where Montgomery's take 100, without a chain from limb to limb, and no form of v
 * or w is presumed: v keeps the factor that it has.
 *
 * Values here are raw: limbs of any sign below 2^63, the value known modulo 2^260, its true value
 * within what the caller keeps account of. Raw values are added limb by limb; carries are
 * propagated only in front of a product. Only the low 52 bits of a limb enter a product, so no
 * carry needs a mask.
 */
#ifndef PAWL_KERNELS_NTT_SHOUP_IFMA_H
#define PAWL_KERNELS_NTT_SHOUP_IFMA_H

#include "kernels/field/vector_ifma.h"

enum { SHOUP_LIMBS = 5 };

/* One constant for all lanes. */
struct shoup {
    uint64_t w[SHOUP_LIMBS], q[SHOUP_LIMBS];
};

/* A constant for each lane. */
struct shoup_x8 {
    struct fr_x8 w, q;
};

/* Eight of them out of an array: lane i is from[i]. */
static inline void shoup_lanes(struct shoup_x8 *out, const struct shoup from[8])
{
    uint64_t lane[8];
    for (int limb = 0; limb < SHOUP_LIMBS; limb++) {
        for (int i = 0; i < 8; i++)
            lane[i] = from[i].w[limb];
        out->w.limb[limb] = _mm512_loadu_si512(lane);
        for (int i = 0; i < 8; i++)
            lane[i] = from[i].q[limb];
        out->q.limb[limb] = _mm512_loadu_si512(lane);
    }
}

VECTOR_INLINE void shoup_broadcast(struct shoup_x8 *out, const struct shoup *constant)
{
    fr_x8_broadcast_limbs(&out->w, constant->w);
    fr_x8_broadcast_limbs(&out->q, constant->q);
}

/* Carries of a raw value that is at least 0 and below 2^260: ready to be multiplied. */
VECTOR_INLINE void shoup_carry(struct fr_x8 *v)
{
    VECTOR_UNROLL
    for (int j = 0; j + 1 < SHOUP_LIMBS; j++)
        v->limb[j + 1] = _mm512_add_epi64(v->limb[j + 1], _mm512_srai_epi64(v->limb[j], 52));
}

/* The same for a raw value from -16 p on, after adding 16 p. */
VECTOR_INLINE void shoup_lift(struct fr_x8 *v)
{
    fr_x8_lift_loaded_raw(v);
    shoup_carry(v);
}

/*
 * From within -16 .. 16 (and a little) to 0 .. 1 (and a little), raw to raw: the quotient by p
 * comes from the top limb, with what limb 3 carries into it.
 */
VECTOR_INLINE void shoup_reduce(struct fr_x8 *x)
{
    fr_x8_lift_loaded_raw(x);
    __m512i top = _mm512_add_epi64(x->limb[4], _mm512_srai_epi64(x->limb[3], 52));
    __m512i q = vector_high(_mm512_setzero_si512(), top, _mm512_set1_epi64(fr_quotient_52));
    q = _mm512_srli_epi64(q, 45);
    VECTOR_UNROLL
    for (int j = 0; j < SHOUP_LIMBS; j++) {
        const __m512i complement = _mm512_set1_epi64((long long)fr_complement_52[j]);
        x->limb[j] = vector_low(x->limb[j], q, complement);
        if (j + 1 < SHOUP_LIMBS)
            x->limb[j + 1] = vector_high(x->limb[j + 1], q, complement);
    }
}

/* q = floor(v w' / 2^260) or one less, in the low 52 bits of its limbs; v as of shoup_carry. */
VECTOR_INLINE void shoup_quotient(struct fr_x8 *q, const struct fr_x8 *v, const struct fr_x8 *w)
{
    __m512i high[2 * SHOUP_LIMBS];
    VECTOR_UNROLL
    for (int k = 4; k < 2 * SHOUP_LIMBS; k++)
        high[k] = _mm512_setzero_si512();
    VECTOR_UNROLL
    for (int i = 0; i < SHOUP_LIMBS; i++) {
        VECTOR_UNROLL
        for (int j = 0; j < SHOUP_LIMBS; j++) {
            if (i + j >= 4)
                high[i + j] = vector_low(high[i + j], v->limb[i], w->limb[j]);
            if (i + j >= 3)
                high[i + j + 1] = vector_high(high[i + j + 1], v->limb[i], w->limb[j]);
        }
    }
    VECTOR_UNROLL
    for (int k = 4; k + 1 < 2 * SHOUP_LIMBS; k++)
        high[k + 1] = _mm512_add_epi64(high[k + 1], _mm512_srli_epi64(high[k], 52));
    VECTOR_UNROLL
    for (int j = 0; j < SHOUP_LIMBS; j++)
        q->limb[j] = high[SHOUP_LIMBS + j];
}

/* acc += a * b modulo 2^260, raw */
VECTOR_INLINE void shoup_add_low(struct fr_x8 *acc, const struct fr_x8 *a, const struct fr_x8 *b)
{
    VECTOR_UNROLL
    for (int i = 0; i < SHOUP_LIMBS; i++) {
        VECTOR_UNROLL
        for (int j = 0; i + j < SHOUP_LIMBS; j++) {
            acc->limb[i + j] = vector_low(acc->limb[i + j], a->limb[i], b->limb[j]);
            if (i + j + 1 < SHOUP_LIMBS)
                acc->limb[i + j + 1] = vector_high(acc->limb[i + j + 1], a->limb[i], b->limb[j]);
        }
    }
}

/* out = v w + start, raw, from 0 to 2p + start; v as of shoup_carry. */
VECTOR_INLINE void shoup_mul_from(struct fr_x8 *out, const struct fr_x8 *start,
                                  const struct fr_x8 *v, const struct shoup_x8 *constant)
{
    struct fr_x8 q, complement, acc = *start;
    fr_x8_broadcast_limbs(&complement, fr_complement_52);
    shoup_add_low(&acc, v, &constant->w);
    shoup_quotient(&q, v, &constant->q);
    shoup_add_low(&acc, &q, &complement);
    *out = acc;
}

/* out = v w, raw, from -p to (1 + 2^-49) p: the accumulators start at -p. */
VECTOR_INLINE void shoup_mul(struct fr_x8 *out, const struct fr_x8 *v,
                             const struct shoup_x8 *constant)
{
    struct fr_x8 start;
    fr_x8_broadcast_limbs(&start, fr_complement_52);
    shoup_mul_from(out, &start, v, constant);
}

/* The constant of an element (Montgomery, canonical). q is what a Montgomery reduction of w 2^260
 * mod p finds limb by limb, and w what it leaves. */
static inline void shoup_make(struct shoup *out, const struct fr *montgomery)
{
    const uint64_t mask = VECTOR_MASK52, inverse = FR_NEGATIVE_INVERSE & mask;
    uint64_t t[SHOUP_LIMBS + 1] = {0};
    struct fr x = *montgomery;
    for (int i = 0; i < 4; i++)
        fr_double(&x, &x);
    for (int j = 0; j < SHOUP_LIMBS; j++) {
        const int at = 52 * j / 64, bit = 52 * j % 64;
        uint64_t above = bit > 12 && at + 1 < FR_LIMBS ? x.word[at + 1] << (64 - bit) : 0;
        t[j] = (x.word[at] >> bit | above) & mask;
    }
    for (int round = 0; round < SHOUP_LIMBS; round++) {
        const uint64_t m = t[0] * inverse & mask;
        unsigned __int128 carry = 0;
        for (int j = 0; j < SHOUP_LIMBS; j++) {
            carry += (unsigned __int128)m * fr_modulus_52[j] + t[j];
            if (j)
                t[j - 1] = (uint64_t)carry & mask;
            carry >>= 52;
        }
        t[SHOUP_LIMBS - 1] = (uint64_t)carry;
        out->q[round] = m;
    }
    for (int j = 0; j < SHOUP_LIMBS; j++)
        out->w[j] = t[j];
}

/* The element of a constant, Montgomery. */
static inline void shoup_element(struct fr *out, const struct shoup *constant)
{
    const uint64_t *w = constant->w;
    const struct fr plain = {{w[0] | w[1] << 52, w[1] >> 12 | w[2] << 40, w[2] >> 24 | w[3] << 28,
                              w[3] >> 36 | w[4] << 16}};
    fr_to_montgomery(out, &plain);
}

#endif
