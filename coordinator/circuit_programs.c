/*
 * Witness programs on disk; see the header. Called by circuits.c. A SIGKILL leaves what the header
 * says.
 */
#include "coordinator/circuit_programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/config.h"
#include "coordinator/rundir.h"

#define HEX_LENGTH (CIRCUIT_HEX_BYTES - 1)
#define LINK_BYTES (CIRCUIT_NAME_BYTES + CIRCUIT_HEX_BYTES)

int circuit_programs_open(struct circuit_programs *programs, const struct config *config)
{
    int length =
        snprintf(programs->folder, sizeof(programs->folder), "%s/programs", config->state_dir);
    return length < (int)sizeof(programs->folder) ? 0 : -ENAMETOOLONG;
}

static int is_program(const char *name)
{
    return strlen(name) == HEX_LENGTH && strspn(name, "0123456789abcdef") == HEX_LENGTH;
}

static int open_sub(const struct circuit_programs *programs, const char *name)
{
    char path[PATH_MAX + 2 * CIRCUIT_HEX_BYTES];
    snprintf(path, sizeof(path), "%s%s%s", programs->folder, *name ? "/" : "", name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int circuit_programs_open_folder(const struct circuit_programs *programs, const char *program)
{
    return is_program(program) ? open_sub(programs, program) : -EINVAL;
}

/* ---- links ---- */

static void name_link(char out[LINK_BYTES], const char *name, const uint8_t *image)
{
    char hex[CIRCUIT_HEX_BYTES];
    circuit_hash_write(image, hex);
    snprintf(out, LINK_BYTES, "%s@%s", name, hex);
}

static int open_names(const struct circuit_programs *programs, int make)
{
    char path[PATH_MAX + 8];
    int error = 0;
    snprintf(path, sizeof(path), "%s/names", programs->folder);
    if (make)
        error = rundir_make(path, 0700);
    return error ? error : open_sub(programs, "names");
}

/* Aside, then renamed: the old link or the new one. */
static int replace_link(int names, const char *link, const char *program)
{
    char target[CIRCUIT_HEX_BYTES + 4];
    snprintf(target, sizeof(target), "../%s", program);
    unlinkat(names, ".tmp", 0);
    if (symlinkat(target, names, ".tmp") || renameat(names, ".tmp", names, link))
        return -errno;
    return 0;
}

int circuit_programs_save(const struct circuit_programs *programs, const char *name,
                          const uint8_t *image, const char *program)
{
    char link[LINK_BYTES];
    int names = open_names(programs, *program != 0), error = 0;
    if (names < 0)
        return *program ? names : 0;
    name_link(link, name, image);
    if (*program)
        error = replace_link(names, link, program);
    else if (unlinkat(names, link, 0) && errno != ENOENT)
        error = -errno;
    close(names);
    return error;
}

static void read_program(int names, const char *link, char out[CIRCUIT_HEX_BYTES])
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(names, link, target, sizeof(target) - 1);
    out[0] = 0;
    target[length < 0 ? 0 : length] = 0;
    if (length > 3 && !strncmp(target, "../", 3) && is_program(target + 3))
        memcpy(out, target + 3, CIRCUIT_HEX_BYTES);
}

void circuit_programs_find(const struct circuit_programs *programs, const char *name,
                           const uint8_t *image, char out[CIRCUIT_HEX_BYTES])
{
    char link[LINK_BYTES];
    int names = open_names(programs, 0);
    out[0] = 0;
    if (names < 0)
        return;
    name_link(link, name, image);
    read_program(names, link, out);
    close(names);
}

/* ---- over all of a folder ---- */

/* Calls each with the names in the folder behind fd, which it closes. */
static void each_entry(int fd, void (*each)(void *arg, int folder, const char *name), void *arg)
{
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            each(arg, fd, entry->d_name);
    closedir(folder);
}

struct forgetting {
    const char *name;
    char kept[LINK_BYTES];
};

static void forget_link(void *arg, int folder, const char *link)
{
    const struct forgetting *forgetting = arg;
    size_t length = strlen(forgetting->name);
    if (!strncmp(link, forgetting->name, length) && link[length] == '@' &&
        strcmp(link, forgetting->kept))
        unlinkat(folder, link, 0);
}

void circuit_programs_forget(const struct circuit_programs *programs, const char *name,
                             const uint8_t *image)
{
    struct forgetting forgetting = {.name = name};
    if (image)
        name_link(forgetting.kept, name, image);
    each_entry(open_names(programs, 0), forget_link, &forgetting);
}

/* ---- removing programs ---- */

static void unlink_entry(void *arg, int folder, const char *name)
{
    (void)arg;
    unlinkat(folder, name, 0);
}

static void remove_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    each_entry(fd, unlink_entry, NULL);
    unlinkat(parent, name, AT_REMOVEDIR);
}

struct sweeping {
    const struct circuit_programs *programs;
    int (*in_use)(void *arg, const char *program);
    void *arg;
    const char *program; /* looked for among the links */
    int found;
};

static void compare_link(void *arg, int folder, const char *link)
{
    struct sweeping *sweeping = arg;
    char program[CIRCUIT_HEX_BYTES];
    read_program(folder, link, program);
    sweeping->found |= !strcmp(program, sweeping->program);
}

static void sweep_program(void *arg, int folder, const char *name)
{
    struct sweeping *sweeping = arg;
    if (!is_program(name) || sweeping->in_use(sweeping->arg, name))
        return;
    sweeping->program = name;
    sweeping->found = 0;
    each_entry(open_names(sweeping->programs, 0), compare_link, sweeping);
    if (!sweeping->found)
        remove_folder(folder, name);
}

void circuit_programs_sweep(const struct circuit_programs *programs,
                            int (*in_use)(void *arg, const char *program), void *arg)
{
    struct sweeping sweeping = {.programs = programs, .in_use = in_use, .arg = arg};
    each_entry(open_sub(programs, ""), sweep_program, &sweeping);
}

static void erase_entry(void *arg, int folder, const char *name)
{
    (void)arg;
    remove_folder(folder, name);
}

void circuit_programs_erase(const struct circuit_programs *programs)
{
    each_entry(open_sub(programs, ""), erase_entry, NULL);
    rmdir(programs->folder);
}
