/*
 * Unsigned integers of any length between little-endian 64-bit words and decimal text, as JSON
 * proofs, public signals and command lines carry them. No state, no allocation.
 */
#ifndef PAWL_KERNELS_DECIMAL_H
#define PAWL_KERNELS_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/* The most words that decimal_write takes. */
#define DECIMAL_WORDS_MAX 32
/* Bytes that the text of `words` words needs, NUL included (a word has fewer than 20 digits). */
#define DECIMAL_TEXT_BYTES(words) (20 * (words) + 1)

/*
 * Writes the number without leading zeros, NUL-terminated, into text, which has
 * DECIMAL_TEXT_BYTES(words) bytes. Returns its length. words <= DECIMAL_WORDS_MAX.
 */
size_t decimal_write(char *text, const uint64_t *value, size_t words);

/*
 * Reads exactly `length` characters, all of them digits, at least one. Leading zeros are accepted.
 * 0; -EINVAL where the text is empty or holds anything else (a sign, a space, a NUL);
 * -ERANGE where the number does not fit the words. `value` is unspecified after an error.
 */
int decimal_read(uint64_t *value, size_t words, const char *text, size_t length);

#endif
