/* field_cuda_checks.h for bn254. */
#define PAWL_CURVE bn254
#include "tests/kernels/field_cuda_checks.h"
