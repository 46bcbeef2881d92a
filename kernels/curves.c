/*
 * Which curves there are: the two tables by number and by name. Read-only, no state.
 */
#include "kernels/curves.h"

#include <string.h>

/* groth16/curve_table.c, compiled once for each curve */
extern const struct curve bn254_curve, bls12381_curve;

const struct curve *curve_by_id(uint32_t id)
{
    switch (id) {
    case CURVE_BN254:
        return &bn254_curve;
    case CURVE_BLS12381:
        return &bls12381_curve;
    default:
        return NULL;
    }
}

const struct curve *curve_by_name(const char *name)
{
    if (strcmp(name, "bn128") == 0 || strcmp(name, "bn254") == 0)
        return &bn254_curve;
    if (strcmp(name, "bls12381") == 0)
        return &bls12381_curve;
    return NULL;
}
