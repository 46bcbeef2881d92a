/*
 * A synth-worker's windows on the slabs. Writable is what is granted, while it is granted: a stray
 * write kills the writer, not its neighbour's slab. Called by synth-workers alone. A SIGKILL leaves
 * what was written in the slab, whose seal is open.
 */
#include "shm/region.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "shm/slab.h"

/* Mappings of huge pages begin and end where one does. */
static uint64_t unit_of(int fd)
{
    struct statfs system;

    if (fstatfs(fd, &system) || system.f_type != HUGETLBFS_MAGIC)
        return SLAB_PAGE_BYTES;
    return (uint64_t)system.f_bsize;
}

int slab_windows_init(struct slab_windows *windows, int fd, uint32_t slab_count)
{
    struct stat status;

    memset(windows, 0, sizeof(*windows));
    if (fstat(fd, &status))
        return -errno;
    windows->window = calloc(slab_count ? slab_count : 1, sizeof(*windows->window));
    if (!windows->window)
        return -ENOMEM;
    windows->fd = fd;
    windows->count = slab_count;
    windows->object_bytes = (uint64_t)status.st_size;
    windows->unit_bytes = unit_of(fd);
    return 0;
}

static void window_unmap(struct slab_window *window)
{
    if (window->address)
        munmap(window->address, window->bytes);
    memset(window, 0, sizeof(*window));
}

static void *window_map(const struct slab_windows *windows, struct slab_window *window,
                        uint64_t offset, uint64_t bytes)
{
    window_unmap(window);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, windows->fd,
                        (off_t)offset);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_DONTDUMP);
    window->address = memory;
    window->offset = offset;
    window->bytes = bytes;
    return memory;
}

void *slab_window_open(struct slab_windows *windows, uint32_t slab, uint64_t slab_offset,
                       uint64_t bytes)
{
    uint64_t size = windows->object_bytes, unit = windows->unit_bytes;

    if (slab >= windows->count || bytes == 0 || slab_offset % unit || slab_offset > size ||
        bytes > size - slab_offset) {
        errno = EINVAL;
        return NULL;
    }
    bytes = (bytes + unit - 1) / unit * unit;
    struct slab_window *window = &windows->window[slab];
    if (!window->address || window->offset != slab_offset || window->bytes < bytes)
        return window_map(windows, window, slab_offset, bytes);
    return mprotect(window->address, bytes, PROT_READ | PROT_WRITE) ? NULL : window->address;
}

void slab_window_close(struct slab_windows *windows, uint32_t slab)
{
    if (slab >= windows->count)
        return;
    struct slab_window *window = &windows->window[slab];
    /* Where the border cannot be drawn, the window goes: the next grant maps it anew. */
    if (window->address && mprotect(window->address, window->bytes, PROT_READ))
        window_unmap(window);
}

void slab_windows_destroy(struct slab_windows *windows)
{
    for (uint32_t i = 0; i < windows->count; i++)
        window_unmap(&windows->window[i]);
    free(windows->window);
    memset(windows, 0, sizeof(*windows));
    windows->fd = -1;
}
