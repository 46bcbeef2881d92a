/*
 * Uploads; see the header. Called by http_uploads.c and http_jobs.c. A SIGKILL frees the memfds.
 */
#include "coordinator/uploads.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "coordinator/fd_share.h"
#include "coordinator/store.h"

#define SLOT_BITS 16u
_Static_assert(UPLOADS_MAX <= 1u << SLOT_BITS, "a slot fits its bits of the id");

struct upload {
    uint64_t id, bytes, touched_ns;
    int fd;
    int is_finished;
    EVP_MD_CTX *sha256;
};

void uploads_init(struct uploads *uploads, struct store *store, uint64_t bytes_max)
{
    memset(uploads, 0, sizeof(*uploads));
    uploads->store = store;
    uploads->bytes_max = bytes_max;
}

static struct upload *find(const struct uploads *uploads, uint64_t id)
{
    uint32_t slot = id & ((1u << SLOT_BITS) - 1);
    struct upload *upload = slot < UPLOADS_MAX ? uploads->slots[slot] : NULL;
    return upload && upload->id == id ? upload : NULL;
}

static void drop(struct uploads *uploads, struct upload *upload)
{
    uploads->slots[upload->id & ((1u << SLOT_BITS) - 1)] = NULL;
    uploads->count--;
    uploads->bytes -= upload->bytes;
    EVP_MD_CTX_free(upload->sha256);
    if (upload->fd >= 0)
        close(upload->fd);
    free(upload);
}

void uploads_free(struct uploads *uploads)
{
    for (uint32_t slot = 0; slot < UPLOADS_MAX; slot++)
        if (uploads->slots[slot])
            drop(uploads, uploads->slots[slot]);
}

/* ---- create ---- */

static int open_upload(struct upload *upload)
{
    upload->fd = memfd_create("pawl-upload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (upload->fd < 0)
        return -errno;
    if (!fd_share_has(FD_SHARE_UPLOAD, upload->fd))
        return -EMFILE;
    upload->sha256 = EVP_MD_CTX_new();
    if (!upload->sha256 || !EVP_DigestInit_ex(upload->sha256, EVP_sha256(), NULL))
        return -ENOMEM;
    return 0;
}

int uploads_create(struct uploads *uploads, uint64_t now_ns, uint64_t *id)
{
    uint32_t slot = 0;
    uint64_t random;
    if (uploads->count >= UPLOADS_MAX)
        return -ENOSPC;
    while (uploads->slots[slot])
        slot++;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EIO;
    struct upload *upload = calloc(1, sizeof(*upload));
    if (!upload)
        return -ENOMEM;
    upload->id = *id = random << SLOT_BITS | slot;
    upload->touched_ns = now_ns;
    uploads->slots[slot] = upload;
    uploads->count++;
    int error = open_upload(upload);
    if (error)
        drop(uploads, upload);
    return error;
}

/* ---- append ---- */

static int write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
    const char *at = data;
    while (bytes) {
        ssize_t written = pwrite(fd, at, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written ? -errno : -EIO;
        at += written;
        offset += (uint64_t)written;
        bytes -= (size_t)written;
    }
    return 0;
}

static int append_piece(struct upload *upload, struct evbuffer *part)
{
    struct evbuffer_iovec piece;
    if (evbuffer_peek(part, -1, NULL, &piece, 1) < 1)
        return -EIO;
    int error = write_all(upload->fd, piece.iov_base, piece.iov_len, upload->bytes);
    if (error)
        return error;
    if (!EVP_DigestUpdate(upload->sha256, piece.iov_base, piece.iov_len))
        return -EIO;
    upload->bytes += piece.iov_len;
    evbuffer_drain(part, piece.iov_len);
    return 0;
}

static int has_room(const struct uploads *uploads, uint64_t bytes)
{
    struct store_counts counts;
    uploads->store->counts(uploads->store, &counts);
    uint64_t used = counts.queued_bytes + uploads->bytes;
    return used <= uploads->bytes_max && bytes <= uploads->bytes_max - used;
}

int uploads_append(struct uploads *uploads, uint64_t id, uint64_t offset, struct evbuffer *part,
                   uint64_t now_ns, uint64_t *have)
{
    struct upload *upload = find(uploads, id);
    if (!upload)
        return -ENOENT;
    *have = upload->bytes;
    upload->touched_ns = now_ns;
    if (upload->is_finished)
        return -EALREADY;
    if (offset != upload->bytes)
        return -ESTALE;
    if (!has_room(uploads, evbuffer_get_length(part)))
        return -ENOSPC;
    int error = 0;
    while (!error && evbuffer_get_length(part))
        error = append_piece(upload, part);
    uploads->bytes += upload->bytes - *have;
    *have = upload->bytes;
    if (error) /* the digest and the file may differ now */
        drop(uploads, upload);
    return error;
}

/* ---- finish ---- */

static int compare_digest(struct upload *upload, const uint8_t *digest)
{
    uint8_t ours[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_MD_CTX *copy = EVP_MD_CTX_new(); /* so that a wrong digest can be followed by a right one */
    int right = copy && EVP_MD_CTX_copy_ex(copy, upload->sha256) &&
                EVP_DigestFinal_ex(copy, ours, &length) && length == UPLOAD_DIGEST_BYTES;
    EVP_MD_CTX_free(copy);
    if (!right)
        return -EIO;
    return memcmp(ours, digest, UPLOAD_DIGEST_BYTES) == 0 ? 0 : -EBADMSG;
}

/* From here on it can be read only, by us as by everybody. */
static int seal(struct upload *upload)
{
    char path[64];
    if (fcntl(upload->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        return -errno;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", upload->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* The number stays: it is within the clients' share. */
    int error = dup3(fd, upload->fd, O_CLOEXEC) < 0 ? -errno : 0;
    close(fd);
    return error;
}

int uploads_finish(struct uploads *uploads, uint64_t id, uint64_t bytes,
                   const uint8_t digest[UPLOAD_DIGEST_BYTES], uint64_t now_ns, uint64_t *have)
{
    struct upload *upload = find(uploads, id);
    if (!upload)
        return -ENOENT;
    *have = upload->bytes;
    upload->touched_ns = now_ns;
    if (upload->is_finished)
        return -EALREADY;
    if (bytes != upload->bytes)
        return -ERANGE;
    int error = compare_digest(upload, digest);
    if (error)
        return error;
    error = seal(upload);
    if (error)
        drop(uploads, upload);
    else
        upload->is_finished = 1;
    return error;
}

/* ---- use ---- */

int uploads_check(const struct uploads *uploads, uint64_t id, uint64_t *bytes)
{
    const struct upload *upload = find(uploads, id);
    if (!upload)
        return -ENOENT;
    *bytes = upload->bytes;
    return upload->is_finished ? 0 : -EBUSY;
}

int uploads_take(struct uploads *uploads, uint64_t id)
{
    struct upload *upload = find(uploads, id);
    if (!upload)
        return -ENOENT;
    if (!upload->is_finished)
        return -EBUSY;
    int fd = upload->fd;
    upload->fd = -1;
    drop(uploads, upload);
    return fd;
}

void uploads_tick(struct uploads *uploads, uint64_t now_ns)
{
    if (uploads->count == 0)
        return;
    for (uint32_t slot = 0; slot < UPLOADS_MAX; slot++) {
        struct upload *upload = uploads->slots[slot];
        if (upload && now_ns > upload->touched_ns && now_ns - upload->touched_ns > UPLOAD_IDLE_NS)
            drop(uploads, upload);
    }
}
