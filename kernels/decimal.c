/*
 * Decimal text; decimal.h has the contract. Called by readers and writers of JSON and of command
 * lines, with hostile text. Quadratic in the length, which is that of a field element.
 */
#include "kernels/decimal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define CHUNK_DIGITS 19
#define CHUNK_BASE 10000000000000000000ULL /* 10^19, the largest power of ten in a word */

/* value /= CHUNK_BASE; returns the remainder. */
static uint64_t divide_by_chunk(uint64_t *value, size_t words)
{
    unsigned __int128 rest = 0;
    for (size_t i = words; i-- > 0;) {
        rest = rest << 64 | value[i];
        value[i] = (uint64_t)(rest / CHUNK_BASE);
        rest %= CHUNK_BASE;
    }
    return (uint64_t)rest;
}

/* value = value * factor + addend; returns what does not fit. */
static uint64_t multiply_add(uint64_t *value, size_t words, uint64_t factor, uint64_t addend)
{
    uint64_t carry = addend;
    for (size_t i = 0; i < words; i++) {
        const unsigned __int128 t = (unsigned __int128)value[i] * factor + carry;
        value[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return carry;
}

static int is_zero(const uint64_t *value, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (value[i])
            return 0;
    return 1;
}

size_t decimal_write(char *text, const uint64_t *value, size_t words)
{
    uint64_t rest[DECIMAL_WORDS_MAX];
    char reversed[DECIMAL_TEXT_BYTES(DECIMAL_WORDS_MAX)];
    size_t length = 0;
    assert(words <= DECIMAL_WORDS_MAX);
    memcpy(rest, value, words * sizeof(*value));
    do {
        uint64_t chunk = divide_by_chunk(rest, words);
        const int last = is_zero(rest, words);
        for (int digit = 0; last ? chunk || !length : digit < CHUNK_DIGITS; digit++) {
            reversed[length++] = (char)('0' + chunk % 10);
            chunk /= 10;
        }
    } while (!is_zero(rest, words));
    for (size_t i = 0; i < length; i++)
        text[i] = reversed[length - 1 - i];
    text[length] = 0;
    return length;
}

int decimal_read(uint64_t *value, size_t words, const char *text, size_t length)
{
    if (length == 0)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
    memset(value, 0, words * sizeof(*value));
    for (size_t i = 0; i < length; i++)
        if (multiply_add(value, words, 10, (uint64_t)(text[i] - '0')))
            return -ERANGE;
    return 0;
}
