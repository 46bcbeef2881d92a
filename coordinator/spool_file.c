/*
 * Files of the spool in the making; see the header. Called on the disk thread by uploads.c and
 * inputs.c. A SIGKILL leaves a file that no job owns, which the next start removes.
 */
#include "coordinator/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BUFFER_BYTES 65536u

int spool_file_create(struct spool_file *file, struct spool *spool)
{
    *file = (struct spool_file){.spool = spool, .fd = -1};
    file->sha256 = EVP_MD_CTX_new();
    if (!file->sha256 || !EVP_DigestInit_ex(file->sha256, EVP_sha256(), NULL)) {
        spool_file_release(file);
        return -ENOMEM;
    }
    file->fd = spool_create(spool, file->name);
    if (file->fd >= 0)
        return 0;
    spool_file_release(file);
    return file->fd;
}

/* ---- bytes that lie in the file ---- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int take_in(struct spool_file *file, const void *data, size_t bytes)
{
    const char *at = data;
    for (size_t i = 0; i < bytes && !file->first; i++)
        if (!is_blank(at[i]))
            file->first = at[i];
    file->bytes += bytes;
    return EVP_DigestUpdate(file->sha256, data, bytes) ? 0 : -EIO;
}

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

int spool_file_write(struct spool_file *file, const void *data, size_t bytes)
{
    int error = write_all(file->fd, data, bytes, file->bytes);
    return error ? error : take_in(file, data, bytes);
}

/* ---- copying ---- */

/* Hashes what has been put into our own file behind file->bytes. */
static int64_t take_in_file(struct spool_file *file, uint64_t bytes)
{
    char buffer[BUFFER_BYTES];
    uint64_t end = file->bytes + bytes;
    while (file->bytes < end) {
        uint64_t left = end - file->bytes;
        size_t most = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
        ssize_t got = pread(file->fd, buffer, most, (off_t)file->bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? -errno : -EIO;
        int error = take_in(file, buffer, (size_t)got);
        if (error)
            return error;
    }
    return (int64_t)bytes;
}

/* All of `from` at once, where both lie on one file system that shares extents. */
static void try_clone(struct spool_file *file, int from, uint64_t bytes)
{
    if (ioctl(file->fd, FICLONE, from))
        return;
    off_t end = lseek(file->fd, 0, SEEK_END);
    if (end > 0 && (uint64_t)end > bytes && ftruncate(file->fd, (off_t)bytes) == 0)
        end = (off_t)bytes;
    file->cloned_bytes = end > 0 ? (uint64_t)end : 0;
}

static int64_t copy_in_kernel(struct spool_file *file, int from, uint64_t most)
{
    off_t source = (off_t)file->bytes, target = (off_t)file->bytes;
    ssize_t got = copy_file_range(from, &source, file->fd, &target, (size_t)most, 0);
    return got < 0 ? -errno : got;
}

static int64_t copy_by_hand(struct spool_file *file, int from, uint64_t most)
{
    char buffer[BUFFER_BYTES];
    uint64_t done = 0;
    while (done < most) {
        uint64_t left = most - done;
        size_t wanted = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
        ssize_t got = pread(from, buffer, wanted, (off_t)file->bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? -errno : (int64_t)done;
        int error = spool_file_write(file, buffer, (size_t)got);
        if (error)
            return error;
        done += (uint64_t)got;
    }
    return (int64_t)done;
}

int64_t spool_file_copy(struct spool_file *file, int from, uint64_t bytes)
{
    uint64_t left = bytes > file->bytes ? bytes - file->bytes : 0;
    uint64_t most = left < SPOOL_SLICE_BYTES ? left : SPOOL_SLICE_BYTES;
    if (file->bytes == 0 && most)
        try_clone(file, from, bytes);
    if (file->cloned_bytes) {
        uint64_t cloned = file->cloned_bytes - file->bytes;
        return take_in_file(file, cloned < most ? cloned : most);
    }
    int64_t got = most ? copy_in_kernel(file, from, most) : 0;
    /* Some file systems cannot, or say 0 of files that have more than they tell. */
    return got > 0 ? take_in_file(file, (uint64_t)got) : copy_by_hand(file, from, most);
}

/* ---- the end ---- */

int spool_file_hash(struct spool_file *file)
{
    uint8_t ours[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_MD_CTX *copy = EVP_MD_CTX_new(); /* so that more bytes may follow */
    int fine = copy && EVP_MD_CTX_copy_ex(copy, file->sha256) &&
               EVP_DigestFinal_ex(copy, ours, &length) && length == SPOOL_DIGEST_BYTES;
    EVP_MD_CTX_free(copy);
    if (!fine)
        return -ENOMEM;
    memcpy(file->digest, ours, SPOOL_DIGEST_BYTES);
    return 0;
}

/* From here on it can be read only, by us as by everybody. */
static int make_read_only(int fd)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    if (again < 0)
        return -errno;
    /* The number stays: it is within the clients' share. */
    int error = dup3(again, fd, O_CLOEXEC) < 0 ? -errno : 0;
    close(again);
    return error;
}

int spool_file_finish(struct spool_file *file)
{
    int error = spool_file_hash(file);
    if (!error)
        error = spool_keep(file->spool, file->fd);
    if (error)
        return error;
    if (file->spool->folder < 0)
        return make_read_only(file->fd);
    close(file->fd);
    file->fd = -1;
    return 0;
}

int spool_file_is_json(const struct spool_file *file)
{
    return file->first == '{';
}

void spool_file_release(struct spool_file *file)
{
    EVP_MD_CTX_free(file->sha256);
    file->sha256 = NULL;
}

void spool_file_drop(struct spool_file *file)
{
    spool_file_release(file);
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    if (file->name[0])
        spool_remove(file->spool, file->name);
    file->name[0] = '\0';
}
