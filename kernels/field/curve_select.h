/*
 * Which curve this translation unit is compiled for.
 *
 * A .c file in a folder of kernels/ is compiled once with -DPAWL_CURVE=bn254 and once with
 * -DPAWL_CURVE=bls12381. CURVE_FN(name) is the external name of that curve's copy (bn254_name);
 * everything else in such a file is static. Undefined, PAWL_CURVE is bn254, so that linters can
 * read a file alone. No state; nothing here outlives a process.
 */
#ifndef PAWL_KERNELS_FIELD_CURVE_SELECT_H
#define PAWL_KERNELS_FIELD_CURVE_SELECT_H

#ifndef PAWL_CURVE
#define PAWL_CURVE bn254
#endif

#define CURVE_JOIN_(a, b) a##_##b
#define CURVE_JOIN(a, b) CURVE_JOIN_(a, b)
#define CURVE_FN(name) CURVE_JOIN(PAWL_CURVE, name)

/* PAWL_CURVE as a number, for #if; the values of enum curve_id. */
#define PAWL_CURVE_NUMBER_bn254 1
#define PAWL_CURVE_NUMBER_bls12381 2
#define CURVE_NUMBER CURVE_JOIN(PAWL_CURVE_NUMBER, PAWL_CURVE)

#define FR_LIMBS 4
#if CURVE_NUMBER == 1
#define FQ_LIMBS 4
#elif CURVE_NUMBER == 2
#define FQ_LIMBS 6
#else
#error "PAWL_CURVE is neither bn254 nor bls12381"
#endif

#endif
