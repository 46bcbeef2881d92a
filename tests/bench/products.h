/*
 * Field products alone, for every curve and form: product.c and product_ifma.c, each compiled as
 * the kernels are. Called by operations.c. Stateless.
 */
#ifndef PAWL_TESTS_BENCH_PRODUCTS_H
#define PAWL_TESTS_BENCH_PRODUCTS_H

#include "kernels/cpu_form.h"
#include "kernels/field/curve_select.h"

/* Products in the first-level cache, each independent of its neighbours. */
#define PRODUCTS_A_ROUND 64

/* rounds * PRODUCTS_A_ROUND products in Fr (0) or Fq (1); what they are depends on every one. */
unsigned long CURVE_FN(bench_products)(int in_fq, unsigned long rounds);

#define MADDS_A_ROUND 64
/* rounds * MADDS_A_ROUND eight-lane 52-bit multiply-adds, in enough chains to fill the ports. */
unsigned long bench_madds(unsigned long rounds);

#endif
