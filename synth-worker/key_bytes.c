/*
 * Reads and hashes a key file. Called by compile.c. The memory is anonymous: a SIGKILL leaves
 * nothing.
 */
#include "synth-worker/key_bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>

#include "shm/program.h"
#include "synth-worker/complaint.h"
#include "synth-worker/hash.h"

#define CHUNK_BYTES (UINT64_C(4) << 20)

static int read_hashing(const struct binfile_source *file, uint8_t *out, struct hash *hash,
                        struct complaint *complaint)
{
    for (uint64_t done = 0; done < file->size;) {
        uint64_t left = file->size - done, chunk = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        int status = binfile_read(file, done, out + done, chunk, complaint);
        if (status)
            return status;
        hash_add(hash, out + done, chunk);
        done += chunk;
    }
    return 0;
}

static int read_file(struct binfile_source *out, const struct key_file *from, struct hash *hash,
                     struct complaint *complaint)
{
    struct binfile_source file;
    int status = binfile_source_fd(&file, from->fd, from->name, complaint);
    if (status)
        return status;
    if (!file.size)
        return complain_input(complaint, "%.700s: Invalid File format", from->name);
    uint8_t *bytes =
        mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return complain_system(complaint, EXIT_MACHINE, errno,
                               "%.700s: no memory for its %" PRIu64 " bytes", from->name,
                               file.size);
    madvise(bytes, file.size, MADV_HUGEPAGE); /* a wish: a hundredth of the page faults */
    *out = (struct binfile_source){.bytes = bytes, .fd = -1, .size = file.size, .name = from->name};
    return read_hashing(&file, bytes, hash, complaint);
}

int key_bytes_read(struct key_bytes *key, const struct key_file *file, const struct key_file *r1cs,
                   struct complaint *complaint)
{
    struct hash hash;
    *key = (struct key_bytes){.source = {.fd = -1}, .r1cs = {.fd = -1}};
    hash_begin(&hash);
    int status = read_file(&key->source, file, &hash, complaint);
    if (!status && r1cs)
        status = read_file(&key->r1cs, r1cs, &hash, complaint);
    hash_end(&hash, key->hash);
    if (status)
        key_bytes_free(key);
    return status;
}

static void free_source(struct binfile_source *source)
{
    if (source->bytes)
        munmap((void *)source->bytes, source->size);
    *source = (struct binfile_source){.fd = -1};
}

void key_bytes_free(struct key_bytes *key)
{
    free_source(&key->source);
    free_source(&key->r1cs);
}
