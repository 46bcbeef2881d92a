/*
 * SHA-256, over libcrypto. A refusal of libcrypto (no memory, no provider) is an assert: there is
 * no other answer to give.
 */
#ifndef PAWL_SYNTH_WORKER_HASH_H
#define PAWL_SYNTH_WORKER_HASH_H

#include <stdint.h>

#define HASH_SHA256_BYTES 32
#define HASH_HEX_BYTES 65 /* NUL included */

struct hash {
    void *context;
};

void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *bytes, uint64_t count);
/* Ends the hash and frees what it holds; `out` may be NULL to drop it. */
void hash_end(struct hash *hash, uint8_t out[HASH_SHA256_BYTES]);
void hash_hex(char out[HASH_HEX_BYTES], const uint8_t digest[HASH_SHA256_BYTES]);

#endif
