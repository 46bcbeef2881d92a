/*
 * Filling a slab (shm/slab.h): the witness, checked, and the rows a, b = A w, B w.
 *
 * The slab's `sealed` is cleared first and stored last, so that whatever happens in between, the
 * slab is not taken for a filled one.
 */
#ifndef PAWL_SYNTH_WORKER_FILL_H
#define PAWL_SYNTH_WORKER_FILL_H

#include <stdint.h>

#include "shm/image.h"
#include "shm/slab.h"

struct complaint;

enum fill_step { FILL_WITNESS, FILL_ROWS };

struct fill_request {
    const struct image *image;
    int witness_fd;    /* the wtns file; borrowed */
    const char *label; /* its name in texts */
    void *slab;        /* writable, at least the bytes that fill_plan says */
    uint64_t generation, job;
    uint32_t partition;
    int with_rows;   /* 0: the device evaluates rows */
    int check_image; /* 1: the image may be damaged: first it is held against its checksum */
    /* Called between chunks of at most a few milliseconds; non-zero: stop. May be NULL. */
    int (*pause)(void *arg, enum fill_step step);
    void *pause_arg;
};

struct fill_result {
    uint8_t digest[HASH_BYTES]; /* SHA-256 of the witness section */
    uint64_t start_ns;          /* CLOCK_MONOTONIC */
    uint64_t witness_ns, rows_ns;
};

/* What the request's slab needs. 0 or -EOVERFLOW. */
int fill_plan(struct slab_plan *plan, const struct image *image, int with_rows);
/*
 * 0: filled and sealed. -ECANCELED: `pause` stopped it. -errno with the complaint set: the witness
 * is at fault (EXIT_INPUT) or we are; -EUCLEAN: the image is damaged, as it is found to be where
 * check_image asks for it and before a witness is said to break a constraint. Not sealed unless 0.
 */
int fill_slab(const struct fill_request *request, struct fill_result *result,
              struct complaint *complaint);

#endif
