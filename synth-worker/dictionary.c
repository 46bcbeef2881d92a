/*
 * Open addressing over an array of values. Called by coefficients.c and r1cs.c, in private memory;
 * a SIGKILL leaves nothing.
 *
 * The hash is the high half of sum key_i * word_i: its keys are secret and odd, and a value is
 * looked up by its words only (Dietzfelbinger 1996, multiplicative hashing by words).
 */
#include "synth-worker/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_FIRST 256u

static uint32_t slot_of(const struct dictionary *dictionary, const uint64_t *value)
{
    unsigned __int128 sum = 0;
    for (int i = 0; i < DICTIONARY_WORDS; i++)
        sum += (unsigned __int128)dictionary->key[i] * value[i];
    uint64_t mixed = (uint64_t)(sum >> 64) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)sum;
    return (uint32_t)(mixed >> 32) & (dictionary->slots - 1);
}

/* The slot where the value is, or the empty one where it would go. */
static uint32_t find(const struct dictionary *dictionary, const uint64_t *value)
{
    uint32_t at = slot_of(dictionary, value);
    while (dictionary->slot[at] && memcmp(dictionary->value[dictionary->slot[at] - 1], value,
                                          sizeof *dictionary->value) != 0)
        at = (at + 1) & (dictionary->slots - 1);
    return at;
}

int dictionary_open(struct dictionary *dictionary, uint32_t limit)
{
    *dictionary = (struct dictionary){.limit = limit, .slots = SLOTS_FIRST};
    ssize_t got = getrandom(dictionary->key, sizeof dictionary->key, 0);
    if (got != (ssize_t)sizeof dictionary->key)
        return got < 0 ? -errno : -EIO;
    dictionary->slot = calloc(SLOTS_FIRST, sizeof *dictionary->slot);
    dictionary->value = calloc(SLOTS_FIRST / 2, sizeof *dictionary->value);
    if (dictionary->slot && dictionary->value)
        return 0;
    dictionary_close(dictionary);
    return -ENOMEM;
}

void dictionary_close(struct dictionary *dictionary)
{
    free(dictionary->slot);
    free(dictionary->value);
    *dictionary = (struct dictionary){0};
}

static int grow(struct dictionary *dictionary)
{
    uint32_t slots = 2 * dictionary->slots;
    uint32_t *slot = calloc(slots, sizeof *slot);
    void *value = realloc(dictionary->value, (size_t)slots / 2 * sizeof *dictionary->value);
    if (value)
        dictionary->value = value;
    if (!slot || !value) {
        free(slot);
        return -ENOMEM;
    }
    free(dictionary->slot);
    dictionary->slot = slot;
    dictionary->slots = slots;
    for (uint32_t i = 0; i < dictionary->count; i++)
        slot[find(dictionary, dictionary->value[i])] = i + 1;
    return 0;
}

int dictionary_add(struct dictionary *dictionary, const uint64_t value[DICTIONARY_WORDS],
                   uint32_t *number)
{
    uint32_t at = find(dictionary, value);
    if (dictionary->slot[at]) {
        *number = dictionary->slot[at] - 1;
        return 0;
    }
    if (dictionary->count >= dictionary->limit)
        return -ENOSPC;
    *number = dictionary->count++;
    memcpy(dictionary->value[*number], value, sizeof *dictionary->value);
    dictionary->slot[at] = dictionary->count;
    return dictionary->count < dictionary->slots / 2 ? 0 : grow(dictionary);
}
