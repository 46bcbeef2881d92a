/*
 * Multiples of the generators of bn254 (fixed_base.h). Part of the test key maker.
 */
#define PAWL_CURVE bn254
#include "tests/testkey/fixed_base_curve.h"
