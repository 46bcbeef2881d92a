/*
 * Folders of pawl. Called by the one-shot form of prove. What a SIGKILL leaves stands in
 * one_shot.h.
 */
#include "coordinator/client/folders.h"

#include <errno.h>
#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/say.h"
#include "shm/program.h"

#define TEMP_BASE_BYTES_MAX 80 /* leaves room for /pawl-XXXXXX/s.http in a socket's 107 */

/* The path ends up in a configuration file: no character that means something there. */
static int is_plain(const char *path)
{
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == ';' || *at == '#' || *at == '"')
            return 0;
    return path[0] == '/' && path[strlen(path) - 1] != ' ' && strlen(path) <= TEMP_BASE_BYTES_MAX;
}

static int try_temp(char *path, size_t bytes, const char *base)
{
    if (!base || !is_plain(base))
        return -EINVAL;
    int length = snprintf(path, bytes, "%s/pawl-XXXXXX", base);
    if (length < 0 || (size_t)length >= bytes)
        return -ENAMETOOLONG;
    return mkdtemp(path) ? 0 : -errno;
}

int folders_make_temp(char *path, size_t bytes)
{
    const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    int error = 0;
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
        if ((error = try_temp(path, bytes, bases[i])) == 0)
            return 0;
    path[0] = 0;
    return say_error(EXIT_MACHINE, "cannot make a temporary folder in /tmp: %s; set TMPDIR",
                     strerror(-error));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

void folders_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* mkdir -p with mode 0700. 0 or -errno. */
static int make_all(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        int error = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
        *at = '/';
        if (error)
            return error;
    }
    return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static const char *home(void)
{
    const char *named = getenv("HOME");
    if (named && named[0] == '/')
        return named;
    const struct passwd *entry = getpwuid(getuid());
    return entry && entry->pw_dir && entry->pw_dir[0] == '/' ? entry->pw_dir : NULL;
}

/* Makes the folder where it is missing, and looks whether it can be used. 0 or -errno. */
static int prepare_cache(char out[PATH_MAX], char *path)
{
    int error = make_all(path);
    if (!error && !realpath(path, out))
        error = -errno;
    if (!error && access(out, W_OK | X_OK))
        error = -errno;
    return error;
}

int folders_own_cache(char out[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *own = home();
    char path[PATH_MAX];
    int length;
    if (cache && cache[0] == '/')
        length = snprintf(path, sizeof(path), "%s/pawl", cache);
    else if (own)
        length = snprintf(path, sizeof(path), "%s/.cache/pawl", own);
    else
        return -ENOENT;
    return length < (int)sizeof(path) ? prepare_cache(out, path) : -ENAMETOOLONG;
}

int folders_cache(char out[PATH_MAX], const char *given)
{
    char path[PATH_MAX];
    int error = *given ? 0 : -ENOENT;
    if (!error && snprintf(path, sizeof(path), "%s", given) >= (int)sizeof(path))
        error = -ENAMETOOLONG;
    if (!error)
        error = prepare_cache(out, path);
    if (error)
        return say_error(EXIT_OUTPUT, "cannot use the cache folder %s: %s; see --cache", given,
                         strerror(-error));
    return 0;
}
