/*
 * What a gpu-worker sees of the region: control, all slabs (once, read-only), its own seat page.
 */
#ifndef PAWL_GPU_WORKER_VIEW_H
#define PAWL_GPU_WORKER_VIEW_H

#include <stdint.h>

#include "shm/control.h"

struct seat_page;
struct wire_packet;

struct view {
    struct control control; /* read-only */
    const void *slabs;      /* read-only */
    uint64_t slabs_bytes;
    uint64_t generation; /* of the slab object */
    struct seat_page *seat;
};

/*
 * Maps all three from the welcome's fds, which it closes whatever comes. Tries to lock the slabs in
 * memory and logs once where it may not. 0, or -errno with *what naming the part at fault.
 */
int view_open(struct view *view, struct wire_packet *welcome, const char **what);
/* Maps other slabs (a REGION message and its fd, which it closes) in place of those before, which
 * it lets go of first. Nobody may be reading a slab. 0 or -errno. */
int view_replace_slabs(struct view *view, struct wire_packet *packet);
void view_close(struct view *view);

/* A slab's bytes, by its number: its place as control's slab table has it, checked against the
 * object. NULL where there is no such slab. */
const void *view_slab(const struct view *view, uint32_t slab, uint64_t *bytes);

#endif
