/*
 * Every case folder: tests/fixtures/CURVE/CASE, and those of $PAWL_CASES, which has the same form.
 */
#ifndef PAWL_TESTS_GPU_WORKER_CASES_H
#define PAWL_TESTS_GPU_WORKER_CASES_H

#include <assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void cases_in(const char *root, void (*each)(const char *folder))
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*/*/key.zkey", root);
    assert(glob(pattern, 0, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *strrchr(found.gl_pathv[i], '/') = 0;
        each(found.gl_pathv[i]);
    }
    globfree(&found);
}

static inline void cases_each(void (*each)(const char *folder))
{
    const char *more = getenv("PAWL_CASES");
    cases_in("tests/fixtures", each);
    if (more && *more)
        cases_in(more, each);
}

#endif
