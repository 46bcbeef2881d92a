/*
 * Products of pairings, and e(alpha, beta) as a verification key shows it.
 *
 * Called by verify.c and through a curve's table by whoever writes a verification key. No state, so
 * a SIGKILL leaves nothing.
 */
#include "kernels/pairing/pairing.h"

#include "kernels/pairing/miller.h"

#include <assert.h>
#include <string.h>

void CURVE_FN(pairing_miller)(struct fq12 *out, const struct g1_affine *p,
                              const struct g2_affine *q, unsigned count)
{
    struct line lines[PAIRING_COUNT_MAX][MILLER_LINES_MAX];
    struct miller_pair pairs[PAIRING_COUNT_MAX];
    unsigned finite = 0;
    assert(count <= PAIRING_COUNT_MAX);
    for (unsigned i = 0; i < count; i++) {
        if (g1_affine_is_infinity(&p[i]) || g2_affine_is_infinity(&q[i]))
            continue;
        CURVE_FN(miller_lines)(lines[finite], &q[i]);
        pairs[finite] = (struct miller_pair){.p = p[i], .lines = lines[finite]};
        finite++;
    }
    CURVE_FN(miller_loop)(out, pairs, finite);
}

void CURVE_FN(pairing_product)(struct fq12 *out, const struct g1_affine *p,
                               const struct g2_affine *q, unsigned count)
{
    CURVE_FN(pairing_miller)(out, p, q, count);
    CURVE_FN(final_exponentiation)(out, out);
}

void CURVE_FN(pairing_alphabeta)(uint64_t *out, const struct g1 *alpha1, const struct g2 *beta2)
{
    struct g1_affine p;
    struct g2_affine q;
    struct fq12 e;
    g1_point_load(&p, alpha1);
    g2_point_load(&q, beta2);
    CURVE_FN(pairing_product)(&e, &p, &q, 1);
    for (int k = 0; k < 12; k++) {
        const struct fq2 *c = &e.c[k / 6].c[k / 2 % 3];
        struct fq plain;
        fq_from_montgomery(&plain, k % 2 ? &c->c1 : &c->c0);
        memcpy(out + k * FQ_LIMBS, &plain, sizeof(plain));
    }
}
