/* The vectors of the curve that the test is compiled for. Include after kernels/curve/group.h. */
#ifndef PAWL_TESTS_KERNELS_VECTORS_H
#define PAWL_TESTS_KERNELS_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#if CURVE_NUMBER == 1
#include "tests/kernels/vectors_bn254.h"
#else
#include "tests/kernels/vectors_bls12381.h"
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
