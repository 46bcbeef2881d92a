/*
 * See the header.
 */
#include "gpu-worker/cuda_fatbin.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u
#define PTX_OF_CUDA 4 /* CUDA 13.1 compiles PTX up to 9.1 */

enum { KIND_PTX = 1, KIND_CODE = 2 };

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
};
_Static_assert(sizeof(struct fatbin_header) == 16, "as nvcc writes it");

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, options_at;
    uint16_t minor, major; /* of PTX */
    uint32_t architecture;
};
_Static_assert(sizeof(struct fatbin_entry) == 32, "as nvcc writes it");

/* Where a walk over the entries is. */
struct walk {
    const char *at;
    size_t left;
};

static int walk_begin(struct walk *walk, const void *image, size_t bytes)
{
    struct fatbin_header header;
    if (bytes < sizeof(header))
        return 0;
    memcpy(&header, image, sizeof(header));
    if (header.magic != FATBIN_MAGIC || header.header_bytes < sizeof(header) ||
        header.header_bytes > bytes || header.entries_bytes > bytes - header.header_bytes)
        return 0;
    walk->at = (const char *)image + header.header_bytes;
    walk->left = header.entries_bytes;
    return 1;
}

/* 0 at the end, and at an entry that does not fit in what is left. */
static int walk_next(struct walk *walk, struct fatbin_entry *entry)
{
    if (walk->left < sizeof(*entry))
        return 0;
    memcpy(entry, walk->at, sizeof(*entry));
    if (entry->header_bytes < sizeof(*entry) || entry->header_bytes > walk->left ||
        entry->bytes > walk->left - entry->header_bytes)
        return 0;
    walk->at += entry->header_bytes + entry->bytes;
    walk->left -= entry->header_bytes + entry->bytes;
    return 1;
}

/* Between embedded GPUs and others machine code does not go: NVIDIA's compatibility of binaries is
 * "for the desktop". Of the generations that are served only this one has both (Jetson Orin). */
static int is_embedded(int architecture)
{
    return architecture == 87;
}

static int code_runs(const struct fatbin_entry *entry, int capability)
{
    int architecture = (int)entry->architecture;
    return entry->kind == KIND_CODE && architecture / 10 == capability / 10 &&
           architecture <= capability && is_embedded(architecture) == is_embedded(capability);
}

/* 13010 -> 901: what PTX a driver compiles, as 100 * major + minor. */
static int newest_ptx(int driver_version)
{
    return (driver_version / 1000 - PTX_OF_CUDA) * 100 + driver_version % 1000 / 10;
}

static int ptx_is_for(const struct fatbin_entry *entry, int capability)
{
    return entry->kind == KIND_PTX && (int)entry->architecture <= capability;
}

static int ptx_compiles(const struct fatbin_entry *entry, int driver_version)
{
    return entry->major * 100 + entry->minor <= newest_ptx(driver_version);
}

/* "80 86 90": the architectures with machine code. */
static void list_code(char *text, size_t bytes, const void *image, size_t image_bytes)
{
    struct walk walk;
    struct fatbin_entry entry;
    size_t used = 0;
    text[0] = 0;
    if (!walk_begin(&walk, image, image_bytes))
        return;
    while (walk_next(&walk, &entry) && used < bytes)
        if (entry.kind == KIND_CODE)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u", used ? " " : "",
                                     (unsigned)entry.architecture);
}

enum fatbin_fit cuda_fatbin_fits(const void *image, size_t image_bytes, int capability,
                                 int driver_version, char *why, size_t why_bytes)
{
    struct walk walk;
    struct fatbin_entry entry;
    char built[64];
    int by_ptx = 0, too_new = 0;
    if (!walk_begin(&walk, image, image_bytes)) {
        snprintf(why, why_bytes, "the kernels in this program are damaged: build it again");
        return FATBIN_UNFIT;
    }
    while (walk_next(&walk, &entry)) {
        if (code_runs(&entry, capability))
            return FATBIN_CODE;
        if (!ptx_is_for(&entry, capability))
            continue;
        by_ptx |= ptx_compiles(&entry, driver_version);
        too_new |= !ptx_compiles(&entry, driver_version);
    }
    if (by_ptx)
        return FATBIN_PTX;
    list_code(built, sizeof(built), image, image_bytes);
    snprintf(why, why_bytes, "built with machine code for %s%s: build with CUDA_ARCHS=%d%s", built,
             too_new ? ", and with PTX that is too new for this driver" : "", capability,
             too_new ? ", or install a newer driver" : "");
    return FATBIN_UNFIT;
}
