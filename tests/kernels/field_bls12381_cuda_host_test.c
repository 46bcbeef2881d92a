/* field_cuda_host_checks.h for bls12381. */
#define PAWL_CURVE bls12381
#include "tests/kernels/field_cuda_host_checks.h"
