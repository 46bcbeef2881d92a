/*
 * The groups G1 (over Fq) and G2 (over Fq2) of the curve that this file is compiled for.
 *
 * Both are one template, group_template.h. With `g1` or `g2` in front:
 *
 *     struct g1_affine {x, y}             all zero: infinity (no point has x = y = 0, for b != 0)
 *     struct g1_xyzz {x, y, zz, zzz}      x / zz, y / zzz with zz^3 = zzz^2; zz = 0: infinity
 *
 * Every operation is complete: infinity, equal and opposite operands give the right sum. Operands
 * are on the curve; nothing here checks that. `out` may be any of the operands.
 * Formulas: explicit-formulas database, short Weierstrass, a = 0, XYZZ (Sutherland).
 */
#ifndef PAWL_KERNELS_CURVE_GROUP_H
#define PAWL_KERNELS_CURVE_GROUP_H

#include "kernels/curves.h"
#include "kernels/field/fields.h"

#include <string.h>

#define GROUP g1
#define COORDINATE fq
#include "kernels/curve/group_template.h"

#define GROUP g2
#define COORDINATE fq2
#include "kernels/curve/group_template.h"

#endif
