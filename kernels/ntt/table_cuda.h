/*
 * Makes the table of a domain on the device (ntt_cuda.h): part of ntt.cu. Once a key.
 *
 * T[j] = v^brv_k(j) for j < n = 2^k, so T[2^m] = w_(2^(m+2)), and T[i + j] = T[i] T[j] where i and
 * j have no bit in common: setting bit m of the index multiplies by T[2^m]. Nothing is read that
 * the same launch writes.
 */
#ifndef PAWL_KERNELS_NTT_TABLE_CUDA_H
#define PAWL_KERNELS_NTT_TABLE_CUDA_H

/* Of order 2^log2_order: all are powers of the same one, so each is the next one's square. */
GPU_FN void root_of_order(struct gpu_fr *out, uint32_t log2_order)
{
    const struct gpu_fr root = {GPU_FR_ROOT};
    *out = root;
    for (uint32_t i = GPU_FR_TWO_ADICITY; i > log2_order; i--)
        gpu_fr_square(out, out);
}

GPU_FN void inverse_size_store(gpu_pointer table, uint32_t log2_domain)
{
    const uint64_t n = (uint64_t)1 << log2_domain;
    const struct gpu_fr half = {GPU_FR_TWO_INVERSE};
    struct gpu_fr inverse;
    gpu_fr_set_one(&inverse);
    for (uint32_t i = 0; i < log2_domain; i++)
        gpu_fr_mul(&inverse, &inverse, &half);
    gpu_fr_store(element_of(table, n + NTT_INVERSE_SIZE), &inverse);
    gpu_fr_from_montgomery(&inverse, &inverse);
    gpu_fr_store(element_of(table, n + NTT_INVERSE_SIZE_PLAIN), &inverse);
}

/* T[0], T[2^m], and what follows the roots. One thread. */
extern "C" __global__ void __launch_bounds__(32)
    ntt_table_roots(const __grid_constant__ struct ntt_table_arguments arguments)
{
    struct gpu_fr root;
    root_of_order(&root, arguments.log2_domain + 1);
    for (uint32_t m = arguments.log2_domain; m-- > 0;) {
        gpu_fr_store(element_of(arguments.table, (uint64_t)1 << m), &root);
        gpu_fr_square(&root, &root);
    }
    gpu_fr_set_one(&root);
    gpu_fr_store(element_of(arguments.table, 0), &root);
    inverse_size_store(arguments.table, arguments.log2_domain);
}

/* T[index], of the roots that its bits stand for. */
GPU_FN void edge_make(gpu_pointer table, uint32_t index)
{
    struct gpu_fr product, root;
    if ((index & (index - 1)) == 0)
        return;
    gpu_fr_set_one(&product);
    for (uint32_t left = index; left; left &= left - 1) {
        gpu_fr_load(&root, element_of(table, left & -left));
        gpu_fr_mul(&product, &product, &root);
    }
    gpu_fr_store(element_of(table, index), &product);
}

/* Indices with low bits only, and those with high bits only. */
extern "C" __global__ void __launch_bounds__(256)
    ntt_table_edges(const __grid_constant__ struct ntt_table_arguments arguments)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, low = 1u << arguments.log2_low;
    const uint32_t high = 1u << (arguments.log2_domain - arguments.log2_low);
    if (i < low)
        edge_make(arguments.table, i);
    else if (i - low < high)
        edge_make(arguments.table, i - low << arguments.log2_low);
}

/* The others. */
extern "C" __global__ void __launch_bounds__(256)
    ntt_table_fill(const __grid_constant__ struct ntt_table_arguments arguments)
{
    const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t low = index & ((1u << arguments.log2_low) - 1), high = index - low;
    struct gpu_fr a, b;
    if (!low || !high || index >> arguments.log2_domain)
        return;
    gpu_fr_load(&a, element_of(arguments.table, low));
    gpu_fr_load(&b, element_of(arguments.table, high));
    gpu_fr_mul(&a, &a, &b);
    gpu_fr_store(element_of(arguments.table, index), &a);
}

#endif
