/*
 * Uploads; see the header. Called by http_uploads.c and inputs.c. A SIGKILL leaves the files of
 * uploads that no job has taken, which the next start removes.
 *
 * An upload's file is the disk thread's while is_busy, and the loop's else.
 */
#include "coordinator/uploads.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "coordinator/disk_thread.h"
#include "coordinator/fd_share.h"
#include "coordinator/spool_file.h"
#include "coordinator/store.h"

#define SLOT_BITS 16u
_Static_assert(UPLOADS_MAX <= 1u << SLOT_BITS, "a slot fits its bits of the id");

struct upload {
    struct disk_work work; /* first: an upload is its work */
    struct uploads *uploads;
    uint64_t id, touched_ns;
    uint64_t counted_bytes; /* in uploads->bytes */
    struct spool_file file;
    int is_busy, is_finished, is_taken;
    /* what is being done */
    struct evbuffer *part;
    uint8_t expected[UPLOAD_DIGEST_BYTES];
    int error;
    upload_answer *answer;
    void *arg;
};

void uploads_init(struct uploads *uploads, struct store *store, struct spool *spool,
                  struct disk_thread *disk, uint64_t bytes_max)
{
    memset(uploads, 0, sizeof(*uploads));
    uploads->store = store;
    uploads->spool = spool;
    uploads->disk = disk;
    uploads->bytes_max = bytes_max;
}

static uint32_t slot_of(uint64_t id)
{
    return id & ((1u << SLOT_BITS) - 1);
}

static struct upload *find(const struct uploads *uploads, uint64_t id)
{
    uint32_t slot = slot_of(id);
    struct upload *upload = slot < UPLOADS_MAX ? uploads->slots[slot] : NULL;
    return upload && upload->id == id ? upload : NULL;
}

static struct upload *upload_of(struct disk_work *work)
{
    return (struct upload *)work;
}

/* ---- ends ---- */

static void forget(struct upload *upload)
{
    struct uploads *uploads = upload->uploads;
    uploads->slots[slot_of(upload->id)] = NULL;
    uploads->count--;
    uploads->bytes -= upload->counted_bytes;
    upload->counted_bytes = 0;
}

static void run_drop(struct disk_work *work)
{
    spool_file_drop(&upload_of(work)->file);
}

static void free_upload(struct disk_work *work)
{
    free(upload_of(work));
}

/* Nobody finds it from now on; its file goes on the disk thread. */
static void drop(struct upload *upload)
{
    forget(upload);
    upload->work.run = run_drop;
    upload->work.done = free_upload;
    disk_thread_must_post(upload->uploads->disk, &upload->work);
}

void uploads_free(struct uploads *uploads)
{
    for (uint32_t slot = 0; slot < UPLOADS_MAX; slot++) {
        struct upload *upload = uploads->slots[slot];
        if (!upload)
            continue;
        assert(!upload->is_busy);
        forget(upload);
        spool_file_drop(&upload->file);
        free(upload);
    }
}

/* ---- what is done on the disk thread ---- */

/* On the loop, after `run`. An upload whose file may be wrong is lost, and said so. */
static void answer_done(struct upload *upload)
{
    int error = upload->error;
    upload_answer *answer = upload->answer;
    void *arg = upload->arg;
    uint64_t id = upload->id, have = upload->file.bytes;
    upload->is_busy = 0;
    if (error && error != -EBADMSG)
        drop(upload);
    answer(arg, error, id, have);
}

static void on_done(struct disk_work *work)
{
    answer_done(upload_of(work));
}

/* 0 or -EBUSY. */
static int start(struct upload *upload, void (*run)(struct disk_work *work),
                 void (*done)(struct disk_work *work), upload_answer *answer, void *arg)
{
    upload->work.run = run;
    upload->work.done = done;
    upload->answer = answer;
    upload->arg = arg;
    upload->error = 0;
    int error = disk_thread_post(upload->uploads->disk, &upload->work);
    upload->is_busy = !error;
    return error;
}

/* 0 where something can be done with the upload now. */
static int check(const struct upload *upload)
{
    if (!upload || upload->is_taken)
        return -ENOENT;
    if (upload->is_busy)
        return -EAGAIN;
    return upload->is_finished ? -EALREADY : 0;
}

/* ---- create ---- */

static void run_create(struct disk_work *work)
{
    struct upload *upload = upload_of(work);
    upload->error = spool_file_create(&upload->file, upload->uploads->spool);
    if (!upload->error && !fd_share_has(FD_SHARE_UPLOAD, upload->file.fd))
        upload->error = -EMFILE;
}

static struct upload *make(struct uploads *uploads, uint64_t now_ns)
{
    uint32_t slot = 0;
    uint64_t random;
    struct upload *upload = calloc(1, sizeof(*upload));
    if (!upload || getrandom(&random, sizeof(random), 0) != sizeof(random)) {
        free(upload);
        return NULL;
    }
    while (uploads->slots[slot])
        slot++;
    upload->uploads = uploads;
    upload->id = random << SLOT_BITS | slot;
    upload->touched_ns = now_ns;
    upload->file.fd = -1;
    uploads->slots[slot] = upload;
    uploads->count++;
    return upload;
}

void uploads_create(struct uploads *uploads, uint64_t now_ns, upload_answer *answer, void *arg)
{
    struct upload *upload = NULL;
    int error = uploads->count >= UPLOADS_MAX ? -EXFULL : 0;
    if (!error)
        upload = make(uploads, now_ns);
    if (!error && !upload)
        error = -ENOMEM;
    if (!error)
        error = start(upload, run_create, on_done, answer, arg);
    if (!error)
        return;
    if (upload) {
        forget(upload);
        free(upload);
    }
    answer(arg, error, 0, 0);
}

/* ---- append ---- */

static int append_piece(struct upload *upload)
{
    struct evbuffer_iovec piece;
    if (evbuffer_peek(upload->part, -1, NULL, &piece, 1) < 1)
        return -EIO;
    int error = spool_file_write(&upload->file, piece.iov_base, piece.iov_len);
    evbuffer_drain(upload->part, piece.iov_len);
    return error;
}

static void run_append(struct disk_work *work)
{
    struct upload *upload = upload_of(work);
    while (!upload->error && evbuffer_get_length(upload->part))
        upload->error = append_piece(upload);
    evbuffer_free(upload->part);
    upload->part = NULL;
}

static int has_room(const struct uploads *uploads, uint64_t bytes)
{
    struct store_counts counts;
    uploads->store->counts(uploads->store, &counts);
    uint64_t used = counts.queued_bytes + uploads->bytes + uploads->reserved;
    return used <= uploads->bytes_max && bytes <= uploads->bytes_max - used;
}

/* Moves the part's bytes, which become ours alone, to the disk thread. */
static int start_append(struct upload *upload, struct evbuffer *part, upload_answer *answer,
                        void *arg)
{
    uint64_t bytes = evbuffer_get_length(part);
    upload->part = evbuffer_new();
    if (!upload->part || evbuffer_add_buffer(upload->part, part)) {
        if (upload->part)
            evbuffer_free(upload->part);
        upload->part = NULL;
        return -EBUSY;
    }
    int error = start(upload, run_append, on_done, answer, arg);
    if (error) {
        evbuffer_free(upload->part);
        upload->part = NULL;
        return error;
    }
    upload->counted_bytes += bytes;
    upload->uploads->bytes += bytes;
    return 0;
}

void uploads_append(struct uploads *uploads, uint64_t id, uint64_t offset, struct evbuffer *part,
                    uint64_t now_ns, upload_answer *answer, void *arg)
{
    struct upload *upload = find(uploads, id);
    uint64_t have = 0;
    int error = check(upload);
    if (!error) {
        have = upload->file.bytes;
        upload->touched_ns = now_ns;
        if (offset != have)
            error = -ESTALE;
        else if (have + evbuffer_get_length(part) > uploads->bytes_max)
            error = -EMSGSIZE;
        else if (!has_room(uploads, evbuffer_get_length(part)))
            error = -EXFULL;
        else
            error = start_append(upload, part, answer, arg);
    }
    if (error)
        answer(arg, error, id, have);
}

/* ---- finish ---- */

static void run_finish(struct disk_work *work)
{
    struct upload *upload = upload_of(work);
    upload->error = spool_file_hash(&upload->file);
    if (!upload->error && memcmp(upload->file.digest, upload->expected, UPLOAD_DIGEST_BYTES) != 0)
        upload->error = -EBADMSG;
    if (upload->error)
        return;
    int error = spool_file_finish(&upload->file);
    upload->error = error == -EBADMSG ? -EIO : error; /* ours means another thing */
}

static void on_finished(struct disk_work *work)
{
    struct upload *upload = upload_of(work);
    upload->is_finished = !upload->error;
    answer_done(upload);
}

void uploads_finish(struct uploads *uploads, uint64_t id, uint64_t bytes,
                    const uint8_t digest[UPLOAD_DIGEST_BYTES], uint64_t now_ns,
                    upload_answer *answer, void *arg)
{
    struct upload *upload = find(uploads, id);
    uint64_t have = 0;
    int error = check(upload);
    if (!error) {
        have = upload->file.bytes;
        upload->touched_ns = now_ns;
        memcpy(upload->expected, digest, UPLOAD_DIGEST_BYTES);
        error = bytes == have ? start(upload, run_finish, on_finished, answer, arg) : -ERANGE;
    }
    if (error)
        answer(arg, error, id, have);
}

int uploads_drop(struct uploads *uploads, uint64_t id)
{
    struct upload *upload = find(uploads, id);
    int error = check(upload);
    if (error && error != -EALREADY)
        return error;
    drop(upload);
    return 0;
}

/* ---- use ---- */

int uploads_take(struct uploads *uploads, uint64_t id, const struct spool_file **file)
{
    struct upload *upload = find(uploads, id);
    if (!upload)
        return -ENOENT;
    if (upload->is_taken)
        return -EALREADY;
    if (upload->is_busy || !upload->is_finished)
        return -EAGAIN;
    upload->is_taken = 1;
    *file = &upload->file;
    return 0;
}

void uploads_give_back(struct uploads *uploads, uint64_t id, uint64_t now_ns)
{
    struct upload *upload = find(uploads, id);
    assert(upload && upload->is_taken);
    upload->is_taken = 0;
    upload->touched_ns = now_ns;
}

int uploads_consume(struct uploads *uploads, uint64_t id)
{
    struct upload *upload = find(uploads, id);
    assert(upload && upload->is_taken);
    int fd = upload->file.fd;
    forget(upload);
    spool_file_release(&upload->file);
    free(upload);
    return fd;
}

int uploads_reserve(struct uploads *uploads, uint64_t bytes)
{
    if (!has_room(uploads, bytes))
        return -EXFULL;
    uploads->reserved += bytes;
    return 0;
}

void uploads_unreserve(struct uploads *uploads, uint64_t bytes)
{
    assert(bytes <= uploads->reserved);
    uploads->reserved -= bytes;
}

void uploads_tick(struct uploads *uploads, uint64_t now_ns)
{
    if (uploads->count == 0)
        return;
    for (uint32_t slot = 0; slot < UPLOADS_MAX; slot++) {
        struct upload *upload = uploads->slots[slot];
        if (!upload || upload->is_busy || upload->is_taken)
            continue;
        if (now_ns > upload->touched_ns && now_ns - upload->touched_ns > UPLOAD_IDLE_NS)
            drop(upload);
    }
}
