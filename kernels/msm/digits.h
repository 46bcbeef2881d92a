/*
 * Signed digits of scalars. Private to msm/, no state.
 *
 * With the offset K = sum over windows w of 2^(c-1) * 2^(c w), the c bits of scalar + K at window
 * w, less 2^(c-1), are a signed digit in -2^(c-1) .. 2^(c-1) - 1, and sum digit_w * 2^(c w) =
 * scalar. So each digit is had by itself, without the carry of those below; a zero scalar has only
 * zero digits, and a small one only zeros in its upper windows.
 */
#ifndef PAWL_KERNELS_MSM_DIGITS_H
#define PAWL_KERNELS_MSM_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum { WINDOW_BITS_MIN = 4, WINDOW_BITS_MAX = 16, DIGIT_WORDS = 5, SCALAR_WORDS = 4 };

struct digit_plan {
    unsigned window_bits, windows;
    uint64_t offset[DIGIT_WORDS];
};

/*
 * scalar_bits + 1 bits are enough for every scalar below r, though K overshoots 2^(scalar_bits) a
 * little, from 4 bits a window on: the leading bits of both r are at most 0.906 of the next power
 * of two, and K takes 1 / 15 of it at most.
 */
static inline unsigned digit_windows(unsigned window_bits, unsigned scalar_bits)
{
    return (scalar_bits + window_bits) / window_bits;
}

static inline void digit_plan_make(struct digit_plan *plan, unsigned window_bits,
                                   unsigned scalar_bits)
{
    *plan = (struct digit_plan){.window_bits = window_bits};
    plan->windows = digit_windows(window_bits, scalar_bits);
    for (unsigned w = 0; w < plan->windows; w++) {
        unsigned bit = w * window_bits + window_bits - 1;
        plan->offset[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static inline int32_t digit_get(const struct digit_plan *plan, const uint64_t *scalar,
                                unsigned window)
{
    uint64_t sum[DIGIT_WORDS + 1] = {0};
    unsigned carry = 0;
    for (unsigned i = 0; i < SCALAR_WORDS; i++) {
        unsigned __int128 t = (unsigned __int128)scalar[i] + plan->offset[i] + carry;
        sum[i] = (uint64_t)t;
        carry = (unsigned)(t >> 64);
    }
    sum[SCALAR_WORDS] = plan->offset[SCALAR_WORDS] + carry;
    unsigned bit = window * plan->window_bits, shift = bit % 64;
    uint64_t bits = sum[bit / 64] >> shift;
    if (shift)
        bits |= sum[bit / 64 + 1] << (64 - shift);
    uint64_t mask = ((uint64_t)1 << plan->window_bits) - 1;
    return (int32_t)(bits & mask) - (int32_t)(1 << (plan->window_bits - 1));
}

/*
 * The cheapest window, counted in multiplications: 6 a point that has digits everywhere, a fraction
 * of one to read a digit, 24 a bucket to weight it. Grows with `wide`: the scratch for wide = count
 * is enough for all.
 */
static inline unsigned digit_choose_window(size_t count, size_t wide, unsigned scalar_bits)
{
    unsigned best = WINDOW_BITS_MIN;
    uint64_t least = UINT64_MAX;
    for (unsigned c = WINDOW_BITS_MIN; c <= WINDOW_BITS_MAX; c++) {
        uint64_t a_window = 6 * (uint64_t)wide + count / 4 + ((uint64_t)24 << (c - 1));
        uint64_t cost = digit_windows(c, scalar_bits) * a_window;
        if (cost < least) {
            least = cost;
            best = c;
        }
    }
    return best;
}

#endif
