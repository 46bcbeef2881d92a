/*
 * The container of zkey and wtns files: a type, a version, and sections in any order.
 *
 * 4 bytes ASCII type; u32 version; u32 section count; then for each section u32 id, u64 length and
 * the payload; all little-endian, no padding. Payloads may start at any address: they are copied
 * out, never cast. Bytes after the last section are ignored. Every length is held against the
 * file's size before it is used. No state but the caller's; a SIGKILL leaves nothing.
 */
#ifndef PAWL_SYNTH_WORKER_BINFILE_H
#define PAWL_SYNTH_WORKER_BINFILE_H

#include <stddef.h>
#include <stdint.h>

struct complaint;

#define BINFILE_IDS 16u             /* ids below this are found; others are skipped */
#define BINFILE_SECTIONS_MAX 65536u /* a bound on time; real files have about ten */

/* Where the bytes are: memory (`bytes` not NULL) or a file descriptor that preads. */
struct binfile_source {
    const uint8_t *bytes;
    int fd;
    uint64_t size;
    const char *name; /* for error texts: a path or the witness's label */
};

struct binfile_section {
    uint64_t offset, length;
    uint32_t count; /* how often the id occurs; offset and length are of the first */
};

struct binfile {
    struct binfile_source source;
    uint32_t version;
    struct binfile_section section[BINFILE_IDS];
};

/* A source over `fd` (borrowed), sized by fstat. 0 or -errno with the complaint set. */
int binfile_source_fd(struct binfile_source *source, int fd, const char *name,
                      struct complaint *complaint);
/* Copies `bytes` bytes at `offset`. A file that is shorter is the input's fault. 0 or -errno. */
int binfile_read(const struct binfile_source *source, uint64_t offset, void *out, size_t bytes,
                 struct complaint *complaint);
/* Reads the table of sections of a file of that type (4 letters), up to `version`. 0 or -errno. */
int binfile_open(struct binfile *file, const struct binfile_source *source, const char *type,
                 uint32_t version, struct complaint *complaint);
/* The first section with that id, or NULL with "NAME: Missing section N". id < BINFILE_IDS. */
const struct binfile_section *binfile_section(const struct binfile *file, uint32_t id,
                                              struct complaint *complaint);

uint32_t binfile_u32(const uint8_t *bytes);
uint64_t binfile_u64(const uint8_t *bytes);

#endif
