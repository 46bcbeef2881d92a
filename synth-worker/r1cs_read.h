/*
 * The combinations of an r1cs one after the other. Private to r1cs.c and r1cs_compare.c.
 */
#ifndef PAWL_SYNTH_WORKER_R1CS_READ_H
#define PAWL_SYNTH_WORKER_R1CS_READ_H

#include "synth-worker/r1cs.h"
#include "synth-worker/terms.h"

enum r1cs_side { R1CS_A, R1CS_B, R1CS_C, R1CS_SIDES };

struct r1cs_walk {
    const struct r1cs *r1cs;
    const uint8_t *at, *end;
    uint32_t row;
    enum r1cs_side side; /* of the next combination */
    struct terms terms;  /* of the last one: merged, Montgomery */
    int repeated;        /* a wire of it was listed twice */
};

/* At the first combination; nothing to free but walk.terms. */
void r1cs_walk_begin(struct r1cs_walk *walk, const struct r1cs *r1cs);
/* Reads the next combination. 0 or -errno. Not to be called past the last constraint. */
int r1cs_walk_next(struct r1cs_walk *walk, struct complaint *complaint);

#endif
