/* shoup_checks.h for bn254. */
#define PAWL_CURVE bn254
#define PAWL_FORM ifma
#include "tests/kernels/shoup_checks.h"
