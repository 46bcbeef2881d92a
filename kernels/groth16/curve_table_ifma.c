/*
 * The table of the curve that this file is compiled for in the AVX-512 IFMA form: vector operations
 * where there are some, adx's functions elsewhere. Constant data.
 */
#include "kernels/groth16/curve_table.h"
