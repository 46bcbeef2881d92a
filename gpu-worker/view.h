/*
 * What a gpu-worker sees of the region: control, all slabs (once, read-only), its own seat page.
 */
#ifndef PAWL_GPU_WORKER_VIEW_H
#define PAWL_GPU_WORKER_VIEW_H

#include <stdint.h>

#include "shm/control.h"

struct device;
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
 * Maps all three from the welcome's fds, which it closes whatever comes. 0, or -errno with *what
 * naming the part at fault.
 */
int view_open(struct view *view, struct wire_packet *welcome, const char **what);
/* Lets go of the slabs and maps others (a REGION message and its fd, which it closes) in their
 * place. The device has detached from them. 0 or -errno. */
int view_replace_slabs(struct view *view, struct wire_packet *packet);
/*
 * Tells the device of the slabs. One that reads them where they lie has none to be told: then they
 * are locked in memory, and where that may not be, it is logged once. 0, or -errno of the device.
 */
int view_attach_device(const struct view *view, struct device *device);
/* The device will use them no more. */
void view_detach_device(struct device *device);
void view_close(struct view *view);

/* A slab's bytes, by its number: its place as control's slab table has it, checked against the
 * object. NULL where there is no such slab. */
const void *view_slab(const struct view *view, uint32_t slab, uint64_t *bytes);

#endif
