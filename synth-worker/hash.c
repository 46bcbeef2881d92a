/*
 * SHA-256 by libcrypto's EVP. Called by key_bytes.c, fill.c and the cache. A SIGKILL leaves
 * nothing.
 */
#include "synth-worker/hash.h"

#include <assert.h>
#include <openssl/evp.h>

static void must(int ok)
{
    assert(ok && "libcrypto computes SHA-256");
}

void hash_begin(struct hash *hash)
{
    hash->context = EVP_MD_CTX_new();
    must(hash->context && EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL));
}

void hash_add(struct hash *hash, const void *bytes, uint64_t count)
{
    must(EVP_DigestUpdate(hash->context, bytes, count));
}

void hash_end(struct hash *hash, uint8_t out[HASH_SHA256_BYTES])
{
    if (out)
        must(EVP_DigestFinal_ex(hash->context, out, NULL));
    EVP_MD_CTX_free(hash->context);
    hash->context = NULL;
}

void hash_hex(char out[HASH_HEX_BYTES], const uint8_t digest[HASH_SHA256_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < HASH_SHA256_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[HASH_HEX_BYTES - 1] = 0;
}
