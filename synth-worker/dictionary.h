/*
 * Distinct values of a matrix, numbered in the order in which they come: most coefficients of a
 * circuit are 1, -1 or one of a few, so an image has each once (shm/image.h). The hash is keyed
 * from getrandom(2): a hostile key cannot choose values that collide.
 */
#ifndef PAWL_SYNTH_WORKER_DICTIONARY_H
#define PAWL_SYNTH_WORKER_DICTIONARY_H

#include <stdint.h>

#define DICTIONARY_WORDS 4 /* of a value */

struct dictionary {
    uint64_t (*value)[DICTIONARY_WORDS];
    uint32_t *slot; /* number + 1, or 0; a power of two of them, at most half in use */
    uint64_t key[DICTIONARY_WORDS];
    uint32_t count, slots, limit;
};

/* An empty dictionary, to be closed; it takes at most `limit` values. 0 or -errno. */
int dictionary_open(struct dictionary *dictionary, uint32_t limit);
void dictionary_close(struct dictionary *dictionary);
/* Adds the value where it is new; *number is its number. 0, -ENOSPC past the limit, or -ENOMEM. */
int dictionary_add(struct dictionary *dictionary, const uint64_t value[DICTIONARY_WORDS],
                   uint32_t *number);

#endif
