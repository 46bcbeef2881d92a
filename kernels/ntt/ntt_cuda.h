/*
 * The quotient of Groth16's H on a GPU: the launches that make the table of a domain and that take
 * rows a and b to h. The mathematics is kernels/ntt/ntt.h's, and so are the results, bit for bit;
 * kernels/README.md says how the passes are cut. Called by whoever owns the queue, which fixes the
 * curve. No state; a SIGKILL leaves what it leaves of the device's memory.
 *
 * 1 <= log2_domain <= 27, buffers aligned to 32 bytes. 0, or -errno of the queue, or -EINVAL where
 * the queue has less than 192 bytes of shared memory or the domain is none of these.
 */
#ifndef PAWL_KERNELS_NTT_NTT_CUDA_H
#define PAWL_KERNELS_NTT_NTT_CUDA_H

#include <stddef.h>

#include "kernels/gpu_queue.h"

size_t ntt_cuda_table_bytes(unsigned log2_domain);
/* T[j] = v^brv(j), as struct curve's portable table, and after them 1 / n (Montgomery and plain).
 * Made on the device. */
int ntt_cuda_table_make(struct gpu_queue *queue, gpu_pointer table, unsigned log2_domain);
/*
 * a, b: rows on the domain (Montgomery); c: scratch; 32 bytes for each of 2^log2_domain elements in
 * each. h (plain, canonical) lands in a; b and c are overwritten.
 */
int ntt_cuda_quotient(struct gpu_queue *queue, gpu_pointer a, gpu_pointer b, gpu_pointer c,
                      unsigned log2_domain, gpu_pointer table);

#endif
