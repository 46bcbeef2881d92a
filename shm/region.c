/*
 * The two objects of the region and a worker's whole mappings of them. The coordinator creates;
 * workers map. Memory is reserved at the start, all of it, or there is no region. A SIGKILL leaves
 * nothing once both names are gone again, which is before the memory is reserved.
 */
#include "shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "shm/slab.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define OBJECT_NAME_BYTES 64

/* An object's fds; -1 where there is none. */
struct object {
    int rw, ro;
};

static void object_close(struct object *object)
{
    if (object->rw >= 0)
        close(object->rw);
    if (object->ro >= 0)
        close(object->ro);
    object->rw = object->ro = -1;
}

static int object_open_shm(struct object *object)
{
    char name[OBJECT_NAME_BYTES];
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EIO;
    snprintf(name, sizeof(name), "/pawl-%ld-%016llx", (long)getpid(), (unsigned long long)random);
    object->rw = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600); /* sets FD_CLOEXEC */
    if (object->rw < 0)
        return -errno;
    object->ro = shm_open(name, O_RDONLY, 0);
    int error = object->ro < 0 ? -errno : 0;
    shm_unlink(name);
    return error;
}

static int object_open_memfd(struct object *object)
{
    char path[OBJECT_NAME_BYTES];

    object->rw = memfd_create("pawl-region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
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

static int object_reserve(int fd, uint64_t bytes)
{
    int error;

    if (exceeds_memory(bytes))
        return -ENOSPC;
    do
        error = posix_fallocate(fd, 0, (off_t)bytes);
    while (error == EINTR);
    return -error;
}

static int object_create(struct object *object, int is_memfd, uint64_t bytes)
{
    object->rw = object->ro = -1;
    int error = is_memfd ? object_open_memfd(object) : object_open_shm(object);
    if (!error)
        error = object_reserve(object->rw, bytes);
    if (!error && is_memfd && fcntl(object->rw, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        error = -errno;
    if (error)
        object_close(object);
    return error;
}

/* Touches every page through a mapping that is dropped again; the pages stay the object's. */
static int object_populate(int fd, uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int error = 0;

    if (memory == MAP_FAILED)
        return -errno;
    madvise(memory, bytes, MADV_DONTDUMP);
    if (madvise(memory, bytes, MADV_POPULATE_WRITE))
        error = -errno;
    if (error == -EINVAL) {
        /* An older kernel. The object is fallocated, so that a touch cannot end in SIGBUS. */
        for (uint64_t at = 0; at < bytes; at += SLAB_PAGE_BYTES)
            ((volatile char *)memory)[at] = 0;
        error = 0;
    }
    munmap(memory, bytes);
    return error;
}

static int create_control(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                          const char *backing, const char *build_id)
{
    int is_memfd = strcmp(backing, "memfd") == 0;
    struct object object;

    region->control_bytes = control_bytes(lanes, lane_count);
    int error = object_create(&object, is_memfd, region->control_bytes);
    if (error)
        return error;
    void *memory =
        mmap(NULL, region->control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, object.rw, 0);
    if (memory == MAP_FAILED) {
        error = -errno;
        object_close(&object);
        return error;
    }
    /* Best effort: the read-only fd is the border, this closes the way around it by /proc. */
    if (is_memfd)
        (void)fcntl(object.rw, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    close(object.rw);
    region->control_ro_fd = object.ro;
    control_lay_out(memory, lanes, lane_count, backing, build_id);
    error = control_view(&region->control, memory, region->control_bytes);
    if (error)
        munmap(memory, region->control_bytes);
    return error;
}

static int create_slabs(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                        const char *backing)
{
    struct object object;

    region->slabs_bytes = control_slabs_bytes(lanes, lane_count);
    int error = object_create(&object, strcmp(backing, "memfd") == 0, region->slabs_bytes);
    if (error)
        return error;
    close(object.ro);
    object.ro = -1;
    error = object_populate(object.rw, region->slabs_bytes);
    if (error)
        object_close(&object);
    else
        region->slabs_fd = object.rw;
    return error;
}

int region_create(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                  const char *backing, const char *build_id, const char **what)
{
    int error = -EINVAL;

    memset(region, 0, sizeof(*region));
    region->control_ro_fd = region->slabs_fd = -1;
    *what = "backing";
    if (strcmp(backing, "shm") != 0 && strcmp(backing, "memfd") != 0)
        return error;
    *what = "lanes";
    if (control_bytes(lanes, lane_count) == 0)
        return error;
    *what = "control";
    error = create_control(region, lanes, lane_count, backing, build_id);
    if (!error) {
        *what = "slabs";
        error = create_slabs(region, lanes, lane_count, backing);
    }
    if (error)
        region_destroy(region);
    return error;
}

void region_destroy(struct region *region)
{
    region_unmap_control(&region->control);
    if (region->control_ro_fd >= 0)
        close(region->control_ro_fd);
    if (region->slabs_fd >= 0)
        close(region->slabs_fd);
    memset(region, 0, sizeof(*region));
    region->control_ro_fd = region->slabs_fd = -1;
}

/* Maps an object whose size is just `bytes`; NULL and errno. */
static void *map_whole(int fd, uint64_t bytes, int flags)
{
    struct stat status;

    if (fstat(fd, &status))
        return NULL;
    if (bytes == 0 || (uint64_t)status.st_size != bytes) {
        errno = EBADMSG;
        return NULL;
    }
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED | flags, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int region_map_control(struct control *control, int fd, uint64_t bytes)
{
    void *memory = map_whole(fd, bytes, 0);

    if (!memory)
        return -errno;
    int error = control_view(control, memory, bytes);
    if (error)
        munmap(memory, bytes);
    return error;
}

void region_unmap_control(struct control *control)
{
    if (control->header)
        munmap(control->header, control->bytes);
    memset(control, 0, sizeof(*control));
}

const void *region_map_slabs(int fd, uint64_t bytes)
{
    void *memory = map_whole(fd, bytes, MAP_POPULATE);

    if (memory)
        madvise(memory, bytes, MADV_DONTDUMP);
    return memory;
}
