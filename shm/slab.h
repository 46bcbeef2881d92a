/*
 * The bytes of a slab: header, witness, rows a and b. A synth-worker writes them, gpu-workers read
 * them.
 *
 * A SIGKILL of the writer leaves `sealed` zero (it is stored last, cleared first), so that a
 * half-filled slab is never taken for a whole one.
 */
#ifndef PAWL_SHM_SLAB_H
#define PAWL_SHM_SLAB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SLAB_MAGIC UINT64_C(0x31424c534c574150) /* "PAWLSLB1" */
#define SLAB_LAYOUT 1u
#define SLAB_ALIGN 64u
#define SLAB_HEADER_BYTES 4096u
#define SLAB_PAGE_BYTES 4096u
#define HASH_BYTES 32u

/* Offsets count from the slab's start; bytes 0 means absent (rows are, when the device evaluates
 * them). */
struct slab_section {
    uint64_t offset;
    uint64_t bytes;
};

struct slab_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t curve; /* enum curve_id */
    uint64_t generation;
    uint64_t job;
    uint32_t partition;
    uint32_t wires;
    uint64_t domain;
    uint8_t image_hash[HASH_BYTES];
    uint8_t witness_digest[HASH_BYTES]; /* SHA-256 of the witness section */
    struct slab_section witness;        /* wires elements, plain, 32 bytes each */
    struct slab_section rows_a;         /* domain elements, Montgomery, 32 bytes each */
    struct slab_section rows_b;
    /* Written last, cleared first: `generation` once all above and all sections are stored. */
    _Atomic uint64_t sealed;
};
_Static_assert(sizeof(struct slab_header) == 168, "slab header layout");
_Static_assert(offsetof(struct slab_header, sealed) == 160, "slab header layout");

/* What a slab holds for a circuit of these sizes. */
struct slab_plan {
    struct slab_section witness, rows_a, rows_b;
    uint64_t bytes; /* of the whole slab, a multiple of the page */
};

/* Computes the sections of a slab for `wires` and `domain`; with_rows = 0 leaves the rows out. 0,
 * or -EOVERFLOW. */
int slab_plan(struct slab_plan *plan, uint64_t wires, uint64_t domain, int with_rows);

/*
 * The writer's side: clears `sealed`, and later stores header then `sealed` (release; pairs with
 * slab_check). `header->sealed` is ignored.
 */
void slab_open(void *slab);
void slab_seal(void *slab, const struct slab_header *header);

/*
 * The reader's side: copies the header out once (it lies in memory that another process can write)
 * and checks magic, layout, that `sealed` equals its generation, and that all sections lie inside
 * `slab_bytes`, are aligned, and have the lengths that wires and domain demand. 0, or -EBADMSG with
 * `*what` naming the field at fault.
 */
int slab_check(struct slab_header *out, const void *slab, uint64_t slab_bytes, const char **what);

#endif
