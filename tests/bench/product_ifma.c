/*
 * Products in eight lanes, and the rate of the multiply-adds that they are made of; see products.h.
 */
#include "tests/bench/products.h"

#include "kernels/field/vector_ifma.h"

#define VECTORS (PRODUCTS_A_ROUND / 8)

static unsigned long fr_products(unsigned long rounds)
{
    struct fr_x8 x[VECTORS], y;
    fr_x8_broadcast(&y, &fr_r_squared);
    fr_x8_reduce(&y, &y);
    for (int i = 0; i < VECTORS; i++)
        x[i] = y;
    for (unsigned long round = 0; round < rounds; round++)
        for (int i = 0; i < VECTORS; i++)
            fr_x8_mul(&x[i], &x[i], &y);
    for (int i = 1; i < VECTORS; i++)
        fr_x8_add(&x[0], &x[0], &x[i]);
    return (unsigned long)_mm512_reduce_add_epi64(x[0].limb[0]);
}

static unsigned long fq_products(unsigned long rounds)
{
    struct fq_x8 x[VECTORS], y;
    fq_x8_broadcast(&y, &fq_r_squared);
    fq_x8_reduce(&y, &y);
    for (int i = 0; i < VECTORS; i++)
        x[i] = y;
    for (unsigned long round = 0; round < rounds; round++)
        for (int i = 0; i < VECTORS; i++)
            fq_x8_mul(&x[i], &x[i], &y);
    for (int i = 1; i < VECTORS; i++)
        fq_x8_add(&x[0], &x[0], &x[i]);
    return (unsigned long)_mm512_reduce_add_epi64(x[0].limb[0]);
}

unsigned long CURVE_FN(bench_products)(int in_fq, unsigned long rounds)
{
    return in_fq ? fq_products(rounds) : fr_products(rounds);
}

#if CURVE_NUMBER == 1

#define CHAINS 16

unsigned long bench_madds(unsigned long rounds)
{
    __m512i chain[CHAINS], a = _mm512_set1_epi64(0x000f23456789abcdLL);
    for (int i = 0; i < CHAINS; i++)
        chain[i] = _mm512_set1_epi64(i);
    for (unsigned long round = 0; round < rounds; round++) {
        VECTOR_UNROLL
        for (int k = 0; k < MADDS_A_ROUND / CHAINS; k++) {
            VECTOR_UNROLL
            for (int i = 0; i < CHAINS; i++)
                chain[i] = vector_low(chain[i], a, a);
        }
        __asm__ volatile("" : "+v"(a)); /* else the loop is one product */
    }
    for (int i = 1; i < CHAINS; i++)
        chain[0] = _mm512_add_epi64(chain[0], chain[i]);
    return (unsigned long)_mm512_reduce_add_epi64(chain[0]);
}

#endif
