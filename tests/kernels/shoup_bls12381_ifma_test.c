/* shoup_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#define PAWL_FORM ifma
#include "tests/kernels/shoup_checks.h"
