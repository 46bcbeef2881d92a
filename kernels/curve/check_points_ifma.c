/*
 * Checks of many points, eight at a time: coordinates below the prime, and y^2 = x^3 + b or all
 * zero. Eight in which one fails, and the last few, are left to the scalar form, which says which.
 * Called by kernels/point_checks.c. Stateless.
 */
#include "kernels/curve/check_points.h"

#include "kernels/field/vector_ifma.h"

#define COORDINATE_BYTES (8 * FQ_LIMBS)

extern __typeof__(CURVE_FN(points_checked)) BASE_FN(points_checked);

/* Lanes whose word is below the prime; what bits they have is added to *any. */
static __mmask8 canonical_lanes(const void *const pointer[8], __m512i *any)
{
    __m512i word[FQ_LIMBS];
    __mmask8 below = 0, equal = 0xff;
    vector_gather_words(word, pointer, FQ_LIMBS);
    for (int i = FQ_LIMBS - 1; i >= 0; i--) {
        const __m512i modulus = _mm512_set1_epi64((long long)fq_modulus[i]);
        below |= equal & _mm512_cmplt_epu64_mask(word[i], modulus);
        equal &= _mm512_cmpeq_epu64_mask(word[i], modulus);
        *any = _mm512_or_si512(*any, word[i]);
    }
    return below;
}

/* Coordinate `which` of eight packed points of `stride` bytes. */
static void point_at(const void *pointer[8], const char *points, size_t stride, unsigned which)
{
    for (int i = 0; i < 8; i++)
        pointer[i] = points + (size_t)i * stride + which * COORDINATE_BYTES;
}

static __mmask8 g1_on_curve(const char *points)
{
    const void *pointer[8];
    struct fq_x8 x, y, b, cube;
    point_at(pointer, points, 2 * COORDINATE_BYTES, 0);
    fq_x8_load(&x, pointer);
    point_at(pointer, points, 2 * COORDINATE_BYTES, 1);
    fq_x8_load(&y, pointer);
    fq_x8_broadcast(&b, &g1_coefficient_b);
    fq_x8_reduce(&x, &x);
    fq_x8_reduce(&y, &y);
    fq_x8_reduce(&b, &b);
    fq_x8_square(&cube, &x);
    fq_x8_mul(&cube, &cube, &x);
    fq_x8_add(&cube, &cube, &b);
    fq_x8_square(&y, &y);
    return fq_x8_equal_mask(&y, &cube);
}

static __mmask8 g2_on_curve(const char *points)
{
    const void *pointer[8];
    struct fq2_x8 x, y, b, cube;
    point_at(pointer, points, 4 * COORDINATE_BYTES, 0);
    fq2_x8_load(&x, pointer);
    point_at(pointer, points, 4 * COORDINATE_BYTES, 2);
    fq2_x8_load(&y, pointer);
    fq_x8_broadcast(&b.c0, &g2_coefficient_b.c0);
    fq_x8_broadcast(&b.c1, &g2_coefficient_b.c1);
    fq2_x8_reduce(&x, &x);
    fq2_x8_reduce(&y, &y);
    fq2_x8_reduce(&b, &b);
    fq2_x8_mul(&cube, &x, &x);
    fq2_x8_mul(&cube, &cube, &x);
    fq2_x8_add(&cube, &cube, &b);
    fq2_x8_mul(&y, &y, &y);
    return fq2_x8_equal_mask(&y, &cube);
}

static int eight_are_fine(enum group group, const char *points)
{
    const unsigned coordinates = group == GROUP_G1 ? 2 : 4;
    const void *pointer[8];
    __m512i any = _mm512_setzero_si512();
    __mmask8 canonical = 0xff;
    for (unsigned which = 0; which < coordinates; which++) {
        point_at(pointer, points, coordinates * COORDINATE_BYTES, which);
        canonical &= canonical_lanes(pointer, &any);
    }
    const __mmask8 infinite = _mm512_testn_epi64_mask(any, any);
    const __mmask8 on = group == GROUP_G1 ? g1_on_curve(points) : g2_on_curve(points);
    return (canonical & (on | infinite)) == 0xff;
}

size_t CURVE_FN(points_checked)(enum group group, const void *points, size_t count)
{
    const size_t stride = (group == GROUP_G1 ? 2 : 4) * COORDINATE_BYTES;
    const char *at = points;
    size_t done = 0;
    while (count - done >= 8 && eight_are_fine(group, at + done * stride))
        done += 8;
    return done + BASE_FN(points_checked)(group, at + done * stride, count - done);
}
