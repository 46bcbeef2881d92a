/* field_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#include "tests/kernels/field_checks.h"
