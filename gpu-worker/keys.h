/*
 * The proving keys that the coordinator gave: images by hash, mapped once and kept until FORGET,
 * and what the device holds for them.
 *
 * Threads: the socket's adds, forgets and finds; the finalizer prepares and releases; the prover
 * alone loads and sweeps, for device calls are its. A forgotten key lives until nothing assigned
 * uses it. Device memory goes to keys in least-recently-used order. A SIGKILL leaves nothing:
 * mappings end.
 */
#ifndef PAWL_GPU_WORKER_KEYS_H
#define PAWL_GPU_WORKER_KEYS_H

#include <stdint.h>

#include "kernels/curves.h"
#include "shm/image.h"
#include "shm/slab.h"

struct device;
struct device_key;
struct device_parcel;
struct keys;

/* Constant between keys_hold and keys_release, but for what lies below the line. */
struct key {
    uint8_t hash[HASH_BYTES];
    struct image image;
    const struct curve *curve;
    struct verification_key verification; /* ic points into the image */
    /* ---- of keys.c ---- */
    struct device_key *loaded; /* the prover's */
    uint64_t last_use;         /* the prover's */
    int kept;                  /* the prover's: the coordinator holds its device memory too */
    void *prepared;            /* the finalizer's */
    int was_asked;             /* the finalizer's */
    unsigned holders;
    int forgotten;
    struct key *next;
};

struct keys *keys_create(void); /* NULL: no memory */
/* Unmaps all; nothing is held any more, and the device is still open. */
void keys_destroy(struct keys *keys, struct device *device);

/*
 * Maps the image behind `fd` (which stays the caller's) under its hash; one that is there already
 * is kept. 0, or -errno with *what naming what is wrong with it.
 */
int keys_add(struct keys *keys, const uint8_t hash[HASH_BYTES], int fd, const char **what);
/* The key, held, or NULL where none of that hash is there. */
struct key *keys_hold(struct keys *keys, const uint8_t hash[HASH_BYTES]);
void keys_release(struct keys *keys, struct key *key);
void keys_forget(struct keys *keys, const uint8_t hash[HASH_BYTES]);

/* The first eight bytes: as hexadecimal they name an image well enough for a log. */
uint64_t keys_short_hash(const uint8_t hash[HASH_BYTES]);

/* Logs that its image was found damaged. */
void keys_log_damaged(const struct key *key);

/* The prover: has the device load a held key, dropping others where memory is short. 0 or -errno.
 */
int keys_load(struct keys *keys, struct key *key, struct device *device);
/* The prover: the same from a parcel, by the device's key_import. -ENOTSUP where it has none. */
int keys_import(struct keys *keys, struct key *key, struct device *device,
                const struct device_parcel *parcel);
/* Has `call` be told of each kept key whose device memory was dropped for want of room. */
void keys_on_drop(struct keys *keys, void (*call)(void *arg, const struct key *key), void *arg);
/*
 * The finalizer: a held key made ready for many proofs (curves.h), or NULL at its first proof, for
 * a one-shot proof has no use for it, and where memory is short.
 */
const void *keys_prepared(struct key *key);
/* The prover: unmaps what was forgotten and is no longer held. */
void keys_sweep(struct keys *keys, struct device *device);

#endif
