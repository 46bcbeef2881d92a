/*
 * Values of the configuration as text: numbers, sizes, durations, words. Called by the kinds of
 * keys. No value is ever cut or wrapped around: what does not fit is refused.
 */
#include "coordinator/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The digits at *text; moves it behind them. */
static int take_digits(const char **text, uint64_t *number)
{
    uint64_t value = 0;

    if (!isdigit((unsigned char)**text))
        return -EINVAL;
    for (; isdigit((unsigned char)**text); ++*text) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return -EINVAL;
        value = 10 * value + digit;
    }
    *number = value;
    return 0;
}

static int multiply(uint64_t number, uint64_t unit, uint64_t *product)
{
    return __builtin_mul_overflow(number, unit, product) ? -EINVAL : 0;
}

int config_parse_number(const char *text, uint64_t *number)
{
    int error = take_digits(&text, number);

    return error || *text ? -EINVAL : 0;
}

int config_parse_bytes(const char *text, uint64_t *bytes)
{
    uint64_t number, unit = 1;

    if (take_digits(&text, &number))
        return -EINVAL;
    if (*text == 'K')
        unit = UINT64_C(1) << 10;
    else if (*text == 'M')
        unit = UINT64_C(1) << 20;
    else if (*text == 'G')
        unit = UINT64_C(1) << 30;
    if (unit > 1)
        text++;
    return *text ? -EINVAL : multiply(number, unit, bytes);
}

int config_parse_duration_ms(const char *text, uint64_t *ms)
{
    uint64_t number;

    if (take_digits(&text, &number))
        return -EINVAL;
    if (strcmp(text, "ms") == 0)
        return multiply(number, 1, ms);
    if (strcmp(text, "s") == 0)
        return multiply(number, 1000, ms);
    if (strcmp(text, "m") == 0)
        return multiply(number, 60000, ms);
    return -EINVAL;
}

int config_next_word(const char **text, char *word, size_t bytes)
{
    size_t length;

    *text += strspn(*text, " \t");
    length = strcspn(*text, " \t");
    if (!length)
        return 0;
    if (length >= bytes)
        return -EINVAL;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return 1;
}

void config_put_word(char *out, size_t bytes, const char *word)
{
    size_t used = strlen(out);

    snprintf(out + used, bytes - used, "%s%s", used ? " " : "", word);
}
