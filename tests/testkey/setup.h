/*
 * A Groth16 setup by one who knows the toxic waste: he draws it from a seed, so the keys are worth
 * nothing but tests. All scalars of the key, plain, one array for each section of the zkey.
 */
#ifndef PAWL_TESTS_TESTKEY_SETUP_H
#define PAWL_TESTS_TESTKEY_SETUP_H

#include "tests/testkey/circuit.h"

struct parallel;

struct setup {
    unsigned log2;
    struct scalar alpha, beta, delta; /* plain; gamma is one */
    struct scalar *a, *b;             /* per wire: A and B at tau */
    struct scalar *k; /* per wire: (beta A + alpha B + C) / (public ? gamma : delta) */
    struct scalar
        *h; /* per row of the domain: the odd Lagrange polynomials of its double at tau, / delta */
};

void setup_make(struct setup *setup, const struct circuit *circuit, unsigned log2, uint64_t seed,
                struct parallel *parallel);
void setup_free(struct setup *setup);

#endif
