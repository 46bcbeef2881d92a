/*
 * Names of circuits on disk; see the header. Called by circuits.c. A SIGKILL leaves the old link or
 * the new one, and perhaps a `.tmp` that the next save replaces.
 */
#include "coordinator/circuit_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "coordinator/config.h"
#include "coordinator/rundir.h"
#include "shm/program.h"

#define IMAGE_SUFFIX ".image"
#define HASH_BYTES_HERE 32

static int is_alphanumeric(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

int circuit_name_is_valid(const char *name)
{
    size_t length = strnlen(name, CIRCUIT_NAME_BYTES);
    if (length == 0 || length >= CIRCUIT_NAME_BYTES || !is_alphanumeric(name[0]))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!is_alphanumeric(name[i]) && !strchr("._-", name[i]))
            return 0;
    return 1;
}

void circuit_hash_write(const uint8_t *hash, char out[CIRCUIT_HEX_BYTES])
{
    for (int i = 0; i < HASH_BYTES_HERE; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int circuit_hash_parse(const char *text, size_t length, uint8_t *hash)
{
    if (length != 2 * HASH_BYTES_HERE)
        return -EINVAL;
    for (int i = 0; i < HASH_BYTES_HERE; i++) {
        int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return -EINVAL;
        hash[i] = (uint8_t)(16 * high + low);
    }
    return 0;
}

static int join(char out[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int circuit_names_open(struct circuit_names *names, const struct config *config)
{
    char by_default[PATH_MAX];
    int error = join(by_default, config->state_dir, "images");
    if (error)
        return error;
    names->in_cache = strcmp(by_default, config->images_dir) == 0;
    snprintf(names->images, sizeof(names->images), "%s", config->images_dir);
    error = join(names->folder, names->in_cache ? config->images_dir : config->state_dir, "names");
    return error ? error : rundir_make(names->folder, 0700);
}

int circuit_names_save(const struct circuit_names *names, const char *name, const uint8_t *hash)
{
    char target[2 * PATH_MAX], aside[PATH_MAX], path[PATH_MAX], hex[CIRCUIT_HEX_BYTES];
    circuit_hash_write(hash, hex);
    snprintf(target, sizeof(target), "%s/%s" IMAGE_SUFFIX, names->in_cache ? ".." : names->images,
             hex);
    if (join(aside, names->folder, ".tmp") || join(path, names->folder, name))
        return -ENAMETOOLONG;
    unlink(aside);
    if (symlink(target, aside) || rename(aside, path))
        return -errno;
    return 0;
}

void circuit_names_remove(const struct circuit_names *names, const char *name)
{
    char path[PATH_MAX];
    if (!join(path, names->folder, name))
        unlink(path);
}

/* The hash that a link's target names. 0 or -errno. */
static int read_link(int folder, const char *name, uint8_t *hash)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = 0;
    const char *file = strrchr(target, '/');
    file = file ? file + 1 : target;
    size_t bytes = strlen(file), suffix = strlen(IMAGE_SUFFIX);
    if (bytes < suffix || strcmp(file + bytes - suffix, IMAGE_SUFFIX) != 0)
        return -EINVAL;
    return circuit_hash_parse(file, bytes - suffix, hash);
}

int circuit_names_each(const struct circuit_names *names,
                       void (*each)(void *arg, const char *name, const uint8_t *hash), void *arg)
{
    uint8_t hash[HASH_BYTES_HERE];
    DIR *folder = opendir(names->folder); /* close-on-exec by itself */
    if (!folder)
        return -errno;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (circuit_name_is_valid(entry->d_name) &&
            read_link(dirfd(folder), entry->d_name, hash) == 0)
            each(arg, entry->d_name, hash);
    closedir(folder);
    return 0;
}

int circuit_names_open_image(const struct circuit_names *names, const uint8_t *hash)
{
    char path[2 * PATH_MAX], hex[CIRCUIT_HEX_BYTES];
    circuit_hash_write(hash, hex);
    snprintf(path, sizeof(path), "%s/%s" IMAGE_SUFFIX, names->images, hex);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_SH | LOCK_NB)) /* a folder without locks, or it is just being removed */
        log_event("warn", "image_not_locked", "image=%s error=\"%s\"", hex, strerror(errno));
    return fd;
}

void circuit_names_erase(const struct circuit_names *names)
{
    DIR *folder = opendir(names->folder);
    if (!folder)
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (entry->d_type == DT_LNK)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(names->folder);
}
