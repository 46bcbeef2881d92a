/*
 * See the header.
 */
#include "gpu-worker/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu-worker/device.h"
#include "shm/program.h"
#include "shm/region.h"
#include "shm/seat.h"
#include "shm/slab.h"
#include "shm/wire.h"

enum { FD_CONTROL, FD_SLABS, FD_SEAT };

/* A device that reads them in place works without; pages that are swapped out only make it slow. */
static void try_lock(const struct view *view)
{
    if (mlock(view->slabs, view->slabs_bytes) == 0)
        log_event("info", "slabs_locked", "bytes=%llu", (unsigned long long)view->slabs_bytes);
    else
        log_event("info", "slabs_not_locked",
                  "bytes=%llu error=\"%s\" hint=\"RLIMIT_MEMLOCK is below the slabs: raise it "
                  "(ulimit -l, LimitMEMLOCK=) or leave it\"",
                  (unsigned long long)view->slabs_bytes, strerror(errno));
}

static int map_slabs(struct view *view, int fd, uint64_t bytes)
{
    view->slabs = region_map_slabs(fd, bytes);
    view->slabs_bytes = bytes;
    return view->slabs ? 0 : -errno;
}

static int map_parts(struct view *view, const struct wire_packet *welcome, const char **what)
{
    const struct wire_welcome *settings = &welcome->message.welcome;
    *what = "seat page";
    int error = seat_map(&view->seat, welcome->fds[FD_SEAT], settings->incarnation);
    if (error)
        return error;
    *what = "control";
    error = region_map_control(&view->control, welcome->fds[FD_CONTROL], settings->control_bytes);
    if (error)
        return error;
    *what = "slabs";
    view->generation = settings->generation;
    return map_slabs(view, welcome->fds[FD_SLABS], settings->slabs_bytes);
}

int view_open(struct view *view, struct wire_packet *welcome, const char **what)
{
    memset(view, 0, sizeof(*view));
    int error = map_parts(view, welcome, what);
    for (unsigned i = 0; i < welcome->fd_count; i++) {
        close(welcome->fds[i]);
        welcome->fds[i] = -1;
    }
    if (error)
        view_close(view);
    return error;
}

static void unmap_slabs(struct view *view)
{
    if (view->slabs)
        munmap((void *)(uintptr_t)view->slabs, view->slabs_bytes);
    view->slabs = NULL;
}

int view_replace_slabs(struct view *view, struct wire_packet *packet)
{
    const struct wire_region *region = &packet->message.region;
    unmap_slabs(view);
    int error = map_slabs(view, packet->fds[0], region->slabs_bytes);
    close(packet->fds[0]);
    packet->fds[0] = -1;
    if (!error)
        view->generation = region->generation;
    return error;
}

/* ---- the device ---- */

static void list_slabs(const struct view *view, struct device_slabs *slabs)
{
    slabs->base = (void *)(uintptr_t)view->slabs;
    slabs->bytes = view->slabs_bytes;
    slabs->count = 0;
    for (uint32_t i = 0; i < view->control.header->slab_count && i < SLABS_MAX; i++) {
        struct device_slab *slab = &slabs->slab[slabs->count];
        const char *at = view_slab(view, i, &slab->bytes);
        if (!at)
            continue;
        slab->offset = (uint64_t)(at - (const char *)view->slabs);
        slabs->count++;
    }
}

int view_attach_device(const struct view *view, struct device *device)
{
    if (!device->operations->slabs_attach) {
        try_lock(view);
        return 0;
    }
    struct device_slabs *slabs = malloc(sizeof(*slabs));
    if (!slabs)
        return -ENOMEM;
    list_slabs(view, slabs);
    int error = device->operations->slabs_attach(device, slabs);
    free(slabs);
    return error;
}

void view_detach_device(struct device *device)
{
    if (device->operations->slabs_detach)
        device->operations->slabs_detach(device);
}

/* ---- */

void view_close(struct view *view)
{
    unmap_slabs(view);
    if (view->control.header)
        region_unmap_control(&view->control);
    if (view->seat)
        seat_unmap(view->seat);
    memset(view, 0, sizeof(*view));
}

const void *view_slab(const struct view *view, uint32_t slab, uint64_t *bytes)
{
    if (slab >= view->control.header->slab_count)
        return NULL;
    const struct control_slab *entry = &view->control.slabs[slab];
    if (entry->offset % SLAB_PAGE_BYTES || entry->bytes > view->slabs_bytes ||
        entry->offset > view->slabs_bytes - entry->bytes || entry->bytes < SLAB_HEADER_BYTES)
        return NULL;
    *bytes = entry->bytes;
    return (const char *)view->slabs + entry->offset;
}
