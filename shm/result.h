/*
 * A result: proof and public signals as a gpu-worker hands them over, in a sealed memfd: header,
 * then the proof's JSON text, then the public signals' JSON text, both as snarkjs writes their
 * values, compact (no white space), not NUL-terminated.
 */
#ifndef PAWL_SHM_RESULT_H
#define PAWL_SHM_RESULT_H

#include <stddef.h>
#include <stdint.h>

#define RESULT_MAGIC UINT64_C(0x315345524c574150) /* "PAWLRES1" */
#define RESULT_LAYOUT 1u
#define RESULT_BYTES_MAX (UINT64_C(900) << 20) /* a database takes 10^9 */
#define RESULT_PROOF_BYTES_MAX 4096u

struct result_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t partition;
    uint64_t job;
    uint64_t assignment;
    uint64_t generation;
    uint64_t proof_bytes;
    uint64_t public_bytes;
};
_Static_assert(sizeof(struct result_header) == 56, "result header layout");

/* Makes the sealed memfd; magic, layout and lengths are filled here. The fd, or -errno. */
int result_create(struct result_header *header, const char *proof, size_t proof_bytes,
                  const char *publics, size_t public_bytes);
/*
 * Takes a result over: checks the seals (shrink, grow, write), the size against the lengths and
 * `bytes`, and that both texts hold only what such JSON may (brackets that match, digits, quotes,
 * commas, colons, lower-case names). On success *text is a malloc'd block, proof text first
 * (NUL-terminated), public text at *publics (NUL-terminated). 0 or -errno (-EBADMSG).
 */
int result_read(int fd, uint64_t bytes, struct result_header *header, char **text, char **publics);

#endif
