/*
 * `synth-worker --compile`: find the image of a key, or make it. Called by main.c and by tests; it
 * holds no fd of the region. A SIGKILL leaves what image_cache.h says.
 */
#include "synth-worker/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/curves.h"
#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/hash.h"
#include "synth-worker/image_build.h"
#include "synth-worker/image_cache.h"
#include "synth-worker/image_trim.h"
#include "synth-worker/key_bytes.h"

static int open_file(const char *path, struct stat *status, struct complaint *complaint)
{
    /* O_NONBLOCK: a FIFO in its place must not hold us up */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return complain_system(complaint, EXIT_INPUT, errno, "%.700s: cannot be opened", path);
    if (!fstat(fd, status))
        return fd;
    int error = errno;
    close(fd);
    return complain_system(complaint, EXIT_INTERNAL, error, "%.700s: cannot be examined", path);
}

static int make_image(const struct compile_request *request, const struct image_cache *cache,
                      const struct key_bytes *key, struct parallel *parallel,
                      struct compile_result *result, struct complaint *complaint)
{
    struct image_draft draft;
    struct image_header other;
    int status = image_cache_draft(cache, &draft, complaint);
    if (status)
        return status;
    status = image_build_file_r1cs(draft.fd, &key->source, key->r1cs.bytes ? &key->r1cs : NULL,
                                   key->hash, request->check_subgroups, parallel, &result->header,
                                   &result->repeated, complaint);
    /* Another compile of this key may have ended first, with more checks than ours. */
    if (status || image_cache_find(cache, key->hash, result->header.flags, &other)) {
        image_cache_discard(cache, &draft);
        return status;
    }
    return image_cache_publish(cache, &draft, key->hash, complaint);
}

static uint32_t wanted_flags(const struct compile_request *request)
{
    return request->check_subgroups ? IMAGE_SUBGROUPS_CHECKED : 0;
}

static int is_unchanged(int fd, const struct stat *before)
{
    struct stat now;
    return !fstat(fd, &now) && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec &&
           now.st_ctim.tv_sec == before->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == before->st_ctim.tv_nsec;
}

static int read_files(const struct compile_request *request, int key_fd, struct key_bytes *key,
                      struct complaint *complaint)
{
    const struct key_file file = {key_fd, request->key_path};
    struct stat unused;
    if (!request->r1cs_path)
        return key_bytes_read(key, &file, NULL, complaint);
    const struct key_file r1cs = {open_file(request->r1cs_path, &unused, complaint),
                                  request->r1cs_path};
    if (r1cs.fd < 0)
        return r1cs.fd;
    int status = key_bytes_read(key, &file, &r1cs, complaint);
    close(r1cs.fd);
    return status;
}

/* The link by file is of the key alone: with an r1cs both are hashed each time. */
static int find_or_make(const struct compile_request *request, const struct image_cache *cache,
                        int key_fd, const struct stat *status_before, struct parallel *parallel,
                        struct compile_result *result, struct complaint *complaint)
{
    struct key_bytes key;
    int status = read_files(request, key_fd, &key, complaint);
    if (status)
        return status;
    result->cached = image_cache_find(cache, key.hash, wanted_flags(request), &result->header);
    if (!result->cached)
        status = make_image(request, cache, &key, parallel, result, complaint);
    if (!status && !request->r1cs_path && is_unchanged(key_fd, status_before))
        image_cache_link_file(cache, status_before, key.hash);
    key_bytes_free(&key);
    return status;
}

int compile_key(const struct compile_request *request, struct parallel *parallel,
                struct compile_result *result, struct complaint *complaint)
{
    struct image_cache cache;
    struct stat key_status;
    int key_fd = open_file(request->key_path, &key_status, complaint);
    if (key_fd < 0)
        return key_fd;
    int status = image_cache_open(&cache, request->images, complaint);
    if (status)
        goto close_key;
    *result = (struct compile_result){0};
    cache.checks_bodies = request->check_image;
    if (!request->r1cs_path)
        result->cached =
            image_cache_find_file(&cache, &key_status, wanted_flags(request), &result->header);
    if (!result->cached)
        status = find_or_make(request, &cache, key_fd, &key_status, parallel, result, complaint);
    if (!status) {
        image_cache_touch(&cache, result->header.hash);
        image_cache_trim(&cache, request->images_max, result->header.hash);
    }
    image_cache_close(&cache);
close_key:
    close(key_fd);
    return status;
}

static void print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter == '"' || letter == '\\')
            fputc('\\', out);
        if (letter < 0x20)
            fprintf(out, "\\u%04x", letter);
        else
            fputc(letter, out);
    }
}

void compile_print(FILE *out, const struct compile_request *request,
                   const struct compile_result *result)
{
    const struct image_header *header = &result->header;
    char hex[HASH_HEX_BYTES];
    hash_hex(hex, header->hash);
    fprintf(out,
            "{\"hash\":\"%s\",\"slab_bytes\":%" PRIu64 ",\"curve\":\"%s\",\"wires\":%" PRIu32
            ",\"public\":%" PRIu32 ",\"domain\":%" PRIu64 ",\"bytes\":%" PRIu64
            ",\"device_bytes\":%" PRIu64 ",\"cached\":%s",
            hex, header->slab_bytes, curve_by_id(header->curve)->name, header->wires,
            header->public_count, UINT64_C(1) << header->log2_domain, header->file_bytes,
            (uint64_t)header->device_mib << 20, result->cached ? "true" : "false");
    if (request->r1cs_path)
        fprintf(out, ",\"constraints\":%" PRIu32, header->rows_c);
    fputs(",\"path\":\"", out);
    print_text(out, request->images);
    fprintf(out, "/%s.image\"", hex);
    if (result->program)
        fprintf(out, ",\"program\":\"%s\"", result->program);
    fputs("}\n", out);
}
