/*
 * Uploads: a client's bytes, collected part by part in a file of the spool, which is durable when
 * it is whole. A job that names an upload takes it over. Bounded in number, in bytes (with the
 * store's, by queued_bytes) and in idle time.
 *
 * What waits for the disk is done on the disk thread. Its answer comes through a callback on the
 * loop, later or, where an error is known at once, during the call. One thing at a time is done
 * with an upload; the bytes of its part are all that is held of it in memory.
 */
#ifndef PAWL_COORDINATOR_UPLOADS_H
#define PAWL_COORDINATOR_UPLOADS_H

#include <stdint.h>

#define UPLOADS_MAX 8192u
#define UPLOAD_PART_BYTES_MAX (UINT64_C(4) << 20)
#define UPLOAD_IDLE_NS (UINT64_C(600) * 1000000000u)
#define UPLOAD_DIGEST_BYTES 32

struct disk_thread;
struct evbuffer;
struct spool;
struct spool_file;
struct store;
struct upload;

struct uploads {
    struct store *store;      /* borrowed: its bytes count too */
    struct spool *spool;      /* borrowed */
    struct disk_thread *disk; /* borrowed */
    uint64_t bytes_max;
    uint64_t bytes;    /* of all uploads, with the parts on their way to the disk */
    uint64_t reserved; /* of jobs on their way to the store */
    uint32_t count;
    struct upload *slots[UPLOADS_MAX]; /* an id's low 16 bits are its slot */
};

/* error: 0 or -errno; have: the bytes so far. */
typedef void upload_answer(void *arg, int error, uint64_t id, uint64_t have);

void uploads_init(struct uploads *uploads, struct store *store, struct spool *spool,
                  struct disk_thread *disk, uint64_t bytes_max);
/* Removes all; nothing may be under way on the disk thread any more. */
void uploads_free(struct uploads *uploads);

/* -EXFULL: too many; -EBUSY: the disk is; -errno (-EMFILE ...). */
void uploads_create(struct uploads *uploads, uint64_t now_ns, upload_answer *answer, void *arg);
/*
 * Appends a part, whose bytes are taken out of `part`. -ENOENT; -ESTALE: offset is not `have`;
 * -EALREADY: finished; -EAGAIN: something else is being done with it; -EXFULL: beyond queued_bytes
 * now; -EMSGSIZE: at any time; -EBUSY: the disk is; -errno: the upload is lost.
 */
void uploads_append(struct uploads *uploads, uint64_t id, uint64_t offset, struct evbuffer *part,
                    uint64_t now_ns, upload_answer *answer, void *arg);
/*
 * The upload is whole: its length and SHA-256 are compared, and it is made durable. -ENOENT;
 * -EALREADY; -EAGAIN; -EBUSY; -ERANGE: the length differs; -EBADMSG: the digest differs; -errno:
 * the upload is lost.
 */
void uploads_finish(struct uploads *uploads, uint64_t id, uint64_t bytes,
                    const uint8_t digest[UPLOAD_DIGEST_BYTES], uint64_t now_ns,
                    upload_answer *answer, void *arg);
/* Drops one that no job has. 0, -ENOENT, -EAGAIN. */
int uploads_drop(struct uploads *uploads, uint64_t id);

/* The finished file of the upload, for a job: nobody else gets it until uploads_give_back. 0;
 * -ENOENT, -EALREADY: another has it; -EAGAIN: not finished. */
int uploads_take(struct uploads *uploads, uint64_t id, const struct spool_file **file);
/* The job was not accepted. */
void uploads_give_back(struct uploads *uploads, uint64_t id, uint64_t now_ns);
/* The file goes to the store: its fd (-1 where the spool is a folder), and its name was in *file.
 */
int uploads_consume(struct uploads *uploads, uint64_t id);

/* Bytes of a job on its way to the store, which count like an upload's. 0 or -EXFULL. */
int uploads_reserve(struct uploads *uploads, uint64_t bytes);
void uploads_unreserve(struct uploads *uploads, uint64_t bytes);

/* Drops those that were idle for too long; called at each tick. */
void uploads_tick(struct uploads *uploads, uint64_t now_ns);

#endif
