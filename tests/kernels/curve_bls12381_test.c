/* curve_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#include "tests/kernels/curve_checks.h"
