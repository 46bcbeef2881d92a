/*
 * Which curves there are: their tables by number, by name and by form. Read-only; the form in use
 * is cpu_form's to say.
 */
#include "kernels/curves.h"

#include <string.h>

/* groth16/curve_table.c and curve_table_ifma.c, compiled for each curve and form */
extern const struct curve bn254_portable_curve, bls12381_portable_curve;
#ifdef __x86_64__
extern const struct curve bn254_adx_curve, bls12381_adx_curve;
extern const struct curve bn254_ifma_curve, bls12381_ifma_curve;
#define TABLES(curve)                                                                              \
    {                                                                                              \
        &curve##_portable_curve, &curve##_adx_curve, &curve##_ifma_curve                           \
    }
#else
#define TABLES(curve)                                                                              \
    {                                                                                              \
        &curve##_portable_curve                                                                    \
    }
#endif

static const struct curve *const tables[][FORM_COUNT] = {
    [CURVE_BN254] = TABLES(bn254), [CURVE_BLS12381] = TABLES(bls12381)};

static const struct curve *table_of(uint32_t id, enum cpu_form form)
{
    return id == CURVE_BN254 || id == CURVE_BLS12381 ? tables[id][form] : NULL;
}

const struct curve *curve_in_form(uint32_t id, enum cpu_form form)
{
    return cpu_form_available(form) ? table_of(id, form) : NULL;
}

const struct curve *curve_portable(uint32_t id)
{
    return table_of(id, FORM_PORTABLE);
}

const struct curve *curve_by_id(uint32_t id)
{
    return table_of(id, cpu_form_chosen());
}

const struct curve *curve_by_name(const char *name)
{
    if (strcmp(name, "bn128") == 0 || strcmp(name, "bn254") == 0)
        return curve_by_id(CURVE_BN254);
    if (strcmp(name, "bls12381") == 0)
        return curve_by_id(CURVE_BLS12381);
    return NULL;
}
