/* pairing_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#include "tests/kernels/pairing_checks.h"
