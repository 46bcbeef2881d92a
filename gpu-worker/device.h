/*
 * What a gpu-worker asks of a device: open, describe, load and drop a key, compute the five sums of
 * a proof. The CPU is a device like any other (device_cpu.c).
 *
 * All calls but device_open come from one thread, the prover's. A device owns its scratch: it is
 * allocated when a key is loaded that needs more than there is, never in prove(). It reads slabs
 * and images in place and writes neither. A SIGKILL leaves nothing: all is this process's memory.
 */
#ifndef PAWL_GPU_WORKER_DEVICE_H
#define PAWL_GPU_WORKER_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "shm/seat.h"

struct curve;
struct image;
struct proof_sums;

#define DEVICE_NAME_BYTES 64

struct device_settings {
    unsigned threads; /* of a CPU device; 0: as many CPUs as the caller may run on */
};

struct device_description {
    char name[DEVICE_NAME_BYTES];  /* "cpu" or a UUID */
    char model[DEVICE_NAME_BYTES]; /* for people */
    unsigned threads;
    uint64_t scratch_bytes; /* allocated now */
    uint64_t keys_bytes;    /* held for loaded keys, beside their images */
};

/* The inputs of one proof, all inside a checked slab. */
struct device_work {
    const uint64_t *witness; /* `wires` elements, plain */
    const uint64_t *rows_a;  /* `domain` elements, Montgomery; NULL: the device evaluates rows */
    const uint64_t *rows_b;
};

/* How a device says where it is, and learns that it may stop. Called from the prover's thread and
 * from the device's own. */
struct device_watch {
    void (*step)(struct device_watch *self, enum worker_stage stage);
    int (*cancelled)(struct device_watch *self); /* non-zero: return -ECANCELED soon */
};

struct device_times {
    uint64_t upload_ns, ntt_ns, msm_ns;
};

struct device_key; /* a loaded key; the device's own type */
struct device;

struct device_operations {
    void (*close)(struct device *device);
    void (*describe)(const struct device *device, struct device_description *out);
    /*
     * Makes all that proofs with this key need: tables that the image lacks, scratch of its size.
     * The image stays mapped until key_drop. 0, or -errno; -ENOMEM: the caller drops keys that are
     * not in use, least recently used first, and asks again.
     */
    int (*key_load)(struct device *device, const struct curve *curve, const struct image *image,
                    struct device_key **key);
    void (*key_drop)(struct device *device, struct device_key *key);
    /* The five sums before blinding. 0, -ECANCELED, or -errno. */
    int (*prove)(struct device *device, struct device_key *key, const struct device_work *work,
                 struct device_watch *watch, struct proof_sums *sums, struct device_times *times);
};

struct device {
    const struct device_operations *operations;
};

/* By the name of --device. NULL with *why set to a static text where there is no such device, or
 * errno ENOMEM or EAGAIN and *why where it cannot be had now. */
struct device *device_open(const char *name, const struct device_settings *settings,
                           const char **why);
/* 1 where device_open knows the name; else 0 with *why set. Opens nothing. */
int device_is_known(const char *name, const char **why);

struct device *device_cpu_open(const struct device_settings *settings, const char **why);

#endif
