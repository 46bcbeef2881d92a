/*
 * Proofs and public signals as JSON text: keys, order and values as snarkjs writes them, without
 * white space.
 */
#ifndef PAWL_GPU_WORKER_PROOF_JSON_H
#define PAWL_GPU_WORKER_PROOF_JSON_H

#include <stddef.h>
#include <stdint.h>

struct curve;
struct proof;

#define PROOF_JSON_BYTES_MAX 2048

/* NUL-terminated into out; returns the length. Infinity is ["0","1","0"], as snarkjs has it. */
size_t proof_json_write(char out[PROOF_JSON_BYTES_MAX], const struct curve *curve,
                        const struct proof *proof);
/*
 * The array of `count` plain elements of four words: malloc'd, NUL-terminated, its length to
 * *bytes. NULL: no memory.
 */
char *proof_json_publics(const uint64_t *publics, uint32_t count, size_t *bytes);

#endif
