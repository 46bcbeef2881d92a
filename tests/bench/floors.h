/*
 * What an operation needs at least, counted in field products, and those in multiply-adds: the
 * floor that operations.c holds times against. Pure arithmetic.
 */
#ifndef PAWL_TESTS_BENCH_FLOORS_H
#define PAWL_TESTS_BENCH_FLOORS_H

#include <stddef.h>

struct curve;

/* Eight-lane multiply-adds of one product of eight elements: limbs * (4 limbs + 1), for 5 limbs of
 * 52 bits (fields of four words) or 8. */
double floor_madds_of_product(unsigned words);

/*
 * Batched affine additions of a sum of n scalars times points: W windows of c signed bits, n
 * additions each and two for each of 2^(c - 1) buckets, with the c that makes that least. G1's
 * additions are 6 products each (5 and a square), G2's 17.
 */
double floor_additions_of_msm(size_t n);
/* Products of a quotient over 2^log2: three arrays there and back, n / 2 products a level with two
 * levels free of them, and 7 n for scaling, a * b and the forms. */
double floor_products_of_quotient(unsigned log2);

/* Products of a proof's assembly and check with a prepared key, by count (kernels/README.md). */
#define FLOOR_PRODUCTS_OF_ASSEMBLY 8200.0
#define FLOOR_PRODUCTS_OF_CHECK 27100.0

#endif
