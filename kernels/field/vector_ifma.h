/*
 * Eight elements at a time in the lanes of AVX-512 registers: Fr, Fq and Fq2 of the curve that this
 * file is compiled for. Included by files named *_ifma.c alone. No state.
 *
 * With X for fr, fq or fq2: struct X_x8, and X_x8_ in front of what follows. A prime field's
 * element is 5 limbs of 52 bits (4-word fields) or 8 (BLS12-381's Fq), the lane's value is x * R'
 * mod p with R' = 2^260 or 2^416 (the vector form), and is kept lazily: any number below R' that
 * has the right residue. Limbs are always below 2^52 ("normalised"). Products are Montgomery's with
 * the multiply-add of 52-bit halves (VPMADD52), a limb of the multiplier a round.
 *
 * Bounds, in multiples of p. CAP = floor(R' / p): 84 for both fields of BN254, 35 for Fr of
 * BLS12-381, 2^35 for its Fq. LOADED is 16 or 2^32.
 *
 *     operation                      operands below             result below
 *     load, load_packed, broadcast   canonical words            LOADED
 *     mul(a, b), square              a * b <= k CAP             1 + k     (k = 1: below 2p)
 *     mul_add(a, b, c, d)            a * b + c * d <= k CAP     1 + k     a b + c d
 *     add, double                    any; sum within CAP        a + b
 *     sub(a, b)                      b <= 4, a + 4 within CAP   a + 4
 *     sub_loaded(a, b)               b <= LOADED                a + LOADED
 *     neg(a), neg_loaded(a)          a <= 4, LOADED             4, LOADED
 *     reduce                         anything                   2 (1 + 2^-10, in truth)
 *     reduce_once                    2                          1: canonical
 *     canonical                      anything                   1: canonical
 *     is_zero_mask, equal_mask       anything                   lanes where it is 0, a = b mod p
 *     is_zero_mask_below_2           2                          the same, cheaper
 *
 * A loaded value costs no product: x R and x R' differ by 2^4 or 2^32, folded into the cutting of
 * words into limbs. Two loaded values multiplied give below 5p on BN254, below 9p in Fr of
 * BLS12-381; in its Fq reduce one of them first (2^64 is past CAP).
 *
 * The word side is the portable one: FQ_LIMBS or FR_LIMBS canonical words, Montgomery with R =
 * 2^256 or 2^384; _plain means no Montgomery factor on the word side.
 */
#ifndef PAWL_KERNELS_FIELD_VECTOR_IFMA_H
#define PAWL_KERNELS_FIELD_VECTOR_IFMA_H

#include <immintrin.h>

#include "kernels/field/fields.h"

/* As with FIELD_INLINE: a sanitizer's checks make the copies too large to compile. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VECTOR_INLINE static __attribute__((noinline, unused))
#else
#define VECTOR_INLINE static inline __attribute__((always_inline, unused))
#endif
#ifdef __clang__
#define VECTOR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define VECTOR_UNROLL _Pragma("GCC unroll 16")
#endif

#define VECTOR_MASK52 ((1ULL << 52) - 1)

VECTOR_INLINE __m512i vector_low(__m512i acc, __m512i a, __m512i b)
{
    return _mm512_madd52lo_epu64(acc, a, b);
}

VECTOR_INLINE __m512i vector_high(__m512i acc, __m512i a, __m512i b)
{
    return _mm512_madd52hi_epu64(acc, a, b);
}

/* ---- words of eight elements to a vector a word, and back ---- */

/* row[i]: words 0 to 3 of elements 2i and 2i + 1 -> word[k]: word k of all eight. */
VECTOR_INLINE void vector_transpose4(__m512i word[4], const __m512i row[4])
{
    const __m512i even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    __m512i low0 = _mm512_permutex2var_epi64(row[0], even, row[1]);
    __m512i low1 = _mm512_permutex2var_epi64(row[2], even, row[3]);
    __m512i high0 = _mm512_permutex2var_epi64(row[0], odd, row[1]);
    __m512i high1 = _mm512_permutex2var_epi64(row[2], odd, row[3]);
    word[0] = _mm512_shuffle_i64x2(low0, low1, 0x44);
    word[1] = _mm512_shuffle_i64x2(low0, low1, 0xee);
    word[2] = _mm512_shuffle_i64x2(high0, high1, 0x44);
    word[3] = _mm512_shuffle_i64x2(high0, high1, 0xee);
}

VECTOR_INLINE void vector_untranspose4(__m512i row[4], const __m512i word[4])
{
    const __m512i even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    __m512i low0 = _mm512_shuffle_i64x2(word[0], word[1], 0x44);
    __m512i low1 = _mm512_shuffle_i64x2(word[0], word[1], 0xee);
    __m512i high0 = _mm512_shuffle_i64x2(word[2], word[3], 0x44);
    __m512i high1 = _mm512_shuffle_i64x2(word[2], word[3], 0xee);
    row[0] = _mm512_permutex2var_epi64(low0, even, high0);
    row[1] = _mm512_permutex2var_epi64(low0, odd, high0);
    row[2] = _mm512_permutex2var_epi64(low1, even, high1);
    row[3] = _mm512_permutex2var_epi64(low1, odd, high1);
}

/* The first four words of two elements. */
VECTOR_INLINE __m512i vector_load_pair(const void *first, const void *second)
{
    __m512i low = _mm512_castsi256_si512(_mm256_loadu_si256(first));
    return _mm512_inserti64x4(low, _mm256_loadu_si256(second), 1);
}

VECTOR_INLINE void vector_store_pair(void *first, void *second, __m512i row)
{
    _mm256_storeu_si256(first, _mm512_castsi512_si256(row));
    _mm256_storeu_si256(second, _mm512_extracti64x4_epi64(row, 1));
}

/* Words 4 and 5 of four elements, in the four quarters. */
VECTOR_INLINE __m512i vector_load_tails(const void *const pointer[4])
{
    __m512i out = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)pointer[0] + 2));
    out = _mm512_inserti64x2(out, _mm_loadu_si128((const __m128i *)pointer[1] + 2), 1);
    out = _mm512_inserti64x2(out, _mm_loadu_si128((const __m128i *)pointer[2] + 2), 2);
    return _mm512_inserti64x2(out, _mm_loadu_si128((const __m128i *)pointer[3] + 2), 3);
}

VECTOR_INLINE void vector_store_tails(void *const pointer[4], __m512i tails)
{
    _mm_storeu_si128((__m128i *)pointer[0] + 2, _mm512_castsi512_si128(tails));
    _mm_storeu_si128((__m128i *)pointer[1] + 2, _mm512_extracti64x2_epi64(tails, 1));
    _mm_storeu_si128((__m128i *)pointer[2] + 2, _mm512_extracti64x2_epi64(tails, 2));
    _mm_storeu_si128((__m128i *)pointer[3] + 2, _mm512_extracti64x2_epi64(tails, 3));
}

/* words: 4 or 6 */
VECTOR_INLINE void vector_gather_words(__m512i *word, const void *const pointer[8], int words)
{
    __m512i row[4];
    VECTOR_UNROLL
    for (int i = 0; i < 4; i++)
        row[i] = vector_load_pair(pointer[2 * i], pointer[2 * i + 1]);
    vector_transpose4(word, row);
    if (words == 6) {
        const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        __m512i tails0 = vector_load_tails(pointer), tails1 = vector_load_tails(pointer + 4);
        word[4] = _mm512_permutex2var_epi64(tails0, even, tails1);
        word[5] = _mm512_permutex2var_epi64(tails0, odd, tails1);
    }
}

VECTOR_INLINE void vector_scatter_words(void *const pointer[8], const __m512i *word, int words)
{
    __m512i row[4];
    vector_untranspose4(row, word);
    VECTOR_UNROLL
    for (int i = 0; i < 4; i++)
        vector_store_pair(pointer[2 * i], pointer[2 * i + 1], row[i]);
    if (words == 6) {
        const __m512i first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        const __m512i last = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        vector_store_tails(pointer, _mm512_permutex2var_epi64(word[4], first, word[5]));
        vector_store_tails(pointer + 4, _mm512_permutex2var_epi64(word[4], last, word[5]));
    }
}

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_NEGATIVE_INVERSE FR_NEGATIVE_INVERSE
#include "kernels/field/vector_template_ifma.h"

#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#define FIELD_NEGATIVE_INVERSE FQ_NEGATIVE_INVERSE
#include "kernels/field/vector_template_ifma.h"

#include "kernels/field/vector_fq2_ifma.h"

#endif
