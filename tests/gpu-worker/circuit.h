/*
 * A fixture's circuit and witness as a gpu-worker meets them: an image in a memfd, and a filled
 * slab in plain memory. Made by the synth-worker's own functions. Header only; asserts where a
 * fixture is missing or broken.
 */
#ifndef PAWL_TESTS_GPU_WORKER_CIRCUIT_H
#define PAWL_TESTS_GPU_WORKER_CIRCUIT_H

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/parallel.h"
#include "shm/image.h"
#include "shm/slab.h"
#include "synth-worker/binfile.h"
#include "synth-worker/complaint.h"
#include "synth-worker/fill.h"
#include "synth-worker/hash.h"
#include "synth-worker/image_build.h"
#include "tests/support/files.h"

#define CIRCUIT_R "12345"
#define CIRCUIT_S "67890"

struct circuit {
    char folder[256];
    int image_fd;
    uint8_t hash[HASH_BYTES];
    struct image image;
};

static inline int circuit_memfd(const void *bytes, size_t count)
{
    int fd = memfd_create("pawl-test", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, bytes, count) == (ssize_t)count);
    return fd;
}

static inline void circuit_hash(uint8_t out[HASH_BYTES], const void *bytes, size_t count)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, count);
    hash_end(&hash, out);
}

static inline void circuit_open(struct circuit *circuit, const char *folder)
{
    struct complaint complaint = {0};
    struct image_header header;
    const char *what;
    size_t bytes;
    unsigned char *key = file_read(folder, "key.zkey", &bytes);
    struct binfile_source source = {key, -1, bytes, "key.zkey"};
    snprintf(circuit->folder, sizeof(circuit->folder), "%s", folder);
    circuit_hash(circuit->hash, key, bytes);
    circuit->image_fd = memfd_create("pawl-test-image", MFD_CLOEXEC);
    assert(circuit->image_fd >= 0);
    int error = image_build_file(circuit->image_fd, &source, circuit->hash, 0, &parallel_serial,
                                 &header, &complaint);
    if (error)
        fprintf(stderr, "%s: %s\n", folder, complaint.text);
    assert(!error && image_map(&circuit->image, circuit->image_fd, &what) == 0);
    free(key);
}

static inline void circuit_close(struct circuit *circuit)
{
    image_unmap(&circuit->image);
    close(circuit->image_fd);
}

static inline uint64_t circuit_slab_bytes(const struct circuit *circuit)
{
    struct slab_plan plan;
    assert(fill_plan(&plan, &circuit->image, 1) == 0);
    return plan.bytes;
}

/* Flips a bit of the section's middle byte in the file, so in every mapping of it; a second call
 * mends it. */
static inline void circuit_damage(const struct circuit *circuit, enum image_tag tag)
{
    const struct image_section *section = image_find(circuit->image.header, tag, 0, 0, 0);
    off_t at = (off_t)(section->offset + section->bytes / 2);
    unsigned char byte;
    assert(pread(circuit->image_fd, &byte, 1, at) == 1);
    byte ^= 4;
    assert(pwrite(circuit->image_fd, &byte, 1, at) == 1);
}

/* How a witness is filled in; zero: w1 as it is, with rows. */
struct filling {
    const char *witness; /* NULL: w1.wtns */
    int without_rows;
    int broken; /* adds one to the last, a private, value */
    uint64_t generation, job;
    uint32_t partition;
};

static inline void circuit_break_witness(unsigned char *wtns, size_t bytes)
{
    assert(bytes > 32);
    wtns[bytes - 32] ^= 1; /* the values are the last section of circom's files */
}

/* Fills `slab`, of circuit_slab_bytes. The digest of the witness goes to `digest`. */
static inline void circuit_fill(const struct circuit *circuit, void *slab,
                                const struct filling *filling, uint8_t digest[HASH_BYTES])
{
    struct complaint complaint = {0};
    struct fill_result result;
    const char *name = filling->witness ? filling->witness : "w1.wtns";
    size_t bytes;
    unsigned char *wtns = file_read(circuit->folder, name, &bytes);
    if (filling->broken)
        circuit_break_witness(wtns, bytes);
    struct fill_request request = {.image = &circuit->image,
                                   .witness_fd = circuit_memfd(wtns, bytes),
                                   .label = name,
                                   .slab = slab,
                                   .generation = filling->generation,
                                   .job = filling->job,
                                   .partition = filling->partition,
                                   .with_rows = !filling->without_rows};
    int error = fill_slab(&request, &result, &complaint);
    if (error)
        fprintf(stderr, "%s: %s\n", circuit->folder, complaint.text);
    assert(error == 0);
    memcpy(digest, result.digest, HASH_BYTES);
    close(request.witness_fd);
    free(wtns);
}

/* What the independent prover gives for w1 with CIRCUIT_R and CIRCUIT_S, without white space:
 * {"proof":...,"public":...}; malloc'd. NULL: the fixture has none. */
static inline char *circuit_expected(const struct circuit *circuit)
{
    char path[700];
    size_t bytes, kept = 0;
    snprintf(path, sizeof(path), "%s/w1.r12345.s67890.json", circuit->folder);
    if (access(path, R_OK))
        return NULL;
    unsigned char *text = file_read(circuit->folder, "w1.r12345.s67890.json", &bytes);
    for (size_t i = 0; i < bytes; i++)
        if (!isspace(text[i]))
            text[kept++] = text[i];
    text[kept] = 0;
    return (char *)text;
}

/* 1 where proof and publics, as texts, are the expected ones. */
static inline int circuit_is_expected(const char *expected, const char *proof, const char *publics)
{
    size_t bytes = strlen(proof) + strlen(publics) + 64;
    char *text = malloc(bytes);
    assert(text);
    snprintf(text, bytes, "{\"proof\":%s,\"public\":%s}", proof, publics);
    int same = strcmp(text, expected) == 0;
    free(text);
    return same;
}

#endif
