/*
 * One word's share of a checksum (checksum_cuda.h), the same text for nvcc and for C, and what the
 * kernel takes. No state.
 */
#ifndef PAWL_KERNELS_CHECKSUM_CHECKSUM_MIX_CUDA_H
#define PAWL_KERNELS_CHECKSUM_CHECKSUM_MIX_CUDA_H

#include <assert.h>
#include <stdint.h>

#include "kernels/gpu_queue.h"

#ifdef __CUDACC__
#define CHECKSUM_FN static __device__ __forceinline__
#else
#define CHECKSUM_FN static inline
#endif

enum { CHECKSUM_THREADS = 256 };

struct checksum_arguments {
    gpu_pointer out, data;
    uint64_t bytes, first_word;
};
static_assert(sizeof(struct checksum_arguments) == 32, "as the kernel sees it");

/* The place multiplied by an odd constant, then the finisher of SplitMix64 (Steele, Lea, Flood
 * 2014), which is a bijection: a changed word always changes the sum. */
CHECKSUM_FN uint64_t checksum_mix(uint64_t word, uint64_t place)
{
    uint64_t z = word ^ (place + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
