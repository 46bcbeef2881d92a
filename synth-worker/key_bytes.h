/*
 * The bytes of a key file, and of the r1cs with it where there is one, read once into private
 * memory while they are hashed: what is validated is what was hashed, whatever happens to the file
 * meanwhile, and a file that is cut while it is read is an error text and no SIGBUS.
 */
#ifndef PAWL_SYNTH_WORKER_KEY_BYTES_H
#define PAWL_SYNTH_WORKER_KEY_BYTES_H

#include <stdint.h>

#include "synth-worker/binfile.h"
#include "synth-worker/hash.h"

struct complaint;

struct key_bytes {
    struct binfile_source source;    /* in memory */
    struct binfile_source r1cs;      /* in memory; bytes NULL where there is none */
    uint8_t hash[HASH_SHA256_BYTES]; /* SHA-256 of the key's bytes and then the r1cs's */
};

/* A file to read: `fd` is borrowed, `name` for texts and borrowed as long as the bytes. */
struct key_file {
    int fd;
    const char *name;
};

/* Reads all of the key and of `r1cs` (NULL: none). 0 or -errno. Frees with key_bytes_free. */
int key_bytes_read(struct key_bytes *key, const struct key_file *file, const struct key_file *r1cs,
                   struct complaint *complaint);
void key_bytes_free(struct key_bytes *key);

#endif
