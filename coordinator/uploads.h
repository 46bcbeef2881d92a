/*
 * Uploads: a client's bytes, collected part by part in a memfd that is sealed when it is whole. A
 * job that names an upload takes it over. Bounded in number, in bytes (with the store's, by
 * queued_bytes) and in idle time.
 */
#ifndef PAWL_COORDINATOR_UPLOADS_H
#define PAWL_COORDINATOR_UPLOADS_H

#include <stdint.h>

#define UPLOADS_MAX 8192u
#define UPLOAD_PART_BYTES_MAX (UINT64_C(4) << 20)
#define UPLOAD_IDLE_NS (UINT64_C(600) * 1000000000u)
#define UPLOAD_DIGEST_BYTES 32

struct evbuffer;
struct store;
struct upload;

struct uploads {
    struct store *store; /* borrowed: its bytes count too */
    uint64_t bytes_max;
    uint64_t bytes; /* of all uploads */
    uint32_t count;
    struct upload *slots[UPLOADS_MAX]; /* an id's low 16 bits are its slot */
};

void uploads_init(struct uploads *uploads, struct store *store, uint64_t bytes_max);
void uploads_free(struct uploads *uploads);

/* 0 and the id; -ENOSPC: too many; -errno (-EMFILE ...). */
int uploads_create(struct uploads *uploads, uint64_t now_ns, uint64_t *id);
/*
 * Appends a part, whose bytes are taken out of `part`. 0; -ENOENT; -ESTALE: offset is not *have,
 * the bytes so far; -EALREADY: finished; -ENOSPC: beyond queued_bytes; -errno.
 */
int uploads_append(struct uploads *uploads, uint64_t id, uint64_t offset, struct evbuffer *part,
                   uint64_t now_ns, uint64_t *have);
/*
 * The upload is whole: its length and SHA-256 are compared and it is sealed. 0; -ENOENT; -EALREADY;
 * -ERANGE: the length differs (*have: the bytes so far); -EBADMSG: the digest differs; -errno.
 */
int uploads_finish(struct uploads *uploads, uint64_t id, uint64_t bytes,
                   const uint8_t digest[UPLOAD_DIGEST_BYTES], uint64_t now_ns, uint64_t *have);
/* The finished upload's length, or -ENOENT, -EBUSY where it is not finished. */
int uploads_check(const struct uploads *uploads, uint64_t id, uint64_t *bytes);
/* Takes a finished upload out: a read-only fd, the caller's; or -errno (then it stays). */
int uploads_take(struct uploads *uploads, uint64_t id);
/* Drops those that were idle for too long; called at each tick. */
void uploads_tick(struct uploads *uploads, uint64_t now_ns);

#endif
