/*
 * The bytes of a key file, read once into private memory while they are hashed: what is validated
 * is what was hashed, whatever happens to the file meanwhile, and a file that is cut while it is
 * read is an error text and no SIGBUS.
 */
#ifndef PAWL_SYNTH_WORKER_KEY_BYTES_H
#define PAWL_SYNTH_WORKER_KEY_BYTES_H

#include <stdint.h>

#include "synth-worker/binfile.h"
#include "synth-worker/hash.h"

struct complaint;

struct key_bytes {
    struct binfile_source source;    /* in memory */
    uint8_t hash[HASH_SHA256_BYTES]; /* SHA-256 of all bytes */
};

/* Reads all of `fd`, named `name` in texts. 0 or -errno. Frees with key_bytes_free. */
int key_bytes_read(struct key_bytes *key, int fd, const char *name, struct complaint *complaint);
void key_bytes_free(struct key_bytes *key);

#endif
