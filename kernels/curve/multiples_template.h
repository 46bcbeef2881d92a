/*
 * Multiples of points of one group: included by multiples.h once for G1 and once for G2 (so no
 * guard). multiples.h has the contract; GROUP and COORDINATE as in group_template.h.
 */

/* out[j - 1] = j * p, 1 <= j <= 8 */
FIELD_OUT_OF_LINE void GROUP_FN(eight_multiples)(GROUP_XYZZ out[8], const GROUP_XYZZ *p)
{
    out[0] = *p;
    for (int j = 1; j < 8; j++) {
        if (j % 2)
            GROUP_FN(xyzz_double)(&out[j], &out[j / 2]);
        else
            GROUP_FN(xyzz_add)(&out[j], &out[j - 1], p);
    }
}

FIELD_OUT_OF_LINE void GROUP_FN(add_digit)(GROUP_XYZZ *sum, const GROUP_XYZZ multiple[8], int digit)
{
    GROUP_XYZZ negated;
    if (digit > 0)
        GROUP_FN(xyzz_add)(sum, sum, &multiple[digit - 1]);
    if (digit < 0) {
        GROUP_FN(xyzz_neg)(&negated, &multiple[-digit - 1]);
        GROUP_FN(xyzz_add)(sum, sum, &negated);
    }
}

FIELD_OUT_OF_LINE void GROUP_FN(multiply_add)(GROUP_XYZZ *out, const GROUP_XYZZ *points,
                                              int8_t (*digits)[MULTIPLES_DIGITS], unsigned count)
{
    GROUP_XYZZ multiple[MULTIPLES_POINTS_MAX][8], sum = GROUP_FN(xyzz_infinity);
    for (unsigned k = 0; k < count; k++)
        GROUP_FN(eight_multiples)(multiple[k], &points[k]);
    for (int i = MULTIPLES_DIGITS - 1; i >= 0; i--) {
        for (int bit = 0; bit < 4 && !GROUP_FN(xyzz_is_infinity)(&sum); bit++)
            GROUP_FN(xyzz_double)(&sum, &sum);
        for (unsigned k = 0; k < count; k++)
            GROUP_FN(add_digit)(&sum, multiple[k], digits[k][i]);
    }
    *out = sum;
}

/* To affine with one inversion for all (Montgomery's trick over zzz). None is infinity, or, being
 * multiples of one point by small factors of its order, all are. */
FIELD_OUT_OF_LINE void GROUP_FN(batch_to_affine)(GROUP_AFFINE *out, const GROUP_XYZZ *in)
{
    COORD before[MULTIPLES_BATCH], inverse, own, t;
    before[0] = in[0].zzz;
    for (int j = 1; j < MULTIPLES_BATCH; j++)
        COORD_FN(mul)(&before[j], &before[j - 1], &in[j].zzz);
    COORD_FN(inverse)(&inverse, &before[MULTIPLES_BATCH - 1]); /* of zero: zero, so all vanish */
    for (int j = MULTIPLES_BATCH - 1; j >= 0; j--) {
        own = inverse;
        if (j)
            COORD_FN(mul)(&own, &inverse, &before[j - 1]);
        COORD_FN(mul)(&inverse, &inverse, &in[j].zzz);
        COORD_FN(mul)(&out[j].y, &in[j].y, &own);
        COORD_FN(mul)(&t, &own, &in[j].zz);
        COORD_FN(square)(&t, &t);
        COORD_FN(mul)(&out[j].x, &in[j].x, &t);
    }
}

FIELD_OUT_OF_LINE void GROUP_FN(multiples_make)(GROUP_AFFINE *table, const GROUP_AFFINE *p)
{
    GROUP_XYZZ base, multiple[MULTIPLES_BATCH];
    GROUP_FN(xyzz_from_affine)(&base, p);
    for (int first = 0; first < MULTIPLES_TABLE_POINTS; first += MULTIPLES_BATCH) {
        for (int j = 0; j < MULTIPLES_BATCH; j += 8) {
            GROUP_FN(eight_multiples)(multiple + j, &base);
            GROUP_FN(xyzz_double)(&base, &multiple[j + 7]);
        }
        GROUP_FN(batch_to_affine)(table + first, multiple);
    }
}

FIELD_OUT_OF_LINE void GROUP_FN(multiples_add)(GROUP_XYZZ *sum, const GROUP_AFFINE *table,
                                               const int8_t digit[MULTIPLES_DIGITS])
{
    for (int i = 0; i < MULTIPLES_DIGITS; i++) {
        if (digit[i] > 0)
            GROUP_FN(xyzz_add_affine)(sum, sum, &table[8 * i + digit[i] - 1]);
        if (digit[i] < 0)
            GROUP_FN(xyzz_sub_affine)(sum, sum, &table[8 * i - digit[i] - 1]);
    }
}

#undef GROUP
#undef COORDINATE
