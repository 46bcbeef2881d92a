/*
 * The field functions behind a curve's table (curves.h states their contracts). Stateless.
 */
#ifndef PAWL_KERNELS_FIELD_SCALARS_H
#define PAWL_KERNELS_FIELD_SCALARS_H

#include "kernels/field/curve_select.h"

#include <stdint.h>

extern const uint64_t CURVE_FN(fq_modulus)[];
extern const uint64_t CURVE_FN(fr_modulus)[];

int CURVE_FN(fr_is_canonical)(const uint64_t *x);
void CURVE_FN(fr_to_montgomery)(uint64_t *out, const uint64_t *plain);
void CURVE_FN(fr_from_montgomery)(uint64_t *out, const uint64_t *montgomery);
void CURVE_FN(fr_multiply)(uint64_t *out, const uint64_t *a, const uint64_t *b);
void CURVE_FN(fq_from_montgomery)(uint64_t *out, const uint64_t *montgomery);
int CURVE_FN(fq_to_montgomery)(uint64_t *out, const uint64_t *plain);

#endif
