/*
 * The folders that pawl makes: a temporary one for a private instance, and the cache of compiled
 * keys.
 */
#ifndef PAWL_CLIENT_FOLDERS_H
#define PAWL_CLIENT_FOLDERS_H

#include <limits.h>
#include <stddef.h>

/*
 * A new folder of mode 0700 in $XDG_RUNTIME_DIR, $TMPDIR or /tmp, whichever is the first that is
 * usable and short enough for a socket's path. 0, or EXIT_MACHINE having said why, and path is ""
 * then.
 */
int folders_make_temp(char *path, size_t bytes);
/* Removes a folder and all below it; follows no link. */
void folders_remove(const char *path);

/*
 * The cache of compiled keys, made where it is missing (0700), absolute: $XDG_CACHE_HOME/pawl, or
 * ~/.cache/pawl. 0, or -errno where none can be used: users of services often have no home.
 */
int folders_own_cache(char out[PATH_MAX]);
/* The folder given, likewise. 0, or an exit code having said why. */
int folders_cache(char out[PATH_MAX], const char *given);

#endif
