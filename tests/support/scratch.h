/*
 * Folders of a test's own, files in them, and how many entries a folder has (/proc/self/fd is one).
 * Header only. What a killed test leaves is in /tmp/pawl-*.
 */
#ifndef PAWL_TESTS_SUPPORT_SCRATCH_H
#define PAWL_TESTS_SUPPORT_SCRATCH_H

#include <assert.h>
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SCRATCH_PATH_BYTES = 64 };

/* A new folder /tmp/pawl-NAME-*, whose path goes to `folder` (SCRATCH_PATH_BYTES): 0, or -1. */
static inline int scratch_make(char *folder, const char *name)
{
    snprintf(folder, SCRATCH_PATH_BYTES, "/tmp/pawl-%s-XXXXXX", name);
    return mkdtemp(folder) ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int kind,
                                     struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* The folder and all that is in it; 0, or -1 where something stays. */
static inline int scratch_remove(const char *folder)
{
    return nftw(folder, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes the text to `path`, which begins with / and is below the folder; makes the folders that
 * lead to it. */
static inline void scratch_put(const char *folder, const char *path, const char *text)
{
    char whole[512];
    assert(snprintf(whole, sizeof(whole), "%s%s", folder, path) < (int)sizeof(whole));
    for (char *at = whole + strlen(folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "we");
    assert(file);
    fputs(text, file);
    fclose(file);
}

/* How many names in the folder begin so; "": all, with . and .. */
static inline unsigned scratch_count(const char *folder, const char *prefix)
{
    unsigned count = 0;
    DIR *listing = opendir(folder);
    assert(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(listing);
    return count;
}

/* Descriptors of this process, and three more; to compare with an earlier count. */
static inline unsigned scratch_count_fds(void)
{
    return scratch_count("/proc/self/fd", "");
}

#endif
