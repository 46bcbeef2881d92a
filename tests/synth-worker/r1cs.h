/*
 * Whether a witness satisfies a fixture's r1cs, by the definition: an oracle that shares no code
 * with proving. For files that are known to be whole. Header only.
 */
#ifndef PAWL_TESTS_SYNTH_WORKER_R1CS_H
#define PAWL_TESTS_SYNTH_WORKER_R1CS_H

#include "tests/support/scalars.h"
#include "tests/synth-worker/container.h"

static inline struct scalar r1cs_combination(const struct curve *curve, const uint8_t **at,
                                             const uint64_t *witness)
{
    struct scalar sum = {{0}};
    uint32_t terms = binfile_u32(*at);
    *at += 4;
    for (uint32_t i = 0; i < terms; i++, *at += 36) {
        struct scalar coefficient, value;
        uint32_t wire = binfile_u32(*at);
        memcpy(&coefficient, *at + 4, 32);
        memcpy(&value, witness + (size_t)4 * wire, 32);
        curve->fr_to_montgomery(coefficient.word, coefficient.word);
        curve->fr_to_montgomery(value.word, value.word);
        value = scalar_mul(curve, &coefficient, &value);
        sum = scalar_add(curve, &sum, &value);
    }
    return sum;
}

/* 1 where every constraint A w * B w = C w holds. */
static inline int r1cs_is_satisfied(struct container *file, const struct curve *curve,
                                    const uint64_t *witness)
{
    uint32_t constraints = binfile_u32(container_find(file, 1)->payload + 60);
    const uint8_t *at = container_find(file, 2)->payload;
    for (uint32_t i = 0; i < constraints; i++) {
        struct scalar a = r1cs_combination(curve, &at, witness);
        struct scalar b = r1cs_combination(curve, &at, witness);
        struct scalar c = r1cs_combination(curve, &at, witness);
        struct scalar product = scalar_mul(curve, &a, &b);
        if (!scalar_equal(&product, &c))
            return 0;
    }
    return 1;
}

#endif
