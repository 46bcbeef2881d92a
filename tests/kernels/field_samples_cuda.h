/*
 * Elements that tests of products take: fr_sample and fq_sample (out, seed, i) make the i-th edge
 * for i < SAMPLE_EDGES and else a canonical element whose words are random or extreme. Include
 * after kernels/curve/group.h. No state but the caller's seed.
 */
#ifndef PAWL_TESTS_KERNELS_FIELD_SAMPLES_CUDA_H
#define PAWL_TESTS_KERNELS_FIELD_SAMPLES_CUDA_H

#include <string.h>

#include "tests/support/scalars.h"

#define SAMPLE_EDGES 24

/* 2^bits - 1 */
static void sample_ones(uint64_t *words, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        words[i / 64] |= 1ULL << i % 64;
}

/* words whose halves are all zeros, all ones or random: what carries go far through */
static void sample_words(uint64_t *words, int count, uint64_t *seed)
{
    for (int i = 0; i < count; i++) {
        const uint64_t kind = random_next(seed), value = random_next(seed);
        const uint64_t low = kind % 4 == 0 ? 0 : kind % 4 == 1 ? UINT32_MAX : (uint32_t)value;
        const uint64_t high = kind / 4 % 4 == 0   ? 0
                              : kind / 4 % 4 == 1 ? UINT32_MAX
                                                  : (uint32_t)(value >> 32);
        words[i] = high << 32 | low;
    }
}

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#include "tests/kernels/field_samples_template_cuda.h"
#define FIELD fq
#define FIELD_LIMBS FQ_LIMBS
#include "tests/kernels/field_samples_template_cuda.h"

#endif
