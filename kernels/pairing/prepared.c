/*
 * Makes a prepared key. Called through a curve's table by whoever proves with one key again and
 * again: it costs as much as one or two proofs' assembly and check, and makes each later one
 * cheaper. Pure; a SIGKILL leaves nothing.
 */
#include "kernels/pairing/prepared.h"

#include <string.h>

size_t CURVE_FN(prepared_key_bytes)(uint32_t public_count)
{
    size_t table = MULTIPLES_TABLE_POINTS * sizeof(struct g1_affine);
    return sizeof(struct prepared_key) + prepared_tables(public_count) * table;
}

/* Divides lines by their y coefficients, with one inversion (Montgomery's trick). */
static void lines_divide(struct line *line, unsigned count)
{
    struct fq2 before[MILLER_LINES_MAX], inverse, own;
    before[0] = line[0].y;
    for (unsigned i = 1; i < count; i++)
        fq2_mul(&before[i], &before[i - 1], &line[i].y);
    fq2_inverse(&inverse, &before[count - 1]);
    for (unsigned i = count; i-- > 0;) {
        own = inverse;
        if (i)
            fq2_mul(&own, &inverse, &before[i - 1]);
        fq2_mul(&inverse, &inverse, &line[i].y);
        fq2_mul(&line[i].x, &line[i].x, &own);
        fq2_mul(&line[i].constant, &line[i].constant, &own);
        line[i].y = fq2_one;
    }
}

static void lines_prepare(struct prepared_lines *out, const struct g2 *point)
{
    struct g2_affine q;
    g2_point_load(&q, point);
    out->finite = !g2_affine_is_infinity(&q);
    if (out->finite)
        lines_divide(out->line, CURVE_FN(miller_lines)(out->line, &q));
}

void CURVE_FN(prepared_key_make)(void *out, const struct verification_key *key)
{
    struct prepared_key *prepared = out;
    struct g1_affine p;
    struct g2_affine q;
    memset(prepared, 0, sizeof(*prepared));
    prepared->key = *key;
    g1_point_load(&p, &key->alpha1);
    g2_point_load(&q, &key->beta2);
    CURVE_FN(pairing_miller)(&prepared->alphabeta, &p, &q, 1);
    lines_prepare(&prepared->gamma, &key->gamma2);
    lines_prepare(&prepared->delta, &key->delta2);
    g1_point_load(&p, &key->delta1);
    g1_multiples_make(prepared->delta1, &p);
    g2_point_load(&q, &key->delta2);
    g2_multiples_make(prepared->delta2, &q);
    for (uint32_t i = 0; i < prepared_tables(key->public_count); i++) {
        g1_affine_load(&p, (const unsigned char *)key->ic + (i + 1) * sizeof(p));
        g1_multiples_make(prepared->ic[i], &p);
    }
}
