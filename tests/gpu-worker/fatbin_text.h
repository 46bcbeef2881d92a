/*
 * Fatbins made by hand, with entries that have no contents: enough to say what runs where. Header
 * only.
 */
#ifndef PAWL_TESTS_GPU_WORKER_FATBIN_TEXT_H
#define PAWL_TESTS_GPU_WORKER_FATBIN_TEXT_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

struct fatbin_made {
    unsigned char bytes[2048];
    size_t size;
};

static inline void fatbin_put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline void fatbin_begin(struct fatbin_made *made)
{
    memset(made, 0, sizeof(*made));
    fatbin_put(made->bytes, 0xba55ed50u, 4);
    fatbin_put(made->bytes + 4, 1, 2);
    fatbin_put(made->bytes + 6, 16, 2);
    made->size = 16;
}

static inline void fatbin_add(struct fatbin_made *made, int kind, int architecture, int ptx_major,
                              int ptx_minor)
{
    enum { HEADER = 64, CONTENTS = 40 };
    unsigned char *at = made->bytes + made->size;
    assert(made->size + HEADER + CONTENTS <= sizeof(made->bytes));
    fatbin_put(at, (uint64_t)kind, 2);
    fatbin_put(at + 2, 0x101, 2);
    fatbin_put(at + 4, HEADER, 4);
    fatbin_put(at + 8, CONTENTS, 8);
    fatbin_put(at + 24, (uint64_t)ptx_minor, 2);
    fatbin_put(at + 26, (uint64_t)ptx_major, 2);
    fatbin_put(at + 28, (uint64_t)architecture, 4);
    made->size += HEADER + CONTENTS;
    fatbin_put(made->bytes + 8, made->size - 16, 8);
}

static inline void fatbin_add_code(struct fatbin_made *made, int architecture)
{
    fatbin_add(made, 2, architecture, 1, 8);
}

static inline void fatbin_add_ptx(struct fatbin_made *made, int architecture, int major, int minor)
{
    fatbin_add(made, 1, architecture, major, minor);
}

#endif
