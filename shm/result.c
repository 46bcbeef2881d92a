/*
 * Results in sealed memfds. gpu-workers create, the coordinator reads. The seals make the bytes
 * final before they are looked at; a SIGKILL of either side frees the memory with the last fd.
 */
#include "shm/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define TEXT_DEPTH_MAX 8

static int write_all(int fd, const void *bytes, size_t count)
{
    const char *at = bytes;

    while (count) {
        ssize_t put = write(fd, at, count);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        at += put;
        count -= (size_t)put;
    }
    return 0;
}

static int lengths_fit(uint64_t proof_bytes, uint64_t public_bytes)
{
    return proof_bytes > 0 && proof_bytes <= RESULT_PROOF_BYTES_MAX && public_bytes > 0 &&
           public_bytes <= RESULT_BYTES_MAX - RESULT_PROOF_BYTES_MAX - sizeof(struct result_header);
}

int result_create(struct result_header *header, const char *proof, size_t proof_bytes,
                  const char *publics, size_t public_bytes)
{
    if (!lengths_fit(proof_bytes, public_bytes))
        return -EMSGSIZE;
    header->magic = RESULT_MAGIC;
    header->layout = RESULT_LAYOUT;
    header->proof_bytes = proof_bytes;
    header->public_bytes = public_bytes;
    int fd = memfd_create("pawl-result", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    int error = write_all(fd, header, sizeof(*header));
    if (!error)
        error = write_all(fd, proof, proof_bytes);
    if (!error)
        error = write_all(fd, publics, public_bytes);
    if (!error && fcntl(fd, F_ADD_SEALS, RESULT_SEALS | F_SEAL_SEAL))
        error = -errno;
    if (!error)
        return fd;
    close(fd);
    return error;
}

/* ---- the texts: strings of [a-z0-9_], arrays and objects of them, nothing else ---- */

struct scan {
    const char *at, *end;
};

static int scan_char(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return 0;
    scan->at++;
    return 1;
}

static int scan_string(struct scan *scan)
{
    if (!scan_char(scan, '"'))
        return 0;
    while (scan->at < scan->end && ((*scan->at >= 'a' && *scan->at <= 'z') ||
                                    (*scan->at >= '0' && *scan->at <= '9') || *scan->at == '_'))
        scan->at++;
    return scan_char(scan, '"');
}

static int scan_value(struct scan *scan, int depth);

/* What stands between the brackets, and the closing one. */
static int scan_members(struct scan *scan, char close_with, int depth)
{
    if (scan_char(scan, close_with))
        return 1;
    do {
        if (close_with == '}' && !(scan_string(scan) && scan_char(scan, ':')))
            return 0;
        if (!scan_value(scan, depth))
            return 0;
    } while (scan_char(scan, ','));
    return scan_char(scan, close_with);
}

static int scan_value(struct scan *scan, int depth)
{
    if (depth < TEXT_DEPTH_MAX && scan_char(scan, '['))
        return scan_members(scan, ']', depth + 1);
    if (depth < TEXT_DEPTH_MAX && scan_char(scan, '{'))
        return scan_members(scan, '}', depth + 1);
    return scan_string(scan);
}

static int is_text(const char *text, uint64_t bytes, char open_with)
{
    struct scan scan = {text, text + bytes};

    return bytes && *text == open_with && scan_value(&scan, 0) && scan.at == scan.end;
}

/* ---- taking over ---- */

static int read_all(int fd, void *out, size_t count, off_t offset)
{
    char *at = out;

    while (count) {
        ssize_t got = pread(fd, at, count, offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? -errno : -EBADMSG;
        at += got;
        count -= (size_t)got;
        offset += got;
    }
    return 0;
}

static int read_header(int fd, uint64_t bytes, struct result_header *header)
{
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & RESULT_SEALS) != RESULT_SEALS)
        return -EBADMSG;
    if (fstat(fd, &status))
        return -errno;
    if ((uint64_t)status.st_size != bytes || bytes < sizeof(*header) || bytes > RESULT_BYTES_MAX)
        return -EBADMSG;
    int error = read_all(fd, header, sizeof(*header), 0);
    if (error)
        return error;
    if (header->magic != RESULT_MAGIC || header->layout != RESULT_LAYOUT ||
        !lengths_fit(header->proof_bytes, header->public_bytes) ||
        sizeof(*header) + header->proof_bytes + header->public_bytes != bytes)
        return -EBADMSG;
    return 0;
}

static int read_texts(int fd, const struct result_header *header, char *proof, char *publics)
{
    int error = read_all(fd, proof, header->proof_bytes, sizeof(*header));

    if (!error)
        error = read_all(fd, publics, header->public_bytes,
                         (off_t)(sizeof(*header) + header->proof_bytes));
    if (error)
        return error;
    proof[header->proof_bytes] = 0;
    publics[header->public_bytes] = 0;
    return is_text(proof, header->proof_bytes, '{') && is_text(publics, header->public_bytes, '[')
               ? 0
               : -EBADMSG;
}

int result_read(int fd, uint64_t bytes, struct result_header *header, char **text, char **publics)
{
    int error = read_header(fd, bytes, header);

    *text = *publics = NULL;
    if (error)
        return error;
    char *block = malloc(header->proof_bytes + header->public_bytes + 2);
    if (!block)
        return -ENOMEM;
    char *second = block + header->proof_bytes + 1;
    error = read_texts(fd, header, block, second);
    if (error) {
        free(block);
        return error;
    }
    *text = block;
    *publics = second;
    return 0;
}
