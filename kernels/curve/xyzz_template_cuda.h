/*
 * A group of points for CUDA kernels: included by xyzz_cuda.h once for G1 and once for G2 (no
 * guard).
 *
 * Wants GPU_GROUP (the name) and GPU_COORDINATE (the field's); undefines them. xyzz_cuda.h has the
 * contract.
 *
 * Addition and doubling end alike. With P and R as below, and x, y, zz, zzz of the first operand,
 *     X = R^2 - e P^3 - 2 x P^2,   Y = R (x P^2 - X) - y P^3,   ZZ = zz P^2,   ZZZ = zzz P^3
 *     addition   P = U2 - x, R = S2 - y, e = 1        doubling   P = 2 y, R = 3 x^2, e = 0
 * so the equal operands that an addition meets go round the same code a second time, the square x^2
 * being made by the instructions that otherwise make P^2: they cost no code, and no register but a
 * flag's. Opposite operands have P = 0, so ZZ = 0 without being looked at.
 */
#ifndef GPU_GROUP_FN
#define GPU_GROUP_FN(name) GPU_JOIN(gpu, GPU_GROUP, name)
#define GPU_COORD_FN(name) GPU_JOIN(gpu, GPU_COORDINATE, name)
#define GPU_GROUP_STRUCT_(group, kind) struct gpu_##group##_##kind
#define GPU_GROUP_STRUCT(group, kind) GPU_GROUP_STRUCT_(group, kind)
#define GPU_AFFINE GPU_GROUP_STRUCT(GPU_GROUP, affine)
#define GPU_XYZZ GPU_GROUP_STRUCT(GPU_GROUP, xyzz)
#define GPU_COORD GPU_STRUCT(GPU_COORDINATE)
#endif

GPU_AFFINE
{
    GPU_COORD x, y;
};
GPU_XYZZ
{
    GPU_COORD x, y, zz, zzz;
};

GPU_FN void GPU_GROUP_FN(affine_load)(GPU_AFFINE *out, const void *packed)
{
    GPU_COORD_FN(load)(&out->x, packed);
    GPU_COORD_FN(load)(&out->y, (const char *)packed + sizeof(GPU_COORD));
}

GPU_FN int GPU_GROUP_FN(affine_is_infinity)(const GPU_AFFINE *a)
{
    return GPU_COORD_FN(is_zero)(&a->x) & GPU_COORD_FN(is_zero)(&a->y);
}

GPU_FN void GPU_GROUP_FN(xyzz_load)(GPU_XYZZ *out, const void *global)
{
    const char *at = (const char *)global;
    GPU_COORD_FN(load)(&out->x, at);
    GPU_COORD_FN(load)(&out->y, at + sizeof(GPU_COORD));
    GPU_COORD_FN(load)(&out->zz, at + 2 * sizeof(GPU_COORD));
    GPU_COORD_FN(load)(&out->zzz, at + 3 * sizeof(GPU_COORD));
}

GPU_FN void GPU_GROUP_FN(xyzz_store)(void *global, const GPU_XYZZ *a)
{
    char *at = (char *)global;
    GPU_COORD_FN(store)(at, &a->x);
    GPU_COORD_FN(store)(at + sizeof(GPU_COORD), &a->y);
    GPU_COORD_FN(store)(at + 2 * sizeof(GPU_COORD), &a->zz);
    GPU_COORD_FN(store)(at + 3 * sizeof(GPU_COORD), &a->zzz);
}

GPU_FN void GPU_GROUP_FN(xyzz_set_infinity)(GPU_XYZZ *out)
{
    GPU_COORD_FN(set_zero)(&out->x);
    GPU_COORD_FN(set_zero)(&out->y);
    GPU_COORD_FN(set_zero)(&out->zz);
    GPU_COORD_FN(set_zero)(&out->zzz);
}

GPU_FN int GPU_GROUP_FN(xyzz_is_infinity)(const GPU_XYZZ *a)
{
    return GPU_COORD_FN(is_zero)(&a->zz);
}

/* acc = the point (x, y), which is not infinity */
GPU_FN void GPU_GROUP_FN(xyzz_set)(GPU_XYZZ *acc, const GPU_COORD *x, const GPU_COORD *y)
{
    acc->x = *x;
    acc->y = *y;
    GPU_COORD_FN(set_one)(&acc->zz);
    GPU_COORD_FN(set_one)(&acc->zzz);
}

/*
 * acc = the sum, from P, R and the first operand's x, y in acc; acc's zz and zzz are the products
 * of both operands'. Where P = R = 0, acc is to be the operand itself, and is doubled.
 */
GPU_FN void GPU_GROUP_FN(xyzz_add_core)(GPU_XYZZ *acc, GPU_COORD *p, GPU_COORD *r)
{
    GPU_COORD square, cube, t;
    const int doubles = GPU_COORD_FN(is_zero)(p) & GPU_COORD_FN(is_zero)(r);
    int again = doubles, once_more;
    if (doubles)
        *p = acc->x;
    GPU_ONCE
    do {
        GPU_COORD_FN(square)(&square, p);
        once_more = again;
        if (again) {
            GPU_COORD_FN(double)(r, &square);
            GPU_COORD_FN(add)(r, r, &square);
            GPU_COORD_FN(double)(p, &acc->y);
        }
        again = 0;
        GPU_OPAQUE(again); /* a loop that compilers see through has its body twice */
        GPU_OPAQUE(once_more);
    } while (once_more);
    GPU_COORD_FN(mul)(&cube, p, &square);
    GPU_COORD_FN(mul)(&acc->zz, &acc->zz, &square);
    GPU_COORD_FN(mul)(&square, &acc->x, &square);
    GPU_COORD_FN(mul)(&acc->zzz, &acc->zzz, &cube);
    GPU_COORD_FN(square)(&acc->x, r);
    if (!doubles)
        GPU_COORD_FN(sub)(&acc->x, &acc->x, &cube);
    GPU_COORD_FN(double)(&t, &square);
    GPU_COORD_FN(sub)(&acc->x, &acc->x, &t);
    GPU_COORD_FN(sub)(&t, &square, &acc->x);
    GPU_COORD_FN(mul_sub)(&acc->y, &t, r, &acc->y, &cube);
}

GPU_FN void GPU_GROUP_FN(xyzz_add_affine)(GPU_XYZZ *acc, const GPU_AFFINE *point, uint32_t negate)
{
    GPU_COORD p, r, y;
    if (GPU_GROUP_FN(affine_is_infinity)(point))
        return;
    GPU_COORD_FN(neg)(&y, &point->y);
    y = negate ? y : point->y;
    if (GPU_GROUP_FN(xyzz_is_infinity)(acc)) {
        GPU_GROUP_FN(xyzz_set)(acc, &point->x, &y);
        return;
    }
    GPU_COORD_FN(mul)(&p, &point->x, &acc->zz);
    GPU_COORD_FN(mul)(&r, &y, &acc->zzz);
    GPU_COORD_FN(sub)(&p, &p, &acc->x);
    GPU_COORD_FN(sub)(&r, &r, &acc->y);
    GPU_GROUP_FN(xyzz_add_core)(acc, &p, &r);
}

/* Both finite. The operand that is doubled is put over one zz and zzz alone, before the core. */
GPU_FN void GPU_GROUP_FN(xyzz_add_finite)(GPU_XYZZ *acc, const GPU_XYZZ *b)
{
    GPU_COORD p, r, u, s;
    GPU_COORD_FN(mul)(&u, &acc->x, &b->zz);
    GPU_COORD_FN(mul)(&s, &acc->y, &b->zzz);
    GPU_COORD_FN(mul)(&p, &b->x, &acc->zz);
    GPU_COORD_FN(mul)(&r, &b->y, &acc->zzz);
    GPU_COORD_FN(sub)(&p, &p, &u);
    GPU_COORD_FN(sub)(&r, &r, &s);
    if (!(GPU_COORD_FN(is_zero)(&p) & GPU_COORD_FN(is_zero)(&r))) {
        acc->x = u;
        acc->y = s;
        GPU_COORD_FN(mul)(&acc->zz, &acc->zz, &b->zz);
        GPU_COORD_FN(mul)(&acc->zzz, &acc->zzz, &b->zzz);
    }
    GPU_GROUP_FN(xyzz_add_core)(acc, &p, &r);
}

GPU_FN void GPU_GROUP_FN(xyzz_add)(GPU_XYZZ *acc, const GPU_XYZZ *b)
{
    if (GPU_GROUP_FN(xyzz_is_infinity)(b))
        return;
    if (GPU_GROUP_FN(xyzz_is_infinity)(acc))
        *acc = *b;
    else
        GPU_GROUP_FN(xyzz_add_finite)(acc, b);
}

/* Infinity stays infinity, for ZZ is a multiple of zz. Neither curve has a point with y = 0. */
GPU_FN void GPU_GROUP_FN(xyzz_double)(GPU_XYZZ *acc)
{
    GPU_COORD p, r;
    GPU_COORD_FN(set_zero)(&p);
    GPU_COORD_FN(set_zero)(&r);
    GPU_GROUP_FN(xyzz_add_core)(acc, &p, &r);
}

#undef GPU_GROUP
#undef GPU_COORDINATE
