/*
 * What the worker's threads share: made before them, gone after them.
 */
#ifndef PAWL_GPU_WORKER_CONTEXT_H
#define PAWL_GPU_WORKER_CONTEXT_H

#include "gpu-worker/activity.h"
#include "gpu-worker/device.h"

struct activity;
struct assignment;
struct blinders;
struct desk;
struct device;
struct key_parcels;
struct keys;
struct outbox;

struct context {
    struct device *device; /* called by the prover alone */
    struct keys *keys;
    struct key_parcels *parcels;
    struct desk *desk;
    struct outbox *outbox;
    struct activity *activity;
    const struct blinders *fixed_blinders; /* NULL: fresh ones */
    unsigned check_threads;                /* for sums that the finalizer makes anew */
    int keep_device_keys;                  /* the coordinator wants keys that were loaded */
};

/* A device_watch of one assignment: steps go to the seat page, its cancellation to the device. */
struct context_watch {
    struct device_watch watch; /* first: the calls cast back */
    struct activity *activity;
    enum activity_side side;
    struct assignment *assignment;
};
void context_watch_init(struct context_watch *watch, struct context *context,
                        enum activity_side side, struct assignment *assignment);

/* Posts the assignment's step: STARTED, COMPUTED or RELEASED. */
void context_post_step(struct context *context, const struct assignment *assignment, unsigned type);
/* Posts FAILED; fault, stage and why as in wire.h. */
void context_post_failed(struct context *context, const struct assignment *assignment,
                         unsigned fault, unsigned stage, int device_charged, const char *why);
/* Gives the key back and frees what left the desk. */
void context_discard(struct context *context, struct assignment *assignment);

#endif
