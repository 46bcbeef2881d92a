/*
 * The checksum of a circuit image (image.h). Called by the maker of images, and by whoever has a
 * reason to doubt one. Reads only; a SIGKILL leaves nothing.
 *
 * A sum, modulo 2^64, over all words of a mix of the word and its place: the multiple of an odd
 * constant and the finisher of SplitMix64 (Steele, Lea, Flood 2014), a bijection of the word, so
 * that one changed word always changes the sum; zeros fill up the last one. The sum's own word
 * counts as absent. Reading the bytes takes longer than mixing them.
 */
#include "shm/image.h"

#include <errno.h>
#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
#define OWN_WORD (offsetof(struct image_header, checksum) / WORD_BYTES)
#define WORDS_AT_ONCE (UINT64_C(2) << 20) /* 16 MiB between two questions: some milliseconds */

static inline uint64_t mix(uint64_t word, uint64_t place)
{
    uint64_t z = word ^ (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t sum_words(const uint64_t *words, uint64_t begin, uint64_t end)
{
    uint64_t sum = 0;
    for (uint64_t i = begin; i < end; i++)
        sum += mix(words[i], i);
    return sum;
}

uint64_t image_checksum_words(uint64_t bytes)
{
    return bytes / WORD_BYTES + (bytes % WORD_BYTES != 0);
}

uint64_t image_checksum_part(const struct image_header *header, uint64_t bytes, uint64_t begin,
                             uint64_t end)
{
    const uint64_t *words = (const void *)header, whole = bytes / WORD_BYTES;
    uint64_t sum = sum_words(words, begin, end < whole ? end : whole), last = 0;
    if (end > whole) { /* the last, of fewer bytes */
        memcpy(&last, words + whole, bytes % WORD_BYTES);
        sum += mix(last, whole);
    }
    if (begin <= OWN_WORD && OWN_WORD < end)
        sum -= mix(header->checksum, OWN_WORD);
    return sum;
}

int image_check(const struct image *image, int (*pause)(void *arg), void *arg)
{
    const uint64_t words = image_checksum_words(image->bytes);
    uint64_t sum = 0;
    for (uint64_t begin = 0, end; begin < words; begin = end) {
        end = words - begin < WORDS_AT_ONCE ? words : begin + WORDS_AT_ONCE;
        sum += image_checksum_part(image->header, image->bytes, begin, end);
        if (pause && pause(arg))
            return -ECANCELED;
    }
    return sum == image->header->checksum ? 0 : -EUCLEAN;
}
