/*
 * Proving keys in the memory of devices, kept beyond the gpu-workers that put them there: the
 * driver's memory lives as long as somebody holds the fd by which it was exported. The coordinator,
 * which has no driver, holds it, and hands it to the next gpu-worker of that device before the
 * image of that key; the worker imports it, checks it on the device, and proves without an upload.
 *
 * An fd kept here is never read, mapped or asked anything but its kind. One is kept for each key
 * and device. It is closed when a later one takes its place, when the worker wants its memory back,
 * when the image is forgotten, when the device is lost, when a worker that was given it died before
 * its first proof (for it may have been the cause), when the device has no memory for another key
 * (its worker can drop those that it was given, and knows of no others), when there are too many
 * (the one used the longest ago), and when the configuration wants none kept.
 *
 * Closing one can take as long as the driver likes, and for ever where the device hangs, so a
 * thread of its own does each. Called by workers.c and the engine. A SIGKILL closes all, and the
 * devices have their memory back.
 */
#ifndef PAWL_COORDINATOR_DEVICE_KEYS_H
#define PAWL_COORDINATOR_DEVICE_KEYS_H

#include <stdint.h>

#include "shm/wire.h"

#define DEVICE_KEYS_MAX 64u

struct config;
struct worker;

struct device_key {
    struct wire_device_key told; /* its texts and hash are compared, its numbers only passed on */
    int fds[2];                  /* the memory; the device's node, or -1 */
    uint64_t used;               /* a counter: the lowest was used the longest ago */
};

struct device_keys {
    const struct config *config;
    struct device_key list[DEVICE_KEYS_MAX];
    uint32_t count;
    uint64_t uses;
    uint64_t kept_total, handed_total, refused_total;
};

/* A worker's DEVICE_KEY; takes the fds of what is kept out of the packet. */
void device_keys_take(struct device_keys *keys, const struct worker *worker,
                      struct wire_packet *packet);
/* Hands the key of that hash to a gpu-worker of its device, if there is one. */
void device_keys_send(struct device_keys *keys, struct worker *worker, const uint8_t *hash);
/* Its worker is gone; died: 0 where it left in order. See above. */
void device_keys_mourn(struct device_keys *keys, const struct worker *worker, int died);
void device_keys_forget_hash(struct device_keys *keys, const uint8_t *hash);
/* why: for the log, quoted where it has blanks. */
void device_keys_forget_device(struct device_keys *keys, const char *device, const char *why);
void device_keys_clear(struct device_keys *keys);
/* What the kept ones say that they take on their devices. */
uint64_t device_keys_bytes(const struct device_keys *keys);

#endif
