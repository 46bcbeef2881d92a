/*
 * The two kinds of circuits that keys are made of. Both fill a domain of exactly 2^log2 and have
 * two public signals; the shares (terms of A and B a constraint, wires that appear in neither,
 * zeros and ones in the witness) are those measured on real circuits, from log2 = 8 on within a few
 * per cent.
 */
#ifndef PAWL_TESTS_TESTKEY_PROFILES_H
#define PAWL_TESTS_TESTKEY_PROFILES_H

#include "tests/testkey/circuit.h"

enum { LOG2_MIN = 4, LOG2_MAX = 24, PUBLICS = 2 };

/* Like a chain of Poseidon hashes: every wire a product of sums, all values of full length. */
void profile_dense_make(struct circuit *circuit, const struct curve *curve, unsigned log2,
                        uint64_t seed);
/* Like SHA-256: bits, exclusive ors, choices, majorities and additions of words. */
void profile_bits_make(struct circuit *circuit, const struct curve *curve, unsigned log2,
                       uint64_t seed);

#endif
