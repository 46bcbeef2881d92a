/*
 * Keys in a device's memory on their way between processes. The coordinator passes on what an
 * earlier worker of this device left (DEVICE_KEY), before the image of the same key; here it lies
 * until the prover loads that key and imports it. And the other way: a key that was loaded is
 * exported and sent, for the next worker.
 *
 * Threads: the socket's puts and forgets; the prover takes. What is passed on is only looked at by
 * the device, which checks all of it. A SIGKILL closes this process's fds, and no others.
 */
#ifndef PAWL_GPU_WORKER_KEY_PARCELS_H
#define PAWL_GPU_WORKER_KEY_PARCELS_H

#include <stdint.h>

#include "gpu-worker/device.h"
#include "shm/slab.h"

struct context;
struct key;
struct key_parcels;
struct wire_packet;

#define KEY_PARCELS_MOST 64 /* the oldest makes room */

struct key_parcels *key_parcels_create(void); /* NULL: no memory */
void key_parcels_destroy(struct key_parcels *parcels);

/* Keeps what a DEVICE_KEY brought, in place of an earlier one of that hash; its fds are taken out
 * of the packet. One without an fd is nothing. */
void key_parcels_put(struct key_parcels *parcels, struct wire_packet *packet);
void key_parcels_forget(struct key_parcels *parcels, const uint8_t hash[HASH_BYTES]);
/* 1 with the one of that hash, whose fds are the caller's then (key_parcel_close); else 0. */
int key_parcels_take(struct key_parcels *parcels, const uint8_t hash[HASH_BYTES],
                     struct device_parcel *out);
void key_parcel_close(struct device_parcel *parcel);

/* ---- the prover ---- */
/*
 * keys_load of a held key; by import where it was passed on and the device agrees, else afresh, and
 * then sent to the coordinator where that wants it. 0 or -errno.
 */
int key_parcels_load(struct context *context, struct key *key);
/* Asks the coordinator to let go of a key whose memory this worker gives up for want of room, or
 * could not import. context is the struct context; for keys_on_drop. */
void key_parcels_take_back(void *context, const struct key *key);

#endif
