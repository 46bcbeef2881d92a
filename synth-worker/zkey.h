/*
 * A Groth16 proving key as snarkjs writes it: what it claims, held against itself.
 *
 * zkey_open reads the header (sections 1 and 2); zkey_check_sections holds the length of every
 * section against the header's counts, in 64-bit arithmetic. Points and coefficients are checked
 * where they are copied (points.h, coefficients.h). A section 1..9 that is there twice is refused
 * ("Section Duplicated"; the reference refuses 2 so and takes the first of 4..9).
 */
#ifndef PAWL_SYNTH_WORKER_ZKEY_H
#define PAWL_SYNTH_WORKER_ZKEY_H

#include <stdint.h>

#include "synth-worker/binfile.h"

struct complaint;
struct curve;

#define ZKEY_VERSION 2u

enum zkey_section {
    ZKEY_PROTOCOL = 1,
    ZKEY_HEADER = 2,
    ZKEY_IC = 3,
    ZKEY_COEFFICIENTS = 4,
    ZKEY_POINTS_A = 5,
    ZKEY_POINTS_B1 = 6,
    ZKEY_POINTS_B2 = 7,
    ZKEY_POINTS_C = 8,
    ZKEY_POINTS_H = 9,
};

#define ZKEY_COEFFICIENT_BYTES 44u /* u32 matrix, row, signal; 32 bytes of value */
/* alpha1 beta1 delta1 beta2 gamma2 delta2, packed: 3 G1 and 3 G2 of the longer curve */
#define ZKEY_CONSTANTS_BYTES_MAX (3 * 96 + 3 * 192)

struct zkey {
    struct binfile file;
    const struct curve *curve;
    uint32_t wires, public_count; /* with ONE; without ONE; public_count < wires */
    uint32_t log2_domain;         /* 1 .. two_adicity - 1 */
    uint32_t coefficient_count;   /* after zkey_check_sections */
    /* The six points of the header in the order of IMAGE_VERIFICATION, unchecked. */
    uint64_t constants[ZKEY_CONSTANTS_BYTES_MAX / 8];
};

/* Reads container and header. 0, or -errno with the complaint set. The source's memory stays the
 * caller's and must outlive the zkey. */
int zkey_open(struct zkey *zkey, const struct binfile_source *source, struct complaint *complaint);
/* Sections 3..9: there, once, and as long as the header says. 0 or -errno. */
int zkey_check_sections(struct zkey *zkey, struct complaint *complaint);
/* Section `id` of 3 or 5..9: there once, with `count` points of `point_bytes`. 0 or -errno. */
int zkey_check_points_length(const struct zkey *zkey, enum zkey_section id, uint64_t count,
                             uint32_t point_bytes, struct complaint *complaint);
/* How many points section `id` (3 or 5..9) must have, and the bytes of one. */
uint64_t zkey_point_count(const struct zkey *zkey, enum zkey_section id);
uint32_t zkey_point_bytes(const struct zkey *zkey, enum zkey_section id);

#endif
