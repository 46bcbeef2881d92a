/* subgroup_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#include "tests/kernels/subgroup_checks.h"
