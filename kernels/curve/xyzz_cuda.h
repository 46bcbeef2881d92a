/*
 * G1 and G2 of one curve for CUDA kernels; compiled as C they are the host model that tests run.
 *
 * Points are those of group.h, in memory byte for byte. With gpu_g1_ or gpu_g2_ in front:
 *
 *     struct affine {x, y}              all zero: infinity
 *     struct xyzz {x, y, zz, zzz}       zz = 0: infinity, whatever x, y and zzz are then
 *
 *     affine_load (out, packed)         a key's point, in global memory, aligned to 16 bytes
 *     xyzz_load (out, global), xyzz_store (global, a)          x | y | zz | zzz
 *     xyzz_set_infinity (out), xyzz_is_infinity (a)
 *     xyzz_add_affine (acc, point, negate)                     acc += point, or -= for negate != 0
 *     xyzz_add (acc, point), xyzz_double (acc)
 *
 * Complete: infinity, equal and opposite operands give the right sum. Operands are on the curve.
 * Formulas as in group.h. No state.
 */
#ifndef PAWL_KERNELS_CURVE_XYZZ_CUDA_H
#define PAWL_KERNELS_CURVE_XYZZ_CUDA_H

#include "kernels/field/fq2_cuda.h"

#define GPU_GROUP g1
#define GPU_COORDINATE fq
#include "kernels/curve/xyzz_template_cuda.h"

#define GPU_GROUP g2
#define GPU_COORDINATE fq2
#include "kernels/curve/xyzz_template_cuda.h"

#endif
