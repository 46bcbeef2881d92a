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

/* ---- what both count with ---- */

/* Constraints for a domain of 2^log2: as full as `of_32768` makes one of 2^15, with room for the
 * rows of the publics. */
static inline uint32_t profile_rows(unsigned log2, uint64_t of_32768)
{
    uint64_t domain = (uint64_t)1 << log2, rows = domain * of_32768 / 32768;
    return (uint32_t)(rows <= domain - PUBLICS - 1 ? rows : domain - PUBLICS - 1);
}

/* total * part / whole, rounded */
static inline uint64_t share_of(uint64_t total, uint64_t part, uint64_t whole)
{
    return (total * part + whole / 2) / whole;
}

/* Whether `part` of `whole`, spread evenly, fall on number i; the last always does, where there is
 * any. */
static inline int share_falls_on(uint64_t i, uint64_t part, uint64_t whole)
{
    return (i + 1) * part / whole > i * part / whole;
}

#endif
