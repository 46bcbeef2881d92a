/*
 * The decimal strings of a fixture's JSON, for tests that need no JSON parser: the quoted numbers
 * that follow a key, in the order of the text. Trusts its files.
 */
#ifndef PAWL_TESTS_KERNELS_JSON_NUMBERS_H
#define PAWL_TESTS_KERNELS_JSON_NUMBERS_H

#include "kernels/decimal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file below $PAWL_FIXTURES (default tests/fixtures), NUL-terminated; the caller frees it. */
static inline char *json_read_fixture(const char *name)
{
    const char *folder = getenv("PAWL_FIXTURES");
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "tests/fixtures", name);
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "cannot read %s: run the test in the repository's root\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* The first `count` quoted numbers after "key", `words` words each. 0, -ENOENT or decimal_read's.
 */
static inline int json_numbers(uint64_t *out, size_t words, size_t count, const char *text,
                               const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\"", key);
    const char *at = strstr(text, quoted);
    if (!at)
        return -ENOENT;
    at += strlen(quoted);
    for (size_t i = 0; i < count; i++) {
        const char *begin = strchr(at, '"');
        const char *end = begin ? strchr(begin + 1, '"') : NULL;
        if (!end)
            return -ENOENT;
        const int rc = decimal_read(out + i * words, words, begin + 1, (size_t)(end - begin - 1));
        if (rc)
            return rc;
        at = end + 1;
    }
    return 0;
}

#endif
