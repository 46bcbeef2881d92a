/*
 * The spool's folder; see the header. Called by uploads.c, inputs.c, the store and the loop's
 * start. A SIGKILL leaves files that no job owns; spool_sweep removes them at the next start.
 */
#include "coordinator/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "spool"

int spool_open(struct spool *spool, const char *state_dir)
{
    char path[PATH_MAX];
    *spool = (struct spool){.folder = -1};
    if (!state_dir)
        return 0;
    if (snprintf(path, sizeof(path), "%s/" FOLDER, state_dir) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    spool->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (spool->folder < 0)
        return -errno;
    if (fchmod(spool->folder, 0700) == 0)
        return 0;
    int error = -errno;
    spool_close(spool);
    return error;
}

void spool_close(struct spool *spool)
{
    if (spool->folder >= 0)
        close(spool->folder);
    spool->folder = -1;
}

static int is_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == SPOOL_NAME_BYTES - 1 && !name[SPOOL_NAME_BYTES - 1];
}

static int pick_name(char name[SPOOL_NAME_BYTES])
{
    unsigned char random[(SPOOL_NAME_BYTES - 1) / 2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return -EIO;
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(name + 2 * i, 3, "%02x", random[i]);
    return 0;
}

int spool_create(struct spool *spool, char name[SPOOL_NAME_BYTES])
{
    int fd;
    name[0] = '\0';
    if (spool->folder < 0) {
        fd = memfd_create("pawl-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        return fd < 0 ? -errno : fd;
    }
    int error = pick_name(name);
    if (error)
        return error;
    fd = openat(spool->folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    spool->created++;
    return fd;
}

int spool_keep(const struct spool *spool, int fd)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    int error = spool->folder < 0 ? fcntl(fd, F_ADD_SEALS, seals) : fsync(fd);
    return error ? -errno : 0;
}

int spool_sync(struct spool *spool)
{
    uint64_t created = spool->created;
    if (spool->folder < 0 || spool->synced == created)
        return 0;
    if (fsync(spool->folder))
        return -errno;
    spool->synced = created;
    return 0;
}

int spool_open_file(const struct spool *spool, const char *name)
{
    if (spool->folder < 0 || !is_name(name))
        return -EINVAL;
    int fd = openat(spool->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

int spool_remove(const struct spool *spool, const char *name)
{
    if (spool->folder < 0 || !is_name(name))
        return -EINVAL;
    return unlinkat(spool->folder, name, 0) && errno != ENOENT ? -errno : 0;
}

int64_t spool_sweep(const struct spool *spool, int (*is_owned)(void *arg, const char *name),
                    void *arg)
{
    int64_t removed = 0;
    const struct dirent *entry;
    if (spool->folder < 0)
        return 0;
    /* A description of its own: the position belongs to it. */
    int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        int error = -errno;
        if (fd >= 0)
            close(fd);
        return error;
    }
    while ((entry = readdir(folder)))
        if (is_name(entry->d_name) && !is_owned(arg, entry->d_name))
            removed += unlinkat(spool->folder, entry->d_name, 0) == 0;
    closedir(folder);
    return removed;
}
