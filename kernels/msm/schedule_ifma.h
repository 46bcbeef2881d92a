/*
 * Which points go to which bucket: scalars are read, cut into digits and sorted by bucket once, for
 * all the sets of points that they multiply. Private to msm/; included by msm_ifma.c alone. The
 * memory is the caller's; nothing here outlives a call.
 *
 * Scalars come in chunks of consecutive numbers. `id` lists those above 16 bits ("wide"), chunk
 * after chunk, then the smaller ones ("narrow"), which have digits in the lowest windows only, and
 * no zero; `digit` has the digits in the same places, a window after the other. A window is then
 * sorted by counting: entry 2 * number + (digit is negative), run after run of equal buckets, the
 * public wires first within each run (the sums over private wires skip them).
 */
#ifndef PAWL_KERNELS_MSM_SCHEDULE_IFMA_H
#define PAWL_KERNELS_MSM_SCHEDULE_IFMA_H

#include <immintrin.h>
#include <string.h>

#include "kernels/msm/digits.h"
#include "kernels/msm/layout.h"

enum { SCHEDULE_CHUNKS_MAX = 64, SCHEDULE_CHUNK_LEAST = 2048 };

struct schedule_chunk {
    size_t begin, end;               /* scalars */
    size_t wide, narrow;             /* how many of them */
    size_t wide_begin, narrow_begin; /* where in `id` */
};

struct schedule {
    struct digit_plan plan;
    unsigned narrow_windows; /* in which narrow scalars have digits */
    const uint64_t *scalar;
    size_t count, first_private;
    size_t wide, narrow; /* of all chunks */
    size_t chunks;
    struct schedule_chunk chunk[SCHEDULE_CHUNKS_MAX];
    uint32_t *id;    /* wide + narrow */
    int16_t *digit;  /* schedule_entries */
    uint32_t *order; /* schedule_entries */
    uint32_t *head; /* windows * (buckets + 1): where the bucket's run ends in the window's order */
};

static inline unsigned schedule_narrow_windows(unsigned window_bits)
{
    return digit_windows(window_bits, WINDOW_BITS_MAX);
}

/* Digits of `windows` windows, the lowest `narrow_windows` of which have those of all. */
static inline size_t schedule_entries(size_t wide, size_t narrow, unsigned windows,
                                      unsigned narrow_windows)
{
    return windows * wide + (windows < narrow_windows ? windows : narrow_windows) * narrow;
}

static inline size_t schedule_at(const struct schedule *s, unsigned window)
{
    return schedule_entries(s->wide, s->narrow, window, s->narrow_windows);
}

static inline size_t schedule_buckets(const struct schedule *s)
{
    return (size_t)1 << (s->plan.window_bits - 1);
}

static inline uint32_t *schedule_order(const struct schedule *s, unsigned window)
{
    return s->order + schedule_at(s, window);
}

/* The run of bucket b >= 1 is head[b - 1] .. head[b] - 1. */
static inline uint32_t *schedule_head(const struct schedule *s, unsigned window)
{
    return s->head + window * (schedule_buckets(s) + 1);
}

static inline void schedule_cut(struct schedule *s, unsigned threads)
{
    size_t most = s->count / SCHEDULE_CHUNK_LEAST, chunks = 4 * (size_t)threads;
    chunks = threads < 2 ? 1 : chunks < SCHEDULE_CHUNKS_MAX ? chunks : SCHEDULE_CHUNKS_MAX;
    chunks = chunks < most ? chunks : most;
    s->chunks = chunks ? chunks : 1;
    for (size_t i = 0; i < s->chunks; i++)
        s->chunk[i] = (struct schedule_chunk){.begin = s->count * i / s->chunks,
                                              .end = s->count * (i + 1) / s->chunks};
}

static inline int scalar_is_wide(const uint64_t *word)
{
    return (word[0] >> WINDOW_BITS_MAX | word[1] | word[2] | word[3]) != 0;
}

static inline void schedule_count_kinds(struct schedule_chunk *chunk, const uint64_t *scalar)
{
    size_t wide = 0, nonzero = 0;
    for (size_t i = chunk->begin; i < chunk->end; i++) {
        int is_wide = scalar_is_wide(scalar + SCALAR_WORDS * i);
        wide += (size_t)is_wide;
        nonzero += (size_t)(is_wide | (scalar[SCALAR_WORDS * i] != 0));
    }
    chunk->wide = wide;
    chunk->narrow = nonzero - wide;
}

/* Once all chunks are counted: where each one's scalars go. */
static inline void schedule_add_up(struct schedule *s)
{
    s->wide = s->narrow = 0;
    for (size_t i = 0; i < s->chunks; i++) {
        s->chunk[i].wide_begin = s->wide;
        s->wide += s->chunk[i].wide;
    }
    for (size_t i = 0; i < s->chunks; i++) {
        s->chunk[i].narrow_begin = s->wide + s->narrow;
        s->narrow += s->chunk[i].narrow;
    }
}

static inline void schedule_classify(const struct schedule *s, const struct schedule_chunk *chunk)
{
    uint32_t *wide = s->id + chunk->wide_begin, *narrow = s->id + chunk->narrow_begin;
    for (size_t i = chunk->begin; i < chunk->end; i++) {
        const uint64_t *word = s->scalar + SCALAR_WORDS * i;
        if (scalar_is_wide(word))
            *wide++ = (uint32_t)i;
        else if (word[0])
            *narrow++ = (uint32_t)i;
    }
}

/* sum = scalar + offset, of the eight scalars at the indices */
static inline void schedule_add_offset(__m512i sum[DIGIT_WORDS + 1], const struct schedule *s,
                                       __m512i index, __mmask8 lanes)
{
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i word = _mm512_slli_epi64(index, 2);
    __m512i carry = _mm512_setzero_si512();
    for (int i = 0; i < SCALAR_WORDS; i++) {
        __m512i a =
            _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes, word, s->scalar + i, 8);
        __m512i b = _mm512_set1_epi64((long long)s->plan.offset[i]);
        __m512i t = _mm512_add_epi64(a, b);
        __mmask8 over = _mm512_cmplt_epu64_mask(t, a);
        sum[i] = _mm512_add_epi64(t, carry);
        over |= _mm512_cmplt_epu64_mask(sum[i], t);
        carry = _mm512_maskz_mov_epi64(over, one);
    }
    sum[SCALAR_WORDS] =
        _mm512_add_epi64(_mm512_set1_epi64((long long)s->plan.offset[SCALAR_WORDS]), carry);
    sum[DIGIT_WORDS] = _mm512_setzero_si512();
}

/* The digits of the eight scalars from id[at] on, in the lowest `windows` windows. */
static inline void schedule_cut_eight(const struct schedule *s, size_t at, __mmask8 lanes,
                                      unsigned windows)
{
    __m512i sum[DIGIT_WORDS + 1];
    const unsigned bits = s->plan.window_bits;
    const __m512i mask = _mm512_set1_epi64((1 << bits) - 1),
                  half = _mm512_set1_epi64(1 << (bits - 1));
    __m256i index = _mm256_maskz_loadu_epi32(lanes, s->id + at);
    schedule_add_offset(sum, s, _mm512_cvtepu32_epi64(index), lanes);
    for (unsigned w = 0; w < windows; w++) {
        unsigned bit = w * bits, shift = bit % 64;
        __m512i low = _mm512_srl_epi64(sum[bit / 64], _mm_cvtsi32_si128((int)shift));
        __m512i high = _mm512_sll_epi64(sum[bit / 64 + 1], _mm_cvtsi32_si128(64 - (int)shift));
        __m512i digit = _mm512_and_si512(_mm512_or_si512(low, high), mask);
        digit = _mm512_sub_epi64(digit, half);
        _mm_mask_storeu_epi16(s->digit + schedule_at(s, w) + at, lanes,
                              _mm512_cvtepi64_epi16(digit));
    }
}

static inline void schedule_cut_range(const struct schedule *s, size_t at, size_t count,
                                      unsigned windows)
{
    for (size_t i = 0; i < count; i += 8) {
        size_t left = count - i;
        schedule_cut_eight(s, at + i, left >= 8 ? 0xff : (__mmask8)((1u << left) - 1), windows);
    }
}

static inline void schedule_cut_digits(const struct schedule *s, const struct schedule_chunk *chunk)
{
    schedule_cut_range(s, chunk->wide_begin, chunk->wide, s->plan.windows);
    schedule_cut_range(s, chunk->narrow_begin, chunk->narrow, s->narrow_windows);
}

/* Signs are random: no branch on them. */
static inline uint32_t digit_negative(int16_t digit)
{
    return (uint32_t)(int32_t)digit >> 31;
}

static inline uint32_t digit_bucket(int16_t digit)
{
    const uint32_t flip = 0 - digit_negative(digit);
    return ((uint32_t)(int32_t)digit ^ flip) - flip;
}

static inline void schedule_count(uint32_t *head, const int16_t *digit, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        head[digit_bucket(digit[i])]++;
}

static inline void schedule_scatter(uint32_t *order, uint32_t *head, const int16_t *digit,
                                    const uint32_t *id, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        uint32_t place = head[digit_bucket(digit[i])]++;
        order[place] = 2 * id[i] + digit_negative(digit[i]);
    }
}

/* One past the last of id[begin .. end - 1] that is below `limit`; they ascend. */
static inline size_t schedule_split(const uint32_t *id, size_t begin, size_t end, size_t limit)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (id[middle] < limit)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Of the chunk's scalars in id[begin .. begin + count - 1] the public wires, or the others. */
static inline void schedule_place_part(const struct schedule *s, unsigned window, size_t begin,
                                       size_t count, int private)
{
    size_t middle = schedule_split(s->id, begin, begin + count, s->first_private);
    schedule_scatter(schedule_order(s, window), schedule_head(s, window),
                     s->digit + schedule_at(s, window), s->id, private ? middle : begin,
                     private ? begin + count : middle);
}

static inline void schedule_place(const struct schedule *s, unsigned window, int private)
{
    for (size_t c = 0; c < s->chunks; c++) {
        const struct schedule_chunk *k = &s->chunk[c];
        schedule_place_part(s, window, k->wide_begin, k->wide, private);
        if (window < s->narrow_windows)
            schedule_place_part(s, window, k->narrow_begin, k->narrow, private);
    }
}

/* Bucket 0 (no digit) comes first, where nobody looks. */
static inline void schedule_sort(const struct schedule *s, unsigned window)
{
    uint32_t *head = schedule_head(s, window), total = 0;
    const size_t buckets = schedule_buckets(s);
    size_t entries = s->wide + (window < s->narrow_windows ? s->narrow : 0);
    memset(head, 0, (buckets + 1) * sizeof(*head));
    schedule_count(head, s->digit + schedule_at(s, window), 0, entries);
    for (size_t b = 0; b <= buckets; b++) {
        uint32_t here = head[b];
        head[b] = total;
        total += here;
    }
    schedule_place(s, window, 0);
    schedule_place(s, window, 1);
}

#endif
