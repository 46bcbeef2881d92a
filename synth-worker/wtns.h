/*
 * A witness file (wtns): header and array. Read by pread from the client's fd, never mapped: a file
 * that is cut meanwhile is an error text. Stateless but for the caller's struct.
 */
#ifndef PAWL_SYNTH_WORKER_WTNS_H
#define PAWL_SYNTH_WORKER_WTNS_H

#include <stdint.h>

#include "synth-worker/binfile.h"

struct complaint;
struct curve;

#define WTNS_VERSION 2u
#define WTNS_VALUE_BYTES 32u

struct wtns {
    struct binfile_source source;
    const struct curve *curve;
    uint32_t count;
    uint64_t values_offset; /* count values of 32 bytes, plain, little-endian */
};

/*
 * Reads the header and holds it against the circuit: curve, number of wires, length of the array.
 * Of a section that is there twice the first counts. 0, or -errno with the complaint set (the texts
 * are the reference's where it has one).
 */
int wtns_open(struct wtns *wtns, const struct binfile_source *source, const struct curve *curve,
              uint32_t wires, struct complaint *complaint);
/*
 * Reads values begin .. end - 1 into `out` (8-byte aligned) and checks them: each below r, value 0
 * is 1. 0, or -errno with the complaint naming the index.
 */
int wtns_read(const struct wtns *wtns, uint32_t begin, uint32_t end, uint64_t *out,
              struct complaint *complaint);

#endif
