/* pairing_checks.h for bls12381 in the form adx. */
#define PAWL_CURVE bls12381
#define PAWL_FORM adx
#include "tests/kernels/pairing_checks.h"
