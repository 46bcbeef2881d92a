/*
 * What a gpu-worker asks of a device: open, describe, load and drop a key, compute the five sums of
 * a proof. The CPU is a device like any other (device_cpu.c); device_cuda.c is a GPU.
 *
 * All calls but device_open, close and those for slabs come from one thread, the prover's. A device
 * owns its scratch: it is allocated when a key is loaded that needs more than there is, never in
 * prove(). It reads slabs and images in place and writes neither. A SIGKILL leaves nothing: all is
 * this process's memory, save what key_export gave away.
 */
#ifndef PAWL_GPU_WORKER_DEVICE_H
#define PAWL_GPU_WORKER_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "shm/control.h"
#include "shm/seat.h"

struct curve;
struct image;
struct proof_sums;
struct seat_page;

#define DEVICE_NAME_BYTES 64

struct device_settings {
    unsigned threads;       /* of a CPU device; 0: as many CPUs as the caller may run on */
    struct seat_page *seat; /* where a device shows what it does; NULL: nowhere */
};

/* Where one slab lies in the mapping of all. */
struct device_slab {
    uint64_t offset, bytes; /* offset: whole pages */
};

/* The slabs as the worker has mapped them: read-only, from a file that may be mapped writable. */
struct device_slabs {
    void *base;
    uint64_t bytes;
    unsigned count;
    struct device_slab slab[SLABS_MAX];
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
    /* Or NULL. Called now and then while the device works by itself; may call its stage and
     * unstage. */
    void (*idle)(struct device_watch *self);
};

struct device_times {
    uint64_t upload_ns, ntt_ns, msm_ns;
};

/*
 * The memory of a loaded key, by which it outlives the process: to be imported by another process
 * on the same device. `checksum` is over what lies in it.
 */
struct device_parcel {
    char device[DEVICE_NAME_BYTES];
    uint32_t driver_version, layout;
    uint64_t bytes, checksum;
    int memory_fd;
    int node_fd; /* -1: none; keeps the device from being shut down meanwhile */
};

struct device_key; /* a loaded key; the device's own type */
struct device;

struct device_operations {
    void (*close)(struct device *device);
    void (*describe)(const struct device *device, struct device_description *out);
    /*
     * Makes all that proofs with this key need: tables that the image lacks, scratch of its size.
     * The image stays mapped until key_drop. 0, or -errno; -ENOMEM: the caller drops keys that are
     * not in use, least recently used first, and asks again; -E2BIG: too large for this device;
     * -EIO: what arrived on it is not what was sent, and it is charged.
     */
    int (*key_load)(struct device *device, const struct curve *curve, const struct image *image,
                    struct device_key **key);
    void (*key_drop)(struct device *device, struct device_key *key);
    /* The five sums before blinding. 0, -ECANCELED, or -errno. */
    int (*prove)(struct device *device, struct device_key *key, const struct device_work *work,
                 struct device_watch *watch, struct proof_sums *sums, struct device_times *times);

    /* ---- what a device may lack (NULL) ---- */
    /*
     * Begins to bring the witness of a later proof to the device, while another is proved; a prove
     * of the same work with the same key then finds it there. One at a time: between stage and
     * unstage, or the prove of that work, no other is staged, no key loaded, and its own key not
     * dropped. 0; -EBUSY: there is one; -errno. Where it fails nothing is read.
     */
    int (*stage)(struct device *device, struct device_key *key, const struct device_work *work);
    /* Forgets what is staged; returns when its slab is no longer read. Nothing staged: nothing. */
    void (*unstage)(struct device *device);
    /* The memory of a loaded key; its fds are the caller's. 0, -ENOTSUP where this device or driver
     * cannot, or -errno. */
    int (*key_export)(struct device *device, struct device_key *key, struct device_parcel *out);
    /*
     * key_load from a parcel, whose fds stay the caller's. What lies in the memory is checked on
     * the device against the image. 0; -ESTALE: of another device, driver or layout, or not this
     * key's; -EBADMSG: the contents are not what they should be; or as key_load.
     */
    int (*key_import)(struct device *device, const struct curve *curve, const struct image *image,
                      const struct device_parcel *parcel, struct device_key **key);
    /*
     * All three or none: for a device that copies out of slabs. From the socket's thread. attach:
     * here are the slabs; `slabs` is copied. It returns before all is ready for copies; work on a
     * slab that is not ready yet waits for just that one. 0, or -errno: then the worker cannot go
     * on. detach: they will be unmapped; nothing reads them any more. want: this slab was assigned
     * and is to be made ready before others.
     */
    int (*slabs_attach)(struct device *device, const struct device_slabs *slabs);
    void (*slabs_detach)(struct device *device);
    void (*slab_want)(struct device *device, const void *slab);
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
/* By a UUID or "cuda:N". */
struct device *device_cuda_open(const char *name, const struct device_settings *settings,
                                const char **why);

#endif
