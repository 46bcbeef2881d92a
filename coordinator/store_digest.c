/*
 * The digest of a request for idempotency keys; see store.h. Called by the stores at acceptance. A
 * SIGKILL leaves nothing.
 */
#include "coordinator/store.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

/* Fixed widths, so that no two requests give the same bytes. */
static int add_input(EVP_MD_CTX *sha256, const struct store_input *input)
{
    const uint64_t numbers[2] = {input->kind, input->bytes};
    return EVP_DigestUpdate(sha256, numbers, sizeof(numbers)) &&
           EVP_DigestUpdate(sha256, input->sha256, sizeof(input->sha256));
}

static int add_all(EVP_MD_CTX *sha256, const struct store_spec *spec)
{
    char names[2][STORE_NAME_BYTES] = {{0}};
    _Static_assert(sizeof(names[0]) == STORE_PROGRAM_BYTES, "both fit");
    memcpy(names[0], spec->circuit, strnlen(spec->circuit, STORE_NAME_BYTES - 1));
    memcpy(names[1], spec->program, strnlen(spec->program, STORE_PROGRAM_BYTES - 1));
    int fine = EVP_DigestInit_ex(sha256, EVP_sha256(), NULL) &&
               EVP_DigestUpdate(sha256, names, sizeof(names)) &&
               EVP_DigestUpdate(sha256, spec->hash, sizeof(spec->hash));
    for (uint32_t i = 0; fine && i < spec->partition_count; i++)
        fine = add_input(sha256, &spec->partitions[i].input);
    return fine;
}

int store_digest(const struct store_spec *spec, uint8_t digest[32])
{
    EVP_MD_CTX *sha256 = EVP_MD_CTX_new();
    int fine = sha256 && add_all(sha256, spec) && EVP_DigestFinal_ex(sha256, digest, NULL);
    EVP_MD_CTX_free(sha256);
    return fine ? 0 : -ENOMEM;
}
