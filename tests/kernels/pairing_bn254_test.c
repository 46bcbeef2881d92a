/* pairing_checks.h for bn254. */
#define PAWL_CURVE bn254
#include "tests/kernels/pairing_checks.h"
