/*
 * The region: the control object, made once at the coordinator's start, and the slab object, made
 * at the start and anew by each plan of the lanes.
 *
 * All memory is reserved when an object is made (a too small /dev/shm is an ENOSPC then, not a
 * SIGBUS later), no name goes stale, and a SIGKILL of everybody gives the memory back.
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
    uint64_t generation; /* of the slab object: 1, 2, ... */
    char backing[16];
};

/*
 * Creates both objects, lays control out, populates the slabs' pages through a mapping that it
 * drops again, and leaves slabs out of core dumps. backing: "shm", "memfd" or "hugetlbfs" (the
 * slabs' sizes are rounded up to the huge page then, and control is a memfd). A memfd is sealed:
 * shrink, grow; control also against any later writable mapping. 0 or -errno (-EINVAL: lanes that
 * control_bytes refuses, or another backing); on error nothing is left, and *what says what failed
 * ("lanes", "backing", "control", "slabs") for the log.
 */
int region_create(struct region *region, const struct lane_spec *lanes, uint32_t lane_count,
                  const char *backing, const char *build_id, const char **what);
void region_destroy(struct region *region);

/*
 * Another slab object in the making: by another plan, for lanes that the region has. It is made in
 * parts, so that a loop that must not block can make one of any size; it becomes the region's when
 * it is whole and all slabs are FREE.
 */
struct region_slabs {
    int fd; /* -1: none */
    uint64_t bytes, made_bytes, unit_bytes;
    struct lane_spec lanes[LANES_MAX]; /* sizes rounded as the backing wants them */
    uint32_t lane_count;
};
/* 0 or -errno as region_create; then it is empty of pages. */
int region_slabs_begin(struct region_slabs *slabs, const struct lane_spec *lanes,
                       uint32_t lane_count, const char *backing);
/* Reserves and populates about so many bytes more. 1: there is more to do; 0: whole; -errno
 * (-ENOSPC), and region_slabs_drop is to be called. */
int region_slabs_make(struct region_slabs *slabs, uint64_t part_bytes);
void region_slabs_drop(struct region_slabs *slabs);
/* Takes the whole object over in place of the present one, and its plan with it. Aborts unless all
 * slabs are FREE. Whoever still maps the old one keeps its memory until he lets go. */
void region_slabs_adopt(struct region *region, struct region_slabs *slabs);

/* ---- a worker's views; fds stay the caller's ---- */
/* Control, read-only. 0 or -errno. */
int region_map_control(struct control *control, int fd, uint64_t bytes);
void region_unmap_control(struct control *control);
/* All slabs, read-only: a gpu-worker, once for each slab object. NULL with errno set on failure.
 * Populated, not in core dumps. */
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
    uint64_t unit_bytes;   /* windows are multiples of it: the page, or the huge page */
    struct slab_window *window;
};
/* 0 or -errno. fd: the caller's, open as long as the windows are. */
int slab_windows_init(struct slab_windows *windows, int fd, uint32_t slab_count);
/* The slab's first `bytes` bytes, writable, populated (mapped anew only where the window was too
 * short). slab_offset: a multiple of the page. NULL and errno (EINVAL: outside the object). */
void *slab_window_open(struct slab_windows *windows, uint32_t slab, uint64_t slab_offset,
                       uint64_t bytes);
/* Write access ends. */
void slab_window_close(struct slab_windows *windows, uint32_t slab);
void slab_windows_destroy(struct slab_windows *windows);

#endif
