/*
 * A checksum of memory that a GPU and the host compute alike: whether a key on the device is the
 * one in the image. Against accidents (a transfer gone wrong, another key, a flipped bit), not
 * against malice: any one changed word changes it, anything else is missed with probability 2^-64.
 * No state.
 *
 * The sum, modulo 2^64, over all 8-byte little-endian words of a mix of the word and its place; a
 * last word of less than 8 bytes is filled with zeros. So it can be made in parts, in any order:
 * `first_word` is the place of a part's first word, and every part but the last is of whole words.
 */
#ifndef PAWL_KERNELS_CHECKSUM_CHECKSUM_CUDA_H
#define PAWL_KERNELS_CHECKSUM_CHECKSUM_CUDA_H

#include <stddef.h>

#include "kernels/gpu_queue.h"

/* Adds the sum of `bytes` at `data` (aligned to 8) to the 8 bytes at `out` (aligned to 8), which
 * the caller has cleared once. 0, or -errno of the queue. */
int checksum_cuda_sum(struct gpu_queue *queue, gpu_pointer out, gpu_pointer data, size_t bytes,
                      uint64_t first_word);
/* The same sum of the host's memory, which needs no alignment. */
uint64_t checksum_host(const void *data, size_t bytes, uint64_t first_word);

#endif
