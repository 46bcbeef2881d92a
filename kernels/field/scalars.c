/*
 * Field elements as plain words for those who hold no `struct fr`: the programs, through curves.h.
 *
 * Promises what curves.h says; called through a curve's table. No state, so a SIGKILL leaves
 * nothing.
 */
#include "kernels/field/scalars.h"

#include "kernels/field/fields.h"

#include <errno.h>
#include <string.h>

int CURVE_FN(fr_is_canonical)(const uint64_t *x)
{
    return fr_is_canonical(x);
}

void CURVE_FN(fr_to_montgomery)(uint64_t *out, const uint64_t *plain)
{
    struct fr x;
    memcpy(&x, plain, sizeof(x));
    fr_to_montgomery(&x, &x);
    memcpy(out, &x, sizeof(x));
}

void CURVE_FN(fr_from_montgomery)(uint64_t *out, const uint64_t *montgomery)
{
    struct fr x;
    memcpy(&x, montgomery, sizeof(x));
    fr_from_montgomery(&x, &x);
    memcpy(out, &x, sizeof(x));
}

void CURVE_FN(fr_multiply)(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    struct fr x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    fr_mul(&x, &x, &y);
    memcpy(out, &x, sizeof(x));
}

void CURVE_FN(fq_from_montgomery)(uint64_t *out, const uint64_t *montgomery)
{
    struct fq x;
    memcpy(&x, montgomery, sizeof(x));
    fq_from_montgomery(&x, &x);
    memcpy(out, &x, sizeof(x));
}

int CURVE_FN(fq_to_montgomery)(uint64_t *out, const uint64_t *plain)
{
    struct fq x;
    if (!fq_is_canonical(plain))
        return -EINVAL;
    memcpy(&x, plain, sizeof(x));
    fq_to_montgomery(&x, &x);
    memcpy(out, &x, sizeof(x));
    return 0;
}
