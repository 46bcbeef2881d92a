/*
 * Values of inputs; see the header. Called by input_json.c, in a process of its own. A SIGKILL
 * leaves nothing.
 */
#include "synth-worker/input_value.h"

#include <stdint.h>
#include <string.h>

#include "kernels/curves.h"

static const char too_large[] = "the number is not below the prime r of the circuit's field";
static const char no_number[] =
    "not a whole number (decimal digits, or a string with 0x, 0o or 0b and digits)";

static int digit_of(char letter, unsigned base)
{
    int digit = -1;
    if (letter >= '0' && letter <= '9')
        digit = letter - '0';
    else if (letter >= 'a' && letter <= 'f')
        digit = letter - 'a' + 10;
    else if (letter >= 'A' && letter <= 'F')
        digit = letter - 'A' + 10;
    return digit < (int)base ? digit : -1;
}

/* value = value * base + digit. 1: it does not fit. */
static int push_digit(uint64_t value[FR_WORDS], unsigned base, unsigned digit)
{
    unsigned __int128 carry = digit;
    for (int i = 0; i < FR_WORDS; i++) {
        carry += (unsigned __int128)value[i] * base;
        value[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry != 0;
}

static unsigned base_of(const char *text, size_t length)
{
    if (length < 2 || text[0] != '0')
        return 10;
    switch (text[1]) {
    case 'x':
    case 'X':
        return 16;
    case 'o':
    case 'O':
        return 8;
    case 'b':
    case 'B':
        return 2;
    default:
        return 10;
    }
}

/* r - value, for a value below r; zero stays. */
static void negate(uint64_t value[FR_WORDS], const uint64_t *modulus)
{
    uint64_t borrow = 0, any = 0;
    for (int i = 0; i < FR_WORDS; i++)
        any |= value[i];
    for (int i = 0; any && i < FR_WORDS; i++) {
        unsigned __int128 difference = (unsigned __int128)modulus[i] - value[i] - borrow;
        value[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

static const char *read_digits(uint64_t value[FR_WORDS], const char *text, size_t length,
                               unsigned base)
{
    int overflow = 0;
    if (!length)
        return no_number;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i], base);
        if (digit < 0)
            return no_number;
        if (!overflow)
            overflow = push_digit(value, base, (unsigned)digit);
    }
    return overflow ? too_large : NULL;
}

const char *input_value_write(char out[INPUT_VALUE_BYTES], const char *text, size_t length,
                              const struct curve *curve)
{
    uint64_t value[FR_WORDS] = {0};
    size_t skip = length && text[0] == '-';
    unsigned base = base_of(text, length);
    if (!length)
        return "an empty text is no number";
    if (base != 10)
        skip = 2;
    const char *wrong = read_digits(value, text + skip, length - skip, base);
    if (wrong)
        return wrong;
    if (!curve->fr_is_canonical(value))
        return too_large;
    if (text[0] == '-')
        negate(value, curve->fr_modulus);
    decimal_write(out, value, FR_WORDS);
    return NULL;
}
