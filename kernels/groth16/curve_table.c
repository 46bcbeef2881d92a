/*
 * The table of the curve and the scalar form that this file is compiled for. Constant data.
 */
#include "kernels/groth16/curve_table.h"
