/*
 * Multiples of the generators of bls12381 (fixed_base.h). Part of the test key maker.
 */
#define PAWL_CURVE bls12381
#include "tests/testkey/fixed_base_curve.h"
