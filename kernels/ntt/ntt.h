/*
 * Number-theoretic transforms over Fr: the table of roots of a domain, and the quotient that
 * Groth16's H needs. Called through struct curve (kernels/curves.h), whose contract this is. No
 * memory, no threads of its own; a SIGKILL leaves nothing but the caller's buffers.
 *
 * The mathematics. Let n = 2^k, w a primitive n-th root of one and v = w_2n its square root. A
 * polynomial of degree below n is evaluated by splitting x^2m - z^2 = (x^m - z)(x^m + z) from x^n -
 * 1 downwards: one level maps halves (u, v) of a block to (u + z v, u - z v), and z is the same for
 * the whole block: block j of any level has z = w^brv(j), brv reversing the bits of j (Cooley and
 * Tukey, in the order of Gentleman and Sande). Input is in natural order, output in bit-reversed;
 * the way back is the same levels from the last to the first. So no pass only permutes.
 *
 * The table is T[j] = v^brv_k(j), j < n. Its beginnings serve all levels of all smaller domains,
 * since T[j] = w^brv_(k-1)(j) for j < n/2; inverses are read from the same table, since -T[j]^-1 =
 * T[3 * 2^m - 1 - j] for 2^m <= j < 2^(m+1); and the whole of it is the powers of v by which
 * coefficients in bit-reversed order are scaled for the odd points of the double domain.
 */
#ifndef PAWL_KERNELS_NTT_NTT_H
#define PAWL_KERNELS_NTT_NTT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/field/curve_select.h"

struct parallel;

size_t CURVE_FN(ntt_table_bytes)(unsigned log2_domain);
void CURVE_FN(ntt_table_make)(void *out, unsigned log2_domain, struct parallel *parallel);
int CURVE_FN(quotient)(uint64_t *a, uint64_t *b, uint64_t *c, unsigned log2_domain,
                       const void *table, struct parallel *parallel);

#endif
