/*
 * The files of a key, in the formats of iden3's tools: a container of numbered sections,
 * little-endian. Part of the test key maker; a write error ends the program with exit code 73.
 */
#ifndef PAWL_TESTS_TESTKEY_OUTPUT_H
#define PAWL_TESTS_TESTKEY_OUTPUT_H

#include <stdio.h>

#include "tests/testkey/setup.h"

struct parallel;

struct output {
    FILE *file;
    const char *path;
    long length_at; /* of the open section's length */
};

FILE *output_open(const char *folder, const char *name, char path[512]);
void output_begin(struct output *output, const char *folder, const char *name, char path[512],
                  const char type[4], uint32_t version, uint32_t sections);
void output_section(struct output *output, uint32_t id);
void output_end_section(struct output *output);
void output_bytes(struct output *output, const void *bytes, size_t count);
void output_u32(struct output *output, uint32_t value);
void output_close(struct output *output);

/* witness: plain */
void write_witness(const char *folder, const char *name, const struct curve *curve,
                   const struct scalar *witness, uint32_t count);
void write_r1cs(const char *folder, const struct circuit *circuit);

/* The key's points that stand alone. */
struct key_points {
    struct g1 alpha1, beta1, delta1;
    struct g2 beta2, gamma2, delta2;
    void *ic; /* publics + 1 packed G1 points */
};

/* Makes the points; key->ic is the caller's to free. */
void write_zkey(const char *folder, const struct circuit *circuit, const struct setup *setup,
                struct key_points *key, struct parallel *parallel);
void write_verification_key(const char *folder, const struct circuit *circuit,
                            const struct key_points *key);

#endif
