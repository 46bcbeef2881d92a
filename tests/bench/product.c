/*
 * Products by the scalar forms; see products.h.
 */
#include "tests/bench/products.h"

#include "kernels/field/fields.h"

static unsigned long fr_products(unsigned long rounds)
{
    struct fr x[PRODUCTS_A_ROUND], y = fr_r_squared;
    for (int i = 0; i < PRODUCTS_A_ROUND; i++)
        fr_add(&x[i], &fr_r_squared, i ? &x[i - 1] : &fr_one);
    for (unsigned long round = 0; round < rounds; round++)
        for (int i = 0; i < PRODUCTS_A_ROUND; i++)
            fr_mul(&x[i], &x[i], &y);
    for (int i = 1; i < PRODUCTS_A_ROUND; i++)
        fr_add(&x[0], &x[0], &x[i]);
    return x[0].word[0];
}

static unsigned long fq_products(unsigned long rounds)
{
    struct fq x[PRODUCTS_A_ROUND], y = fq_r_squared;
    for (int i = 0; i < PRODUCTS_A_ROUND; i++)
        fq_add(&x[i], &fq_r_squared, i ? &x[i - 1] : &fq_one);
    for (unsigned long round = 0; round < rounds; round++)
        for (int i = 0; i < PRODUCTS_A_ROUND; i++)
            fq_mul(&x[i], &x[i], &y);
    for (int i = 1; i < PRODUCTS_A_ROUND; i++)
        fq_add(&x[0], &x[0], &x[i]);
    return x[0].word[0];
}

unsigned long CURVE_FN(bench_products)(int in_fq, unsigned long rounds)
{
    return in_fq ? fq_products(rounds) : fr_products(rounds);
}
