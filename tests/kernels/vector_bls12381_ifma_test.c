/* vector_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#define PAWL_FORM ifma
#include "tests/kernels/vector_checks.h"
