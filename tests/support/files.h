/*
 * The little of a zkey, a wtns and a JSON file that tests of the mathematics need, without the
 * checks of the real readers: for files that are known to be whole. Header only.
 */
#ifndef PAWL_TESTS_SUPPORT_FILES_H
#define PAWL_TESTS_SUPPORT_FILES_H

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/curves.h"
#include "kernels/decimal.h"

enum { FILE_SECTIONS = 11 };

struct file_sections {
    void *section[FILE_SECTIONS]; /* copies, aligned */
    uint64_t bytes[FILE_SECTIONS];
};

static inline unsigned char *file_read(const char *folder, const char *name, size_t *bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be opened: tests run in the root of the tree\n", path);
        abort();
    }
    assert(fseek(file, 0, SEEK_END) == 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    unsigned char *out = malloc(*bytes + 1);
    assert(out && fread(out, 1, *bytes, file) == *bytes);
    out[*bytes] = 0;
    fclose(file);
    return out;
}

static inline void sections_read(struct file_sections *out, const char *folder, const char *name)
{
    size_t bytes, at = 12;
    unsigned char *file = file_read(folder, name, &bytes);
    memset(out, 0, sizeof(*out));
    while (at + 12 <= bytes) {
        uint32_t id;
        uint64_t length;
        memcpy(&id, file + at, 4);
        memcpy(&length, file + at + 4, 8);
        assert(id < FILE_SECTIONS && length <= bytes - at - 12);
        out->section[id] = malloc(length + 1);
        assert(out->section[id]);
        memcpy(out->section[id], file + at + 12, length);
        out->bytes[id] = length;
        at += 12 + length;
    }
    free(file);
}

static inline void sections_free(struct file_sections *sections)
{
    for (int i = 0; i < FILE_SECTIONS; i++)
        free(sections->section[i]);
}

/* The index-th string of nothing but digits in a JSON text, as words; returns 0 where there is
 * none. */
static inline int json_number(const char *text, unsigned index, uint64_t *out, size_t words)
{
    for (const char *quote = strchr(text, '"'); quote; quote = strchr(quote + 1, '"')) {
        size_t length = strspn(quote + 1, "0123456789");
        if (length == 0 || quote[1 + length] != '"')
            continue;
        if (index-- == 0)
            return decimal_read(out, words, quote + 1, length) == 0;
    }
    return 0;
}

#endif
