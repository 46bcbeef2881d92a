/*
 * A zkey or wtns file taken apart into sections, to be changed and put together again; and what
 * tests need to hand it to the synth-worker's functions. Header only; asserts where memory or a
 * fixture is missing.
 */
#ifndef PAWL_TESTS_SYNTH_WORKER_CONTAINER_H
#define PAWL_TESTS_SYNTH_WORKER_CONTAINER_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "synth-worker/binfile.h"
#include "tests/support/files.h"

enum { CONTAINER_SECTIONS = 24 };

struct container {
    char type[4];
    uint32_t version;
    uint32_t count, claimed_count; /* claimed_count is what is written */
    struct container_section {
        uint32_t id;
        uint64_t bytes, claimed_bytes; /* claimed_bytes is what is written */
        uint8_t *payload;
    } section[CONTAINER_SECTIONS];
};

struct bytes {
    uint8_t *data;
    size_t count;
};

static inline uint8_t *copy_bytes(const void *from, size_t bytes)
{
    uint8_t *copy = malloc(bytes + 1);
    assert(copy);
    memcpy(copy, from, bytes);
    return copy;
}

static inline void container_add(struct container *file, uint32_t id, const void *payload,
                                 uint64_t bytes)
{
    assert(file->count < CONTAINER_SECTIONS);
    file->section[file->count++] =
        (struct container_section){id, bytes, bytes, copy_bytes(payload, bytes)};
    file->claimed_count = file->count;
}

static inline struct container container_parse(const uint8_t *data, size_t bytes)
{
    struct container file = {.version = binfile_u32(data + 4)};
    uint32_t count = binfile_u32(data + 8);
    size_t at = 12;
    memcpy(file.type, data, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = binfile_u64(data + at + 4);
        assert(at + 12 + length <= bytes);
        container_add(&file, binfile_u32(data + at), data + at + 12, length);
        at += 12 + length;
    }
    return file;
}

static inline struct container container_load(const char *folder, const char *name)
{
    size_t bytes;
    unsigned char *data = file_read(folder, name, &bytes);
    struct container file = container_parse(data, bytes);
    free(data);
    return file;
}

static inline void container_free(struct container *file)
{
    for (uint32_t i = 0; i < file->count; i++)
        free(file->section[i].payload);
    memset(file, 0, sizeof *file);
}

static inline struct container container_copy(const struct container *from)
{
    struct container to = *from;
    for (uint32_t i = 0; i < to.count; i++)
        to.section[i].payload = copy_bytes(from->section[i].payload, from->section[i].bytes);
    return to;
}

static inline void put_u32(uint8_t *out, uint32_t value)
{
    memcpy(out, &value, 4); /* tests run on little-endian machines */
}

static inline struct bytes container_write(const struct container *file)
{
    size_t count = 12;
    for (uint32_t i = 0; i < file->count; i++)
        count += 12 + file->section[i].bytes;
    struct bytes out = {malloc(count), 12};
    assert(out.data);
    memcpy(out.data, file->type, 4);
    put_u32(out.data + 4, file->version);
    put_u32(out.data + 8, file->claimed_count);
    for (uint32_t i = 0; i < file->count; i++) {
        const struct container_section *section = &file->section[i];
        put_u32(out.data + out.count, section->id);
        memcpy(out.data + out.count + 4, &section->claimed_bytes, 8);
        memcpy(out.data + out.count + 12, section->payload, section->bytes);
        out.count += 12 + section->bytes;
    }
    return out;
}

/* The first section with that id; there is one. */
static inline struct container_section *container_find(struct container *file, uint32_t id)
{
    for (uint32_t i = 0; i < file->count; i++)
        if (file->section[i].id == id)
            return &file->section[i];
    abort();
}

static inline void section_resize(struct container_section *section, uint64_t bytes)
{
    section->payload = realloc(section->payload, bytes + 1);
    assert(section->payload);
    if (bytes > section->bytes)
        memset(section->payload + section->bytes, 0, bytes - section->bytes);
    section->bytes = section->claimed_bytes = bytes;
}

static inline void container_remove(struct container *file, uint32_t index)
{
    free(file->section[index].payload);
    memmove(&file->section[index], &file->section[index + 1],
            (file->count - index - 1) * sizeof file->section[0]);
    file->claimed_count = --file->count;
}

static inline void container_swap(struct container *file, uint32_t i, uint32_t j)
{
    struct container_section kept = file->section[i];
    file->section[i] = file->section[j];
    file->section[j] = kept;
}

static inline void container_reverse(struct container *file)
{
    for (uint32_t i = 0; i < file->count / 2; i++)
        container_swap(file, i, file->count - 1 - i);
}

static inline int bytes_to_memfd(const void *data, size_t count)
{
    int fd = memfd_create("pawl-test", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, data, count) == (ssize_t)count);
    return fd;
}

#endif
