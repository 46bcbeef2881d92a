/*
 * A group of points: included by group.h once for G1 and once for G2 (so no guard).
 *
 * Wants GROUP (the prefix) and COORDINATE (the prefix of the field). group.h has the contract.
 */
#ifndef GROUP_FN
#define GROUP_JOIN_(a, b) a##_##b
#define GROUP_JOIN(a, b) GROUP_JOIN_(a, b)
#define GROUP_FN(name) GROUP_JOIN(GROUP, name)
#define GROUP_AFFINE struct GROUP_FN(affine)
#define GROUP_XYZZ struct GROUP_FN(xyzz)
#define GROUP_POINT struct GROUP
#define COORD_FN(name) GROUP_JOIN(COORDINATE, name)
#define COORD struct COORDINATE
#endif

GROUP_AFFINE
{
    COORD x, y;
};
GROUP_XYZZ
{
    COORD x, y, zz, zzz;
};

static const GROUP_AFFINE GROUP_FN(affine_infinity);
static const GROUP_XYZZ GROUP_FN(xyzz_infinity);

/* ---- the packed form (a zkey's, stride sizeof(affine), aligned to 8) and curves.h's points ----
 */

static inline void GROUP_FN(affine_load)(GROUP_AFFINE *out, const void *packed)
{
    memcpy(out, packed, sizeof(*out));
}

static inline void GROUP_FN(affine_store)(void *packed, const GROUP_AFFINE *a)
{
    memcpy(packed, a, sizeof(*a));
}

/* `out` is a whole struct g1 or g2: the words past the curve's own become zero. */
static inline void GROUP_FN(point_store)(GROUP_POINT *out, const GROUP_AFFINE *a)
{
    GROUP_POINT point = {{0}};
    memcpy(point.word, a, sizeof(*a));
    *out = point;
}

static inline void GROUP_FN(point_load)(GROUP_AFFINE *out, const GROUP_POINT *point)
{
    memcpy(out, point->word, sizeof(*out));
}

/* ---- affine ---- */

static inline int GROUP_FN(affine_is_infinity)(const GROUP_AFFINE *a)
{
    return COORD_FN(is_zero)(&a->x) & COORD_FN(is_zero)(&a->y);
}

static inline int GROUP_FN(affine_equal)(const GROUP_AFFINE *a, const GROUP_AFFINE *b)
{
    return COORD_FN(equal)(&a->x, &b->x) & COORD_FN(equal)(&a->y, &b->y);
}

static inline void GROUP_FN(affine_neg)(GROUP_AFFINE *out, const GROUP_AFFINE *a)
{
    out->x = a->x;
    COORD_FN(neg)(&out->y, &a->y);
}

/* ---- XYZZ ---- */

static inline int GROUP_FN(xyzz_is_infinity)(const GROUP_XYZZ *a)
{
    return COORD_FN(is_zero)(&a->zz);
}

static inline void GROUP_FN(xyzz_from_affine)(GROUP_XYZZ *out, const GROUP_AFFINE *a)
{
    if (GROUP_FN(affine_is_infinity)(a)) {
        *out = GROUP_FN(xyzz_infinity);
        return;
    }
    out->x = a->x;
    out->y = a->y;
    out->zz = COORD_FN(one);
    out->zzz = COORD_FN(one);
}

static inline void GROUP_FN(xyzz_neg)(GROUP_XYZZ *out, const GROUP_XYZZ *a)
{
    *out = *a;
    COORD_FN(neg)(&out->y, &out->y);
}

/* X and Y of 2 * (x, y), and what Z takes on: zz *= v, zzz *= w. Neither curve has y = 0. */
static inline void GROUP_FN(double_core)(GROUP_XYZZ *out, const COORD *x, const COORD *y, COORD *v,
                                         COORD *w)
{
    COORD u, s, m, t;
    COORD_FN(double)(&u, y);
    COORD_FN(square)(v, &u);
    COORD_FN(mul)(w, &u, v);
    COORD_FN(mul)(&s, x, v);
    COORD_FN(square)(&t, x);
    COORD_FN(double)(&m, &t);
    COORD_FN(add)(&m, &m, &t);
    COORD_FN(mul)(&t, w, y);
    COORD_FN(square)(&u, &m);
    COORD_FN(sub)(&u, &u, &s);
    COORD_FN(sub)(&out->x, &u, &s);
    COORD_FN(sub)(&u, &s, &out->x);
    COORD_FN(mul)(&u, &u, &m);
    COORD_FN(sub)(&out->y, &u, &t);
}

FIELD_OUT_OF_LINE void GROUP_FN(xyzz_double)(GROUP_XYZZ *out, const GROUP_XYZZ *a)
{
    COORD v, w;
    const COORD zz = a->zz, zzz = a->zzz;
    GROUP_FN(double_core)(out, &a->x, &a->y, &v, &w);
    COORD_FN(mul)(&out->zz, &v, &zz); /* stays zero at infinity */
    COORD_FN(mul)(&out->zzz, &w, &zzz);
}

FIELD_OUT_OF_LINE void GROUP_FN(xyzz_double_affine)(GROUP_XYZZ *out, const GROUP_AFFINE *a)
{
    if (GROUP_FN(affine_is_infinity)(a)) {
        *out = GROUP_FN(xyzz_infinity);
        return;
    }
    GROUP_FN(double_core)(out, &a->x, &a->y, &out->zz, &out->zzz);
}

/*
 * The end of both additions: from P = U2 - U1 != 0 and R = S2 - S1 to X and Y of the sum;
 * pp = P^2, ppp = P^3.
 */
static inline void GROUP_FN(add_core)(GROUP_XYZZ *out, const COORD *u1, const COORD *s1,
                                      const COORD *r, const COORD *pp, const COORD *ppp)
{
    COORD q, t, y;
    COORD_FN(mul)(&q, u1, pp);
    COORD_FN(mul)(&y, s1, ppp);
    COORD_FN(square)(&t, r);
    COORD_FN(sub)(&t, &t, ppp);
    COORD_FN(sub)(&t, &t, &q);
    COORD_FN(sub)(&out->x, &t, &q);
    COORD_FN(sub)(&t, &q, &out->x);
    COORD_FN(mul)(&t, &t, r);
    COORD_FN(sub)(&out->y, &t, &y);
}

FIELD_OUT_OF_LINE void GROUP_FN(xyzz_add_affine)(GROUP_XYZZ *out, const GROUP_XYZZ *a,
                                                 const GROUP_AFFINE *b)
{
    COORD p, r, pp, ppp;
    if (GROUP_FN(affine_is_infinity)(b)) {
        *out = *a;
        return;
    }
    if (GROUP_FN(xyzz_is_infinity)(a)) {
        GROUP_FN(xyzz_from_affine)(out, b);
        return;
    }
    COORD_FN(mul)(&p, &b->x, &a->zz);
    COORD_FN(mul)(&r, &b->y, &a->zzz);
    COORD_FN(sub)(&p, &p, &a->x);
    COORD_FN(sub)(&r, &r, &a->y);
    if (COORD_FN(is_zero)(&p)) {
        if (COORD_FN(is_zero)(&r))
            GROUP_FN(xyzz_double_affine)(out, b);
        else
            *out = GROUP_FN(xyzz_infinity);
        return;
    }
    COORD_FN(square)(&pp, &p);
    COORD_FN(mul)(&ppp, &pp, &p);
    COORD_FN(mul)(&out->zz, &a->zz, &pp);
    COORD_FN(mul)(&out->zzz, &a->zzz, &ppp);
    GROUP_FN(add_core)(out, &a->x, &a->y, &r, &pp, &ppp);
}

static inline void GROUP_FN(xyzz_sub_affine)(GROUP_XYZZ *out, const GROUP_XYZZ *a,
                                             const GROUP_AFFINE *b)
{
    GROUP_AFFINE negated;
    GROUP_FN(affine_neg)(&negated, b);
    GROUP_FN(xyzz_add_affine)(out, a, &negated);
}

/* The sum of two points that are not infinity. */
FIELD_OUT_OF_LINE void GROUP_FN(xyzz_add_finite)(GROUP_XYZZ *out, const GROUP_XYZZ *a,
                                                 const GROUP_XYZZ *b)
{
    COORD u1, s1, p, r, pp, ppp;
    COORD_FN(mul)(&u1, &a->x, &b->zz);
    COORD_FN(mul)(&s1, &a->y, &b->zzz);
    COORD_FN(mul)(&p, &b->x, &a->zz);
    COORD_FN(mul)(&r, &b->y, &a->zzz);
    COORD_FN(sub)(&p, &p, &u1);
    COORD_FN(sub)(&r, &r, &s1);
    if (COORD_FN(is_zero)(&p)) {
        if (COORD_FN(is_zero)(&r))
            GROUP_FN(xyzz_double)(out, a);
        else
            *out = GROUP_FN(xyzz_infinity);
        return;
    }
    COORD_FN(square)(&pp, &p);
    COORD_FN(mul)(&ppp, &pp, &p);
    COORD_FN(mul)(&p, &a->zz, &b->zz);
    COORD_FN(mul)(&out->zz, &p, &pp);
    COORD_FN(mul)(&p, &a->zzz, &b->zzz);
    COORD_FN(mul)(&out->zzz, &p, &ppp);
    GROUP_FN(add_core)(out, &u1, &s1, &r, &pp, &ppp);
}

FIELD_OUT_OF_LINE void GROUP_FN(xyzz_add)(GROUP_XYZZ *out, const GROUP_XYZZ *a, const GROUP_XYZZ *b)
{
    if (GROUP_FN(xyzz_is_infinity)(b))
        *out = *a;
    else if (GROUP_FN(xyzz_is_infinity)(a))
        *out = *b;
    else
        GROUP_FN(xyzz_add_finite)(out, a, b);
}

/* One inversion: 1/zzz gives y, and zz^2 / zzz^2 = zz^2 / zz^3 = 1/zz gives x. */
FIELD_OUT_OF_LINE void GROUP_FN(xyzz_to_affine)(GROUP_AFFINE *out, const GROUP_XYZZ *a)
{
    COORD inverse, t;
    if (GROUP_FN(xyzz_is_infinity)(a)) {
        *out = GROUP_FN(affine_infinity);
        return;
    }
    COORD_FN(inverse)(&inverse, &a->zzz);
    COORD_FN(mul)(&t, &inverse, &a->zz);
    COORD_FN(square)(&t, &t);
    COORD_FN(mul)(&out->x, &a->x, &t);
    COORD_FN(mul)(&out->y, &a->y, &inverse);
}

/* out = scalar * a, the scalar plain, `words` little-endian words, of any size; not secret. */
FIELD_OUT_OF_LINE void GROUP_FN(xyzz_multiply)(GROUP_XYZZ *out, const GROUP_XYZZ *a,
                                               const uint64_t *scalar, int words)
{
    const GROUP_XYZZ base = *a;
    GROUP_XYZZ acc = GROUP_FN(xyzz_infinity);
    for (int bit = 64 * words - 1; bit >= 0; bit--) {
        GROUP_FN(xyzz_double)(&acc, &acc);
        if (scalar[bit / 64] >> (bit % 64) & 1)
            GROUP_FN(xyzz_add)(&acc, &acc, &base);
    }
    *out = acc;
}

#undef GROUP
#undef COORDINATE
