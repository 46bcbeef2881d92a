/*
 * A prime field in eight lanes: included by vector_ifma.h once for Fr and once for Fq (so no
 * guard); contracts and bounds are there. Wants FIELD, FIELD_LIMBS (words), FIELD_NEGATIVE_INVERSE.
 *
 * The product (Montgomery 1985, a limb a round): low and high halves of the partial products are
 * summed apart, so that the chains from round to round are short, and carries are propagated once,
 * at the end; an accumulator takes 2 halves of 52 bits a round, far from 64 bits. The lowest limb
 * of t + m p is zero by the choice of m, so it is not computed: its carry is 1 more than that of t
 * unless t's low bits are zero, which adding 2^52 - 1 gives. 4 N^2 multiply-adds for N limbs (N for
 * m, N saved): 100 and 256. A square makes the products off the diagonal once: 80 and 200.
 */
#define VECTOR_FN(name) FIELD_JOIN(FIELD_JOIN(FIELD, x8), name)
#define VECTOR_TYPE struct FIELD_JOIN(FIELD, x8)
#if FIELD_LIMBS == 4
#define VECTOR_LIMBS 5
#define VECTOR_SHIFT 4
#else
#define VECTOR_LIMBS 8
#define VECTOR_SHIFT 32
#endif

VECTOR_TYPE
{
    __m512i limb[VECTOR_LIMBS];
};

/* limb j of one of the generated constants, in all lanes */
#define VECTOR_CONSTANT(name, j) _mm512_set1_epi64((long long)FIELD_FN(name)[j])

/* ---- carries ---- */

/* Limbs of any sign and less than 63 bits to limbs below 2^52; the value is within 0 .. R' - 1. */
VECTOR_INLINE void VECTOR_FN(normalize)(VECTOR_TYPE *x)
{
    const __m512i mask = _mm512_set1_epi64(VECTOR_MASK52);
    VECTOR_UNROLL
    for (int j = 0; j + 1 < VECTOR_LIMBS; j++) {
        x->limb[j + 1] = _mm512_add_epi64(x->limb[j + 1], _mm512_srai_epi64(x->limb[j], 52));
        x->limb[j] = _mm512_and_si512(x->limb[j], mask);
    }
}

/* The same without the carry out of the top. */
VECTOR_INLINE void VECTOR_FN(normalize_wrapping)(VECTOR_TYPE *x)
{
    VECTOR_FN(normalize)(x);
    x->limb[VECTOR_LIMBS - 1] =
        _mm512_and_si512(x->limb[VECTOR_LIMBS - 1], _mm512_set1_epi64(VECTOR_MASK52));
}

/* ---- sums; the _raw ones leave limbs that are not normalised (signed), for several in a row ----
 */

VECTOR_INLINE void VECTOR_FN(add_raw)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_add_epi64(a->limb[j], b->limb[j]);
}

VECTOR_INLINE void VECTOR_FN(sub_raw)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_sub_epi64(a->limb[j], b->limb[j]);
}

/* out += 4 p, and LOADED p: to make a difference positive before it is normalised */
VECTOR_INLINE void VECTOR_FN(lift_raw)(VECTOR_TYPE *out)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_add_epi64(out->limb[j], VECTOR_CONSTANT(modulus_times_4_52, j));
}

VECTOR_INLINE void VECTOR_FN(lift_loaded_raw)(VECTOR_TYPE *out)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_add_epi64(out->limb[j], VECTOR_CONSTANT(modulus_times_loaded_52, j));
}

VECTOR_INLINE void VECTOR_FN(add)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    VECTOR_FN(add_raw)(out, a, b);
    VECTOR_FN(normalize)(out);
}

VECTOR_INLINE void VECTOR_FN(double)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_FN(add)(out, a, a);
}

VECTOR_INLINE void VECTOR_FN(sub)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    VECTOR_FN(sub_raw)(out, a, b);
    VECTOR_FN(lift_raw)(out);
    VECTOR_FN(normalize)(out);
}

VECTOR_INLINE void VECTOR_FN(sub_loaded)(VECTOR_TYPE *out, const VECTOR_TYPE *a,
                                         const VECTOR_TYPE *b)
{
    VECTOR_FN(sub_raw)(out, a, b);
    VECTOR_FN(lift_loaded_raw)(out);
    VECTOR_FN(normalize)(out);
}

VECTOR_INLINE void VECTOR_FN(zero)(VECTOR_TYPE *out)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_setzero_si512();
}

VECTOR_INLINE void VECTOR_FN(neg)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_TYPE nothing;
    VECTOR_FN(zero)(&nothing);
    VECTOR_FN(sub)(out, &nothing, a);
}

VECTOR_INLINE void VECTOR_FN(neg_loaded)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_TYPE nothing;
    VECTOR_FN(zero)(&nothing);
    VECTOR_FN(sub_loaded)(out, &nothing, a);
}

/* out = mask ? b : a, lane by lane */
VECTOR_INLINE void VECTOR_FN(select)(VECTOR_TYPE *out, __mmask8 mask, const VECTOR_TYPE *a,
                                     const VECTOR_TYPE *b)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_mask_mov_epi64(a->limb[j], mask, b->limb[j]);
}

/* ---- products ---- */

/* What a product is summed up in: low halves at their limb, high halves at the one above. */
struct VECTOR_FN(sum) {
    __m512i low[VECTOR_LIMBS], high[VECTOR_LIMBS];
};

VECTOR_INLINE void VECTOR_FN(sum_clear)(struct VECTOR_FN(sum) * t)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        t->low[j] = t->high[j] = _mm512_setzero_si512();
}

/* t += a * b, b one limb */
VECTOR_INLINE void VECTOR_FN(sum_add)(struct VECTOR_FN(sum) * t, const VECTOR_TYPE *a, __m512i b)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++) {
        t->low[j] = vector_low(t->low[j], a->limb[j], b);
        t->high[j] = vector_high(t->high[j], a->limb[j], b);
    }
}

/* t = (t + m p) / 2^52 with the m that makes the division exact */
VECTOR_INLINE void VECTOR_FN(sum_reduce)(struct VECTOR_FN(sum) * t)
{
    const __m512i inverse = _mm512_set1_epi64(FIELD_NEGATIVE_INVERSE & VECTOR_MASK52);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i m = vector_low(zero, t->low[0], inverse);
    __m512i carry = _mm512_add_epi64(t->low[0], _mm512_set1_epi64(VECTOR_MASK52));
    carry = _mm512_srli_epi64(carry, 52);
    t->high[0] = vector_high(t->high[0], m, VECTOR_CONSTANT(modulus_52, 0));
    VECTOR_UNROLL
    for (int j = 1; j < VECTOR_LIMBS; j++) {
        t->low[j] = vector_low(t->low[j], m, VECTOR_CONSTANT(modulus_52, j));
        t->high[j] = vector_high(t->high[j], m, VECTOR_CONSTANT(modulus_52, j));
    }
    t->low[0] = _mm512_add_epi64(_mm512_add_epi64(t->low[1], carry), t->high[0]);
    VECTOR_UNROLL
    for (int j = 1; j + 1 < VECTOR_LIMBS; j++)
        t->low[j] = t->low[j + 1];
    VECTOR_UNROLL
    for (int j = 0; j + 1 < VECTOR_LIMBS; j++)
        t->high[j] = t->high[j + 1];
    t->low[VECTOR_LIMBS - 1] = t->high[VECTOR_LIMBS - 1] = zero;
}

VECTOR_INLINE void VECTOR_FN(sum_finish)(VECTOR_TYPE *out, const struct VECTOR_FN(sum) * t)
{
    out->limb[0] = t->low[0];
    VECTOR_UNROLL
    for (int j = 1; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_add_epi64(t->low[j], t->high[j - 1]);
    VECTOR_FN(normalize)(out);
}

VECTOR_INLINE void VECTOR_FN(mul)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    struct VECTOR_FN(sum) t;
    VECTOR_FN(sum_clear)(&t);
    VECTOR_UNROLL
    for (int i = 0; i < VECTOR_LIMBS; i++) {
        VECTOR_FN(sum_add)(&t, a, b->limb[i]);
        VECTOR_FN(sum_reduce)(&t);
    }
    VECTOR_FN(sum_finish)(out, &t);
}

/* out = (a * b + c * d) / R': one reduction for two products */
VECTOR_INLINE void VECTOR_FN(mul_add)(VECTOR_TYPE *out, const VECTOR_TYPE *a, const VECTOR_TYPE *b,
                                      const VECTOR_TYPE *c, const VECTOR_TYPE *d)
{
    struct VECTOR_FN(sum) t;
    VECTOR_FN(sum_clear)(&t);
    VECTOR_UNROLL
    for (int i = 0; i < VECTOR_LIMBS; i++) {
        VECTOR_FN(sum_add)(&t, a, b->limb[i]);
        VECTOR_FN(sum_add)(&t, c, d->limb[i]);
        VECTOR_FN(sum_reduce)(&t);
    }
    VECTOR_FN(sum_finish)(out, &t);
}

/* a^2 as 2 N limbs, not normalised: the partial products off the diagonal once, doubled. */
VECTOR_INLINE void VECTOR_FN(square_wide)(__m512i t[2 * VECTOR_LIMBS], const VECTOR_TYPE *a)
{
    VECTOR_UNROLL
    for (int j = 0; j < 2 * VECTOR_LIMBS; j++)
        t[j] = _mm512_setzero_si512();
    VECTOR_UNROLL
    for (int i = 0; i < VECTOR_LIMBS; i++) {
        VECTOR_UNROLL
        for (int j = i + 1; j < VECTOR_LIMBS; j++) {
            t[i + j] = vector_low(t[i + j], a->limb[i], a->limb[j]);
            t[i + j + 1] = vector_high(t[i + j + 1], a->limb[i], a->limb[j]);
        }
    }
    VECTOR_UNROLL
    for (int j = 1; j < 2 * VECTOR_LIMBS - 1; j++)
        t[j] = _mm512_add_epi64(t[j], t[j]);
    VECTOR_UNROLL
    for (int i = 0; i < VECTOR_LIMBS; i++) {
        t[2 * i] = vector_low(t[2 * i], a->limb[i], a->limb[i]);
        t[2 * i + 1] = vector_high(t[2 * i + 1], a->limb[i], a->limb[i]);
    }
}

/* t[1 ..] = (t + m p) / 2^52 */
VECTOR_INLINE void VECTOR_FN(wide_reduce)(__m512i t[VECTOR_LIMBS + 1])
{
    const __m512i inverse = _mm512_set1_epi64(FIELD_NEGATIVE_INVERSE & VECTOR_MASK52);
    const __m512i m = vector_low(_mm512_setzero_si512(), t[0], inverse);
    __m512i carry = _mm512_add_epi64(t[0], _mm512_set1_epi64(VECTOR_MASK52));
    t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(carry, 52));
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        t[j + 1] = vector_high(t[j + 1], m, VECTOR_CONSTANT(modulus_52, j));
    VECTOR_UNROLL
    for (int j = 1; j < VECTOR_LIMBS; j++)
        t[j] = vector_low(t[j], m, VECTOR_CONSTANT(modulus_52, j));
}

VECTOR_INLINE void VECTOR_FN(square)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    __m512i t[2 * VECTOR_LIMBS];
    VECTOR_FN(square_wide)(t, a);
    VECTOR_UNROLL
    for (int i = 0; i < VECTOR_LIMBS; i++)
        VECTOR_FN(wide_reduce)(t + i);
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = t[VECTOR_LIMBS + j];
    VECTOR_FN(normalize)(out);
}

/* ---- to the canonical value ---- */

/* v - q p with q = floor(v / p) or one less where v is within 2^-10 p above a multiple */
VECTOR_INLINE void VECTOR_FN(reduce)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
#if VECTOR_LIMBS == 5
    /* the top limb's quotient by p's, rounded down, exact to 2^-37 */
    __m512i q =
        vector_high(_mm512_setzero_si512(), a->limb[4], _mm512_set1_epi64(FIELD_FN(quotient_52)));
    q = _mm512_srli_epi64(q, 45);
#else
    /* the top two limbs', as a double: 2^35 at most, exact to 2^-11 */
    __m512d top = _mm512_fmadd_pd(_mm512_cvtepi64_pd(a->limb[7]), _mm512_set1_pd(0x1p52),
                                  _mm512_cvtepi64_pd(a->limb[6]));
    __m512i q = _mm512_cvttpd_epi64(_mm512_mul_pd(top, _mm512_set1_pd(FIELD_FN(quotient_52))));
#endif
    VECTOR_TYPE r = *a;
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++) {
        r.limb[j] = vector_low(r.limb[j], q, VECTOR_CONSTANT(complement_52, j));
        if (j + 1 < VECTOR_LIMBS)
            r.limb[j + 1] = vector_high(r.limb[j + 1], q, VECTOR_CONSTANT(complement_52, j));
    }
    VECTOR_FN(normalize_wrapping)(&r);
    *out = r;
}

/* below 2p to below p */
VECTOR_INLINE void VECTOR_FN(reduce_once)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_TYPE d;
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        d.limb[j] = _mm512_add_epi64(a->limb[j], VECTOR_CONSTANT(complement_52, j));
    VECTOR_FN(normalize)(&d);
    __mmask8 above = _mm512_test_epi64_mask(d.limb[VECTOR_LIMBS - 1], _mm512_set1_epi64(1LL << 52));
    d.limb[VECTOR_LIMBS - 1] =
        _mm512_and_si512(d.limb[VECTOR_LIMBS - 1], _mm512_set1_epi64(VECTOR_MASK52));
    VECTOR_FN(select)(out, above, a, &d);
}

VECTOR_INLINE void VECTOR_FN(canonical)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_TYPE r;
    VECTOR_FN(reduce)(&r, a);
    VECTOR_FN(reduce_once)(out, &r);
}

/* Lanes that are 0 or p. */
VECTOR_INLINE __mmask8 VECTOR_FN(is_zero_mask_below_2)(const VECTOR_TYPE *a)
{
    __m512i any = a->limb[0], other = _mm512_xor_si512(a->limb[0], VECTOR_CONSTANT(modulus_52, 0));
    VECTOR_UNROLL
    for (int j = 1; j < VECTOR_LIMBS; j++) {
        any = _mm512_or_si512(any, a->limb[j]);
        other =
            _mm512_or_si512(other, _mm512_xor_si512(a->limb[j], VECTOR_CONSTANT(modulus_52, j)));
    }
    return _mm512_testn_epi64_mask(any, any) | _mm512_testn_epi64_mask(other, other);
}

VECTOR_INLINE __mmask8 VECTOR_FN(is_zero_mask)(const VECTOR_TYPE *a)
{
    VECTOR_TYPE r;
    VECTOR_FN(reduce)(&r, a);
    return VECTOR_FN(is_zero_mask_below_2)(&r);
}

VECTOR_INLINE __mmask8 VECTOR_FN(equal_mask)(const VECTOR_TYPE *a, const VECTOR_TYPE *b)
{
    VECTOR_TYPE x, y;
    __m512i any = _mm512_setzero_si512();
    VECTOR_FN(canonical)(&x, a);
    VECTOR_FN(canonical)(&y, b);
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        any = _mm512_or_si512(any, _mm512_xor_si512(x.limb[j], y.limb[j]));
    return _mm512_testn_epi64_mask(any, any);
}

/* ---- words to limbs and back ---- */

/* The bits from 52 j - shift on of a number of words, for limb j. */
VECTOR_INLINE __m512i VECTOR_FN(cut_limb)(const __m512i *word, int j, int shift)
{
    const int bit = 52 * j - shift, at = bit / 64;
    if (bit < 0)
        return _mm512_slli_epi64(word[0], (unsigned)-bit);
    __m512i out = _mm512_srli_epi64(word[at], (unsigned)(bit % 64));
    if (bit % 64 > 12 && at + 1 < FIELD_LIMBS)
        out = _mm512_or_si512(out, _mm512_slli_epi64(word[at + 1], (unsigned)(64 - bit % 64)));
    return out;
}

/* out = the words' number times 2^shift */
VECTOR_INLINE void VECTOR_FN(cut)(VECTOR_TYPE *out, const __m512i *word, int shift)
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] =
            _mm512_and_si512(VECTOR_FN(cut_limb)(word, j, shift), _mm512_set1_epi64(VECTOR_MASK52));
}

/* a is canonical */
VECTOR_INLINE void VECTOR_FN(join)(__m512i *word, const VECTOR_TYPE *a)
{
    VECTOR_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) {
        const int at = 64 * i / 52, bit = 64 * i % 52;
        word[i] = _mm512_or_si512(_mm512_srli_epi64(a->limb[at], (unsigned)bit),
                                  _mm512_slli_epi64(a->limb[at + 1], (unsigned)(52 - bit)));
        if (104 - bit < 64 && at + 2 < VECTOR_LIMBS)
            word[i] =
                _mm512_or_si512(word[i], _mm512_slli_epi64(a->limb[at + 2], (unsigned)(104 - bit)));
    }
}

VECTOR_INLINE void VECTOR_FN(packed_pointers)(const void *pointer[8], const uint64_t *packed)
{
    VECTOR_UNROLL
    for (int i = 0; i < 8; i++)
        pointer[i] = packed + i * FIELD_LIMBS;
}

/* ---- eight elements from and to memory ---- */

VECTOR_INLINE void VECTOR_FN(load)(VECTOR_TYPE *out, const void *const pointer[8])
{
    __m512i word[FIELD_LIMBS];
    vector_gather_words(word, pointer, FIELD_LIMBS);
    VECTOR_FN(cut)(out, word, VECTOR_SHIFT);
}

VECTOR_INLINE void VECTOR_FN(load_packed)(VECTOR_TYPE *out, const uint64_t *packed)
{
    const void *pointer[8];
    VECTOR_FN(packed_pointers)(pointer, packed);
    VECTOR_FN(load)(out, pointer);
}

/* Words as they are, any number of FIELD_LIMBS words: no Montgomery factor. */
VECTOR_INLINE void VECTOR_FN(load_plain)(VECTOR_TYPE *out, const void *const pointer[8])
{
    __m512i word[FIELD_LIMBS];
    vector_gather_words(word, pointer, FIELD_LIMBS);
    VECTOR_FN(cut)(out, word, 0);
}

VECTOR_INLINE void VECTOR_FN(load_plain_packed)(VECTOR_TYPE *out, const uint64_t *packed)
{
    const void *pointer[8];
    VECTOR_FN(packed_pointers)(pointer, packed);
    VECTOR_FN(load_plain)(out, pointer);
}

/* limb[] of one number in all lanes */
VECTOR_INLINE void VECTOR_FN(broadcast_limbs)(VECTOR_TYPE *out, const uint64_t limb[VECTOR_LIMBS])
{
    VECTOR_UNROLL
    for (int j = 0; j < VECTOR_LIMBS; j++)
        out->limb[j] = _mm512_set1_epi64((long long)limb[j]);
}

/* One element in all lanes. */
VECTOR_INLINE void VECTOR_FN(broadcast)(VECTOR_TYPE *out, const FIELD_TYPE *montgomery)
{
    __m512i word[FIELD_LIMBS];
    VECTOR_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++)
        word[i] = _mm512_set1_epi64((long long)montgomery->word[i]);
    VECTOR_FN(cut)(out, word, VECTOR_SHIFT);
}

/* Plain to vector form (below CAP to below 2p) and back. */
VECTOR_INLINE void VECTOR_FN(to_montgomery)(VECTOR_TYPE *out, const VECTOR_TYPE *plain)
{
    VECTOR_TYPE factor;
    VECTOR_FN(broadcast_limbs)(&factor, FIELD_FN(vector_r_squared_52));
    VECTOR_FN(mul)(out, plain, &factor);
}

VECTOR_INLINE void VECTOR_FN(from_montgomery)(VECTOR_TYPE *out, const VECTOR_TYPE *a)
{
    VECTOR_TYPE one;
    VECTOR_FN(zero)(&one);
    one.limb[0] = _mm512_set1_epi64(1);
    VECTOR_FN(mul)(out, a, &one);
}

/* The limbs' number, canonical, to words: no factor changes. */
VECTOR_INLINE void VECTOR_FN(store_limbs)(void *const pointer[8], const VECTOR_TYPE *canonical)
{
    __m512i word[FIELD_LIMBS];
    VECTOR_FN(join)(word, canonical);
    vector_scatter_words(pointer, word, FIELD_LIMBS);
}

/* a is anything */
VECTOR_INLINE void VECTOR_FN(store)(void *const pointer[8], const VECTOR_TYPE *a)
{
    VECTOR_TYPE factor, x;
    VECTOR_FN(broadcast_limbs)(&factor, FIELD_FN(vector_to_word_52));
    VECTOR_FN(mul)(&x, a, &factor);
    VECTOR_FN(reduce_once)(&x, &x);
    VECTOR_FN(store_limbs)(pointer, &x);
}

VECTOR_INLINE void VECTOR_FN(store_packed)(uint64_t *packed, const VECTOR_TYPE *a)
{
    const void *pointer[8];
    VECTOR_FN(packed_pointers)(pointer, packed);
    VECTOR_FN(store)((void *const *)pointer, a);
}

/* out of Montgomery form; a is anything */
VECTOR_INLINE void VECTOR_FN(store_plain)(void *const pointer[8], const VECTOR_TYPE *a)
{
    VECTOR_TYPE x;
    VECTOR_FN(from_montgomery)(&x, a);
    VECTOR_FN(reduce_once)(&x, &x);
    VECTOR_FN(store_limbs)(pointer, &x);
}

VECTOR_INLINE void VECTOR_FN(store_plain_packed)(uint64_t *packed, const VECTOR_TYPE *a)
{
    const void *pointer[8];
    VECTOR_FN(packed_pointers)(pointer, packed);
    VECTOR_FN(store_plain)((void *const *)pointer, a);
}

#undef VECTOR_FN
#undef VECTOR_TYPE
#undef VECTOR_LIMBS
#undef VECTOR_SHIFT
#undef VECTOR_CONSTANT
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_NEGATIVE_INVERSE
