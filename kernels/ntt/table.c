/*
 * Makes the table of a domain: T[j] = v^brv_k(j), v the primitive 2n-th root of one (see ntt.h).
 * Once a key, by whoever holds the key; plain memory, so a SIGKILL leaves nothing.
 */
#include "kernels/ntt/ntt.h"
#include "kernels/ntt/domain.h"
#include "kernels/ranges.h"

struct doubling {
    struct fr *table;
    struct fr root;
    size_t half;
};

size_t CURVE_FN(ntt_table_bytes)(unsigned log2_domain)
{
    return sizeof(struct fr) << log2_domain;
}

static void table_double_piece(void *arg, size_t begin, size_t end)
{
    const struct doubling *step = arg;
    for (size_t i = begin; i < end; i++)
        fr_mul(&step->table[step->half + i], &step->table[i], &step->root);
}

/* T[2^m + i] = T[i] * w_(2^(m+2)): setting bit m of the index adds n / 2^(m+1) to the exponent of
 * v. */
void CURVE_FN(ntt_table_make)(void *out, unsigned log2_domain, struct parallel *parallel)
{
    struct doubling step = {.table = out, .half = 1};
    step.table[0] = fr_one;
    for (unsigned m = 0; m < log2_domain; m++, step.half *= 2) {
        domain_root(&step.root, m + 2);
        ranges_run(parallel, step.half, 4096, table_double_piece, &step);
    }
}
