/*
 * Transforms on a GPU (ntt_cuda.h; the mathematics is ntt.h's). Launched by the plans of
 * ntt_cuda.c, which says how domains are cut into passes. State is the device's memory alone.
 *
 * A block takes the same tile of a, b and c, so that c = a * b is made where the first pass loads
 * and a * b - c where the last one stores, and a root that is loaded serves three butterflies. In
 * shared memory an element lies in two planes of 16 bytes, so that neighbouring threads meet in no
 * bank. Tiles belong to one block alone: passes work in place.
 */
#include "kernels/field/field_cuda.h"
#include "kernels/ntt/ntt_kernels_cuda.h"

extern __shared__ uint4 shared_planes[];

/* A pass as a block sees it. Element e of a tile: row e >> log2_columns, column the bits below. */
struct pass {
    const struct ntt_pass_arguments *arguments;
    uint64_t first;       /* element of an array that the tile begins with */
    uint32_t block;       /* of the pass's first level, that the tile belongs to */
    uint32_t log2_stride; /* from a row to the next */
    uint32_t log2_tile;
};

GPU_FN struct pass pass_begin(const struct ntt_pass_arguments *arguments)
{
    struct pass pass;
    const uint32_t block_log2 = arguments->log2_domain - arguments->level;
    pass.arguments = arguments;
    pass.log2_stride = block_log2 - arguments->depth;
    pass.log2_tile = arguments->depth + arguments->log2_columns;
    const uint32_t log2_groups = pass.log2_stride - arguments->log2_columns;
    const uint32_t group = blockIdx.x & ((1u << log2_groups) - 1);
    pass.block = blockIdx.x >> log2_groups;
    pass.first =
        ((uint64_t)pass.block << block_log2) + ((uint64_t)group << arguments->log2_columns);
    return pass;
}

GPU_FN uint32_t pass_size(const struct pass *pass)
{
    return 1u << pass->log2_tile;
}

GPU_FN uint32_t pass_elements(const struct pass *pass)
{
    return NTT_ARRAYS << pass->log2_tile;
}

/* Where element e of the tile lies in an array. */
GPU_FN uint64_t pass_index(const struct pass *pass, uint32_t e)
{
    const uint32_t log2_columns = pass->arguments->log2_columns;
    return pass->first + ((uint64_t)(e >> log2_columns) << pass->log2_stride) +
           (e & ((1u << log2_columns) - 1));
}

GPU_FN char *element_of(gpu_pointer array, uint64_t index)
{
    return (char *)array + NTT_ELEMENT_BYTES * index;
}

/* ---- shared memory; elements are numbered through the three tiles ---- */

GPU_FN void tile_load(const struct pass *pass, struct gpu_fr *out, uint32_t e)
{
    const uint4 low = shared_planes[e], high = shared_planes[pass_elements(pass) + e];
    out->limb[0] = low.x, out->limb[1] = low.y, out->limb[2] = low.z, out->limb[3] = low.w;
    out->limb[4] = high.x, out->limb[5] = high.y, out->limb[6] = high.z, out->limb[7] = high.w;
}

GPU_FN void tile_store(const struct pass *pass, uint32_t e, const struct gpu_fr *a)
{
    shared_planes[e] = make_uint4(a->limb[0], a->limb[1], a->limb[2], a->limb[3]);
    shared_planes[pass_elements(pass) + e] =
        make_uint4(a->limb[4], a->limb[5], a->limb[6], a->limb[7]);
}

/* ---- loading and storing ---- */

/* a, b, and c made of them, as rows come. */
GPU_FN void tiles_load_rows(const struct pass *pass)
{
    const gpu_pointer *array = pass->arguments->array;
    for (uint32_t e = threadIdx.x; e < pass_size(pass); e += blockDim.x) {
        const uint64_t index = pass_index(pass, e);
        struct gpu_fr a, b, c;
        gpu_fr_load(&a, element_of(array[0], index));
        gpu_fr_load(&b, element_of(array[1], index));
        gpu_fr_mul(&c, &a, &b);
        tile_store(pass, e, &a);
        tile_store(pass, pass_size(pass) + e, &b);
        tile_store(pass, 2 * pass_size(pass) + e, &c);
    }
    __syncthreads();
}

GPU_FN void tiles_load_values(const struct pass *pass)
{
    for (uint32_t i = threadIdx.x; i < pass_elements(pass); i += blockDim.x) {
        const gpu_pointer array = pass->arguments->array[i >> pass->log2_tile];
        struct gpu_fr x;
        gpu_fr_load(&x, element_of(array, pass_index(pass, i & (pass_size(pass) - 1))));
        tile_store(pass, i, &x);
    }
    __syncthreads();
}

GPU_FN void tiles_store_values(const struct pass *pass)
{
    for (uint32_t i = threadIdx.x; i < pass_elements(pass); i += blockDim.x) {
        const gpu_pointer array = pass->arguments->array[i >> pass->log2_tile];
        struct gpu_fr x;
        tile_load(pass, &x, i);
        gpu_fr_store(element_of(array, pass_index(pass, i & (pass_size(pass) - 1))), &x);
    }
}

/* All three are n times too large: h = (a * b / n - c) / n, and the last factor, plain, also ends
 * the Montgomery form. */
GPU_FN void tiles_store_quotient(const struct pass *pass)
{
    const uint64_t n = (uint64_t)1 << pass->arguments->log2_domain;
    struct gpu_fr inverse_n, inverse_n_plain;
    gpu_fr_load(&inverse_n, element_of(pass->arguments->table, n + NTT_INVERSE_SIZE));
    gpu_fr_load(&inverse_n_plain, element_of(pass->arguments->table, n + NTT_INVERSE_SIZE_PLAIN));
    for (uint32_t e = threadIdx.x; e < pass_size(pass); e += blockDim.x) {
        struct gpu_fr h, x;
        tile_load(pass, &h, e);
        tile_load(pass, &x, pass_size(pass) + e);
        gpu_fr_mul(&h, &h, &x);
        gpu_fr_mul(&h, &h, &inverse_n);
        tile_load(pass, &x, 2 * pass_size(pass) + e);
        gpu_fr_sub(&h, &h, &x);
        gpu_fr_mul(&h, &h, &inverse_n_plain);
        gpu_fr_store(element_of(pass->arguments->array[0], pass_index(pass, e)), &h);
    }
}

/* ---- levels ---- */

/* Which two elements butterfly number i of a level is of, and which block of the level, whose root
 * it takes. */
struct butterfly {
    uint32_t u, v, block;
};

GPU_FN struct butterfly butterfly_at(const struct pass *pass, uint32_t level, uint32_t i)
{
    const uint32_t log2_pairs = pass->log2_tile - 1, log2_half = log2_pairs - level;
    const uint32_t in_tile = i & ((1u << log2_pairs) - 1);
    struct butterfly out;
    out.u = (i >> log2_half << (log2_half + 1)) + (i & ((1u << log2_half) - 1));
    out.v = out.u + (1u << log2_half);
    out.block = (pass->block << level) + (in_tile >> log2_half);
    return out;
}

GPU_FN void root_load(const struct pass *pass, struct gpu_fr *out, uint32_t index)
{
    gpu_fr_load(out, element_of(pass->arguments->table, index));
}

/* The table has -T[j]^-1 at 3 * 2^m - 1 - j for 2^m <= j < 2^(m+1). */
GPU_FN uint32_t index_of_minus_inverse(uint32_t j)
{
    return 3 * (0x80000000u >> __clz(j)) - 1 - j;
}

/* (u, v) -> (u + z v, u - z v) with z = -minus_z; block 0 has z = 1 and no product. */
GPU_FN void forward_run(const struct pass *pass, const struct butterfly *at)
{
    struct gpu_fr u, x, difference;
    tile_load(pass, &u, at->u);
    tile_load(pass, &x, at->v);
    if (at->block == 0) {
        gpu_fr_neg(&x, &x);
    } else {
        struct gpu_fr minus_z;
        root_load(pass, &minus_z, index_of_minus_inverse(at->block));
        gpu_fr_mul(&x, &x, &minus_z);
    }
    gpu_fr_sub(&difference, &u, &x);
    gpu_fr_add(&u, &u, &x);
    tile_store(pass, at->u, &difference);
    tile_store(pass, at->v, &u);
}

/* (u, v) -> (u + v, (u - v) / z) */
GPU_FN void backward_run(const struct pass *pass, const struct butterfly *at)
{
    struct gpu_fr u, v, sum;
    tile_load(pass, &u, at->u);
    tile_load(pass, &v, at->v);
    gpu_fr_add(&sum, &u, &v);
    gpu_fr_sub(&v, &u, &v);
    if (at->block != 0) {
        struct gpu_fr inverse_z;
        root_load(pass, &inverse_z, at->block);
        gpu_fr_mul(&v, &v, &inverse_z);
    }
    tile_store(pass, at->u, &sum);
    tile_store(pass, at->v, &v);
}

/* The levels of the inverse transform: first to last. */
GPU_FN void levels_run_forward(const struct pass *pass)
{
    for (uint32_t level = 0; level < pass->arguments->depth; level++) {
        for (uint32_t i = threadIdx.x; i < pass_elements(pass) / 2; i += blockDim.x) {
            const struct butterfly at = butterfly_at(pass, level, i);
            forward_run(pass, &at);
        }
        __syncthreads();
    }
}

/* The same levels back: last to first. */
GPU_FN void levels_run_backward(const struct pass *pass)
{
    for (uint32_t level = pass->arguments->depth; level-- > 0;) {
        for (uint32_t i = threadIdx.x; i < pass_elements(pass) / 2; i += blockDim.x) {
            const struct butterfly at = butterfly_at(pass, level, i);
            backward_run(pass, &at);
        }
        __syncthreads();
    }
}

/* Coefficients, bit-reversed, times powers of v: from the domain to the odd points of the double
 * one. Called where neighbours in a tile are neighbours in the array. */
GPU_FN void tiles_scale(const struct pass *pass)
{
    for (uint32_t i = threadIdx.x; i < pass_elements(pass); i += blockDim.x) {
        struct gpu_fr x, power;
        tile_load(pass, &x, i);
        gpu_fr_load(&power,
                    element_of(pass->arguments->table, pass->first + (i & (pass_size(pass) - 1))));
        gpu_fr_mul(&x, &x, &power);
        tile_store(pass, i, &x);
    }
    __syncthreads();
}

/* ---- the passes ---- */

extern "C" __global__ void __launch_bounds__(NTT_THREADS_MOST)
    ntt_forward(const __grid_constant__ struct ntt_pass_arguments arguments)
{
    const struct pass pass = pass_begin(&arguments);
    if (arguments.level == 0)
        tiles_load_rows(&pass);
    else
        tiles_load_values(&pass);
    levels_run_forward(&pass);
    tiles_store_values(&pass);
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS_MOST)
    ntt_middle(const __grid_constant__ struct ntt_pass_arguments arguments)
{
    const struct pass pass = pass_begin(&arguments);
    if (arguments.level == 0)
        tiles_load_rows(&pass);
    else
        tiles_load_values(&pass);
    levels_run_forward(&pass);
    tiles_scale(&pass);
    levels_run_backward(&pass);
    if (arguments.level == 0)
        tiles_store_quotient(&pass);
    else
        tiles_store_values(&pass);
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS_MOST)
    ntt_backward(const __grid_constant__ struct ntt_pass_arguments arguments)
{
    const struct pass pass = pass_begin(&arguments);
    tiles_load_values(&pass);
    levels_run_backward(&pass);
    if (arguments.level == 0)
        tiles_store_quotient(&pass);
    else
        tiles_store_values(&pass);
}

#include "kernels/ntt/table_cuda.h"
