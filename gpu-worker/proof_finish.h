/*
 * From sums to a proof that has been checked by pairing, or to the word of who is at fault.
 *
 * No proof leaves unchecked. Where one does not verify, the image is held against its checksum: if
 * it was damaged on the disk, neither device nor input is to blame. If not, the sums are computed
 * once more by the portable C form, from the slab's witness with the rows evaluated anew, and
 * compared:
 *
 *   equal                              the input is at fault: its witness breaks a constraint
 *   different, the new proof verifies  the device is at fault and charged; the new proof counts
 *   different, it does not either      the fault is ours; the device is charged
 */
#ifndef PAWL_GPU_WORKER_PROOF_FINISH_H
#define PAWL_GPU_WORKER_PROOF_FINISH_H

#include <stdint.h>

struct blinders;
struct curve;
struct device_watch;
struct image;
struct proof;
struct proof_sums;
struct verification_key;

enum proof_verdict {
    PROOF_GOOD,        /* verifies */
    PROOF_UNSATISFIED, /* the input is at fault */
    PROOF_WRONG,       /* ours: neither proof verifies, or what the check needs cannot be had */
    PROOF_CANCELLED
};

struct proof_inputs {
    const struct curve *curve;
    const struct image *image;
    const struct verification_key *key;
    const void *prepared;    /* the key as curves.h prepares it; NULL: the plain one is used */
    const uint64_t *witness; /* plain, as in the slab; publics are witness[1...] */
    const struct blinders *blinders;
    unsigned threads; /* for sums made anew */
};

struct proof_outcome {
    int device_charged;
    int image_damaged;
    uint64_t verify_ns; /* summed over all checks */
    const char *why;    /* static; NULL for PROOF_GOOD and PROOF_CANCELLED */
};

/* `watch` is asked between the steps, and told of them. */
enum proof_verdict proof_finish(struct proof *out, struct proof_outcome *outcome,
                                const struct proof_inputs *inputs, const struct proof_sums *sums,
                                struct device_watch *watch);

#endif
