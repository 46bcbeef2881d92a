/*
 * Which curve and which form of the mathematics this translation unit is compiled for.
 *
 * A .c file in a folder of kernels/ is compiled once for each curve (-DPAWL_CURVE=bn254|bls12381)
 * and form (-DPAWL_FORM=portable|adx); one named *_ifma.c once for each curve, with
 * -DPAWL_FORM=ifma and AVX-512's flags. CURVE_FN(name) is the external name of that copy
 * (bn254_adx_name); everything else in such a file is static. BASE_FN(name) is the copy that the
 * scalar forms have: adx's, for ifma, which has vector operations only. Undefined, they are
 * bn254 and portable, so that linters can read a file alone. No state; nothing here outlives a
 * process.
 */
#ifndef PAWL_KERNELS_FIELD_CURVE_SELECT_H
#define PAWL_KERNELS_FIELD_CURVE_SELECT_H

#ifndef PAWL_CURVE
#define PAWL_CURVE bn254
#endif
#ifndef PAWL_FORM
#define PAWL_FORM portable
#endif

#define CURVE_JOIN_(a, b) a##_##b
#define CURVE_JOIN(a, b) CURVE_JOIN_(a, b)
#define CURVE_FORM_FN(form, name) CURVE_JOIN(CURVE_JOIN(PAWL_CURVE, form), name)
#define CURVE_FN(name) CURVE_FORM_FN(PAWL_FORM, name)

/* PAWL_CURVE and PAWL_FORM as numbers, for #if; the values of enum curve_id and enum cpu_form. */
#define PAWL_CURVE_NUMBER_bn254 1
#define PAWL_CURVE_NUMBER_bls12381 2
#define CURVE_NUMBER CURVE_JOIN(PAWL_CURVE_NUMBER, PAWL_CURVE)
#define PAWL_FORM_NUMBER_portable 0
#define PAWL_FORM_NUMBER_adx 1
#define PAWL_FORM_NUMBER_ifma 2
#define FORM_NUMBER CURVE_JOIN(PAWL_FORM_NUMBER, PAWL_FORM)

#if FORM_NUMBER == 2
#define BASE_FN(name) CURVE_FORM_FN(adx, name)
#else
#define BASE_FN(name) CURVE_FN(name)
#endif

#define FR_LIMBS 4
#if CURVE_NUMBER == 1
#define FQ_LIMBS 4
#elif CURVE_NUMBER == 2
#define FQ_LIMBS 6
#else
#error "PAWL_CURVE is neither bn254 nor bls12381"
#endif

#endif
