/*
 * What every program does the same way: the build id, where the socket is, where its own file lies.
 * Called by all programs at their start. Keeps nothing.
 */
#include "shm/program.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

const char pawl_build_id[] = PAWL_BUILD_ID;

struct socket_key {
    char path[PAWL_SOCKET_BYTES];
    int found, too_long;
};

static int take_key(void *user, const char *section, const char *name, const char *value)
{
    struct socket_key *key = user;

    if (strcmp(section, "pawl") != 0 || strcmp(name, "socket") != 0)
        return 1; /* other keys are the coordinator's to judge */
    key->found = 1;
    key->too_long = strlen(value) >= sizeof(key->path);
    if (!key->too_long)
        strcpy(key->path, value);
    return 1;
}

static int put_path(char out[PAWL_SOCKET_BYTES], const char *path, const char **why)
{
    if (!*path) {
        *why = "the socket's path is empty: give one by --socket or `socket` in [pawl]";
        return -EINVAL;
    }
    if (strlen(path) >= PAWL_SOCKET_BYTES) {
        *why = "the socket's path is longer than the 107 bytes that a unix socket may have";
        return -ENAMETOOLONG;
    }
    strcpy(out, path);
    return 0;
}

/* 1: found in the file; 0: the file has no such key. */
static int path_of_config(char out[PAWL_SOCKET_BYTES], const char *config, const char **why)
{
    struct socket_key key = {.found = 0};
    int line = ini_parse(config, take_key, &key);

    if (line < 0) {
        *why = "the configuration file cannot be read";
        return -ENOENT;
    }
    if (line > 0) {
        *why = "the configuration file has a line that is no section, key or comment";
        return -EINVAL;
    }
    if (!key.found)
        return 0;
    if (key.too_long) {
        *why = "`socket` in [pawl] is longer than the 107 bytes that a unix socket may have";
        return -ENAMETOOLONG;
    }
    int error = put_path(out, key.path, why);
    return error ? error : 1;
}

static int default_path(char out[PAWL_SOCKET_BYTES], const char **why)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");

    if (geteuid() == 0)
        return put_path(out, "/run/pawl/pawl.sock", why);
    if (!folder || !*folder) {
        *why = "no socket is known: give --socket, or set PAWL_SOCKET or XDG_RUNTIME_DIR";
        return -ENOENT;
    }
    if (snprintf(out, PAWL_SOCKET_BYTES, "%s/pawl.sock", folder) < PAWL_SOCKET_BYTES)
        return 0;
    *why = "$XDG_RUNTIME_DIR/pawl.sock is longer than the 107 bytes that a unix socket may have";
    return -ENAMETOOLONG;
}

int program_socket_path(char out[PAWL_SOCKET_BYTES], const char *given, const char *config,
                        const char **why)
{
    const char *environment = getenv("PAWL_SOCKET");

    *why = NULL;
    if (given)
        return put_path(out, given, why);
    if (config) {
        int found = path_of_config(out, config, why);

        if (found)
            return found < 0 ? found : 0;
    }
    if (environment && *environment)
        return put_path(out, environment, why);
    return default_path(out, why);
}

int program_folder(char *out, size_t bytes)
{
    if (bytes == 0)
        return -ENAMETOOLONG;
    ssize_t length = readlink("/proc/self/exe", out, bytes);
    if (length < 0)
        return -errno;
    if ((size_t)length >= bytes)
        return -ENAMETOOLONG;
    out[length] = 0;
    char *slash = strrchr(out, '/');
    if (!slash)
        return -ENOENT;
    *slash = 0;
    return 0;
}
