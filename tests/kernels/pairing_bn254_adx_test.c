/* pairing_checks.h for bn254 in the form adx. */
#define PAWL_CURVE bn254
#define PAWL_FORM adx
#include "tests/kernels/pairing_checks.h"
