/*
 * The region: the control and the slab object, made once at the coordinator's start.
 *
 * shm_open(O_EXCL), posix_fallocate (a too small /dev/shm is an ENOSPC now, not a SIGBUS later),
 * opened once more read-only, then shm_unlink at once: no name goes stale, and a SIGKILL of
 * everybody gives the memory back.
 */
#ifndef PAWL_SHM_REGION_H
#define PAWL_SHM_REGION_H

#include <stdint.h>

#include "shm/control.h"

struct region {
    struct control control; /* mapped read-write: the coordinator's */
    int control_ro_fd;      /* what workers get */
    int slabs_fd;           /* read-write; the coordinator maps no slab */
    uint64_t control_bytes, slabs_bytes;
};

/*
 * Creates both objects, lays control out, populates the slabs' pages through a mapping that it
 * drops again, and leaves slabs out of core dumps. backing: "shm" or "memfd" (sealed: shrink,
 * grow; control also against any later writable mapping). 0 or -errno (-EINVAL: lanes that
 * control_bytes refuses, or another backing); on error nothing is left, and *what says what failed
 * ("lanes", "backing", "control", "slabs") for the log.
 */
int region_create(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                  const char *backing, const char *build_id, const char **what);
void region_destroy(struct region *region);

/* ---- a worker's views; fds stay the caller's ---- */
/* Control, read-only. 0 or -errno. */
int region_map_control(struct control *control, int fd, uint64_t bytes);
void region_unmap_control(struct control *control);
/* All slabs, read-only: a gpu-worker, once. NULL with errno set on failure. Populated, not in core
 * dumps. */
const void *region_map_slabs(int fd, uint64_t bytes);

/*
 * A synth-worker's window on the slabs: one mapping a slab, just of the granted length, writable
 * while granted, kept read-only for the next grant of the same slab.
 */
struct slab_window {
    void *address; /* NULL: not mapped */
    uint64_t offset, bytes;
};
struct slab_windows {
    int fd;
    uint32_t count;        /* slabs in control */
    uint64_t object_bytes; /* no window reaches past it */
    struct slab_window *window;
};
/* 0 or -errno. */
int slab_windows_init(struct slab_windows *windows, int fd, uint32_t slab_count);
/* The slab's first `bytes` bytes, writable, populated (mapped anew only where the window was too
 * short). slab_offset: a multiple of the page. NULL and errno (EINVAL: outside the object). */
void *slab_window_open(struct slab_windows *windows, uint32_t slab, uint64_t slab_offset,
                       uint64_t bytes);
/* Write access ends. */
void slab_window_close(struct slab_windows *windows, uint32_t slab);
void slab_windows_destroy(struct slab_windows *windows);

#endif
