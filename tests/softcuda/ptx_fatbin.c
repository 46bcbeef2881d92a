/*
 * The container that nvcc makes: a header, then entries, each a header and a payload. Layout as
 * found in files of nvcc 13 (little-endian):
 *
 *     file    u32 magic 0xBA55ED50, u16 version 1, u16 header bytes, u64 bytes of all entries
 *     entry   u16 kind (1 PTX, 2 ELF), u16 version, u32 header bytes, u64 payload bytes,
 *             ... u32 architecture at 28, u64 flags at 40: 0x2000 LZ4, 0x8000 Zstandard
 *
 * Of several texts the one for the newest architecture is taken. Called by ptx_module.c with bytes
 * that may be damaged.
 */
#include "tests/softcuda/ptx_fatbin.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    FILE_HEADER = 16,
    ENTRY_HEADER = 64,
    KIND_PTX = 1,
    COMPRESSED_LZ4 = 0x2000,
    COMPRESSED_ZSTANDARD = 0x8000
};

static const uint32_t magic = 0xba55ed50;

struct entry {
    uint16_t kind;
    uint32_t header_bytes, architecture;
    uint64_t payload_bytes, flags;
};

static bool fail(char *why, size_t why_bytes, const char *what, uint64_t at)
{
    snprintf(why, why_bytes, "fatbin, byte %" PRIu64 ": %s", at, what);
    return false;
}

static void read_entry(const uint8_t *at, struct entry *entry)
{
    memcpy(&entry->kind, at, 2);
    memcpy(&entry->header_bytes, at + 4, 4);
    memcpy(&entry->payload_bytes, at + 8, 8);
    memcpy(&entry->architecture, at + 28, 4);
    memcpy(&entry->flags, at + 40, 8);
}

bool ptx_fatbin_is(const void *image, size_t bytes)
{
    return bytes >= 4 && memcmp(image, &magic, 4) == 0;
}

/* the end of the entries, within the image */
static bool read_header(const uint8_t *image, size_t bytes, uint64_t *at, uint64_t *end, char *why,
                        size_t why_bytes)
{
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
    if (bytes < FILE_HEADER)
        return fail(why, why_bytes, "it ends within its header", bytes);
    memcpy(&version, image + 4, 2);
    memcpy(&header_bytes, image + 6, 2);
    memcpy(&entries_bytes, image + 8, 8);
    if (version != 1)
        return fail(why, why_bytes, "a version that is not known", 4);
    if (header_bytes < FILE_HEADER || header_bytes > bytes || entries_bytes > bytes - header_bytes)
        return fail(why, why_bytes, "it is shorter than its header says", bytes);
    *at = header_bytes;
    *end = header_bytes + entries_bytes;
    return true;
}

/* trailing zeros are padding */
static size_t text_length(const uint8_t *text, uint64_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == 0)
        bytes--;
    return (size_t)bytes;
}

bool ptx_fatbin_text(const void *image, size_t bytes, const char **text, size_t *text_bytes,
                     char *why, size_t why_bytes)
{
    uint64_t at, end;
    uint32_t newest = 0;
    const uint8_t *data = image;
    *text = NULL;
    if (!read_header(data, bytes, &at, &end, why, why_bytes))
        return false;
    while (at < end) {
        struct entry entry;
        if (end - at < ENTRY_HEADER)
            return fail(why, why_bytes, "it ends within an entry's header", at);
        read_entry(data + at, &entry);
        if (entry.header_bytes < ENTRY_HEADER || entry.header_bytes > end - at ||
            entry.payload_bytes > end - at - entry.header_bytes)
            return fail(why, why_bytes, "an entry is longer than the file", at);
        at += entry.header_bytes;
        if (entry.kind == KIND_PTX && (*text == NULL || entry.architecture > newest)) {
            if ((entry.flags & (COMPRESSED_LZ4 | COMPRESSED_ZSTANDARD)) != 0)
                return fail(why, why_bytes, "its PTX is compressed: build with --no-compress", at);
            *text = (const char *)data + at;
            *text_bytes = text_length(data + at, entry.payload_bytes);
            newest = entry.architecture;
        }
        at += entry.payload_bytes;
    }
    return *text != NULL || fail(why, why_bytes, "it holds no PTX", at);
}
