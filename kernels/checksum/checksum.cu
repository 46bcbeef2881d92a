/*
 * A checksum of the device's memory (checksum_cuda.h). Launched by checksum_cuda.c; the same for
 * both curves. State is the device's memory alone.
 */
#include "kernels/checksum/checksum_mix_cuda.h"

enum { WORD = 8, WARP = 32 };

static __device__ uint64_t last_word(const unsigned char *at, uint32_t bytes)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < bytes; i++)
        word |= (uint64_t)__ldg(at + i) << 8 * i;
    return word;
}

extern "C" __global__ void __launch_bounds__(CHECKSUM_THREADS)
    checksum_sum(const __grid_constant__ struct checksum_arguments arguments)
{
    const uint64_t words = arguments.bytes / WORD, stride = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long *data = (const unsigned long long *)arguments.data;
    unsigned long long sum = 0;
#pragma unroll 1
    for (uint64_t i = first; i < words; i += stride)
        sum += checksum_mix(__ldg(data + i), arguments.first_word + i);
    if (first == 0 && arguments.bytes % WORD)
        sum +=
            checksum_mix(last_word((const unsigned char *)(data + words), arguments.bytes % WORD),
                         arguments.first_word + words);
    for (int offset = WARP / 2; offset; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % WARP == 0)
        atomicAdd((unsigned long long *)arguments.out, sum);
}
