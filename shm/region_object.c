/*
 * Making objects of the region; see the header. Reserving is what decides whether there is memory:
 * a touch of a page that could not be reserved would be a SIGBUS, or with a memfd the OOM killer's.
 */
#include "shm/region_object.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "shm/numa.h"
#include "shm/slab.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4u
#endif

#define OBJECT_NAME_BYTES 64

int region_backing_parse(const char *name)
{
    static const char *const names[] = {
        [BACKING_SHM] = "shm", [BACKING_MEMFD] = "memfd", [BACKING_HUGETLBFS] = "hugetlbfs"};

    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -EINVAL;
}

/* A number of /proc/meminfo; 0 where it has no such line. */
static uint64_t meminfo_number(const char *key)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t number = 0;

    if (!file)
        return 0;
    while (fgets(line, sizeof(line), file)) {
        size_t length = strlen(key);

        if (strncmp(line, key, length) == 0 && line[length] == ':' &&
            sscanf(line + length + 1, "%" SCNu64, &number) == 1)
            break;
    }
    fclose(file);
    return number;
}

uint64_t region_backing_unit(enum region_backing backing)
{
    return backing == BACKING_HUGETLBFS ? 1024 * meminfo_number("Hugepagesize") : SLAB_PAGE_BYTES;
}

uint64_t region_backing_room(enum region_backing backing)
{
    struct statvfs status;

    if (backing == BACKING_HUGETLBFS)
        return meminfo_number("HugePages_Free") * region_backing_unit(backing);
    if (backing == BACKING_SHM && statvfs("/dev/shm", &status) == 0 && status.f_blocks)
        return (uint64_t)status.f_bavail * status.f_frsize;
    return UINT64_MAX;
}

void region_object_close(struct region_object *object)
{
    if (object->rw >= 0)
        close(object->rw);
    if (object->ro >= 0)
        close(object->ro);
    object->rw = object->ro = -1;
}

static int open_shm(struct region_object *object)
{
    char name[OBJECT_NAME_BYTES];
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EIO;
    snprintf(name, sizeof(name), "/pawl-%ld-%016" PRIx64, (long)getpid(), random);
    object->rw = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600); /* sets FD_CLOEXEC */
    if (object->rw < 0)
        return -errno;
    object->ro = shm_open(name, O_RDONLY, 0);
    int error = object->ro < 0 ? -errno : 0;
    shm_unlink(name);
    return error;
}

static int open_memfd(struct region_object *object, unsigned flags)
{
    char path[OBJECT_NAME_BYTES];

    object->rw = memfd_create("pawl-region", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (object->rw < 0)
        return -errno;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", object->rw);
    object->ro = open(path, O_RDONLY | O_CLOEXEC);
    return object->ro < 0 ? -errno : 0;
}

/* A memfd has no file system that says ENOSPC: reserving more than there is would end in the OOM
 * killer, whoever it picks. */
static int exceeds_memory(uint64_t bytes)
{
    struct sysinfo machine;

    return sysinfo(&machine) == 0 && bytes > (uint64_t)machine.totalram * machine.mem_unit;
}

/* The size is fixed from here on: pages are reserved within it. */
static int settle_size(const struct region_object *object, enum region_backing backing,
                       uint64_t bytes)
{
    if (ftruncate(object->rw, (off_t)bytes))
        return -errno;
    if (backing != BACKING_SHM && fcntl(object->rw, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        return -errno;
    return 0;
}

int region_object_open(struct region_object *object, enum region_backing backing, uint64_t bytes)
{
    int error;

    object->rw = object->ro = -1;
    if (backing == BACKING_HUGETLBFS && !region_backing_unit(backing))
        return -EOPNOTSUPP;
    if (exceeds_memory(bytes))
        return -ENOSPC;
    if (backing == BACKING_SHM)
        error = open_shm(object);
    else
        error = open_memfd(object, backing == BACKING_HUGETLBFS ? MFD_HUGETLB : 0);
    if (!error)
        error = settle_size(object, backing, bytes);
    if (error)
        region_object_close(object);
    return error;
}

static int reserve(int fd, uint64_t offset, uint64_t bytes)
{
    int error;

    do
        error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    while (error == EINTR);
    return -error;
}

static int touch(void *memory, uint64_t bytes)
{
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    /* An older kernel. The part is reserved, so that a touch cannot end in SIGBUS. */
    for (uint64_t at = 0; at < bytes; at += SLAB_PAGE_BYTES)
        ((volatile char *)memory)[at] = 0;
    return 0;
}

int region_object_fill(int fd, uint64_t offset, uint64_t bytes, uint32_t numa)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

    if (memory == MAP_FAILED) /* too few huge pages are told here */
        return errno == ENOMEM ? -ENOSPC : -errno;
    madvise(memory, bytes, MADV_DONTDUMP);
    numa_place(memory, bytes, numa); /* before the pages are there */
    int error = reserve(fd, offset, bytes);
    if (!error)
        error = touch(memory, bytes);
    munmap(memory, bytes);
    return error;
}
