/*
 * The terms of one linear combination, brought to one form: by wire, each wire once, none zero. So
 * two combinations are the same where their terms are. Called by r1cs.c; memory is freed by
 * terms_free, a SIGKILL leaves nothing.
 */
#ifndef PAWL_SYNTH_WORKER_TERMS_H
#define PAWL_SYNTH_WORKER_TERMS_H

#include <stdint.h>

struct curve;

struct term {
    uint64_t value[4]; /* canonical; plain or Montgomery, the same for all of a combination */
    uint32_t wire;
};

struct terms {
    struct term *term;
    uint32_t count, room;
};

/* Empties the terms and makes room for `count` of them. 0 or -ENOMEM. */
int terms_open(struct terms *terms, uint32_t count);
void terms_free(struct terms *terms);
/* Sorts by wire, sums the values of equal wires, drops zeros. 1 where a wire was listed twice. */
int terms_merge(struct terms *terms, const struct curve *curve);
int terms_equal(const struct terms *a, const struct terms *b);

#endif
