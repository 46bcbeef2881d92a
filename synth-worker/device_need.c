/*
 * The CPU device's need; see the header. Called by image_build.c. Keeps nothing.
 */
#include "synth-worker/device_need.h"

#include <unistd.h>

#include "kernels/curves.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint32_t device_need_mib(const struct curve *curve, uint64_t wires, uint64_t first_private,
                         unsigned log2_domain)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = cpus > 0 ? (unsigned)cpus : 1;
    uint64_t vector = FR_WORDS * sizeof(uint64_t) << log2_domain;
    uint64_t sums = curve->witness_sums_scratch_bytes(wires, first_private, threads);

    sums = larger(sums, curve->msm_scratch_bytes(GROUP_G1, (size_t)1 << log2_domain, threads));
    uint64_t bytes = vector + larger(2 * vector, sums) + curve->ntt_table_bytes(log2_domain);
    return (uint32_t)((bytes + MIB - 1) / MIB);
}
