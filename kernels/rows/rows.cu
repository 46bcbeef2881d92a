/*
 * Row sums on a GPU (rows_cuda.h; the mathematics is rows.h's). Launched by rows_cuda.c. State is
 * the device's memory alone.
 *
 * A block has ROWS_OF_BLOCK rows and cuts their entries, whatever rows they belong to, into equal
 * slices, one for each thread: rows of one entry and rows of 10^5 then cost what their entries
 * cost. A row that goes on in the next slice is put together by the thread that ends it: the sum of
 * its beginning, and what each of the following slices found of it ("head").
 *
 * A row so far is a sum of products, plain, and one of the values that meet a witness of 1,
 * Montgomery: so bits, and values 1 and -1, cost additions, and a row one product at its end.
 */
#include "kernels/field/field_cuda.h"
#include "kernels/rows/rows_kernels_cuda.h"

enum { ELEMENT_BYTES = 32, VALUE_ONE = 0, VALUE_MINUS_ONE = 1 };

struct sums {
    struct gpu_fr products, values;
};

/* Entries are counted from the block's first. */
struct shared {
    uint32_t start[ROWS_OF_BLOCK + 1]; /* first entry of each row, and the end */
    struct sums begun[ROWS_OF_BLOCK];  /* of a row: what the slice that it begins in has of it */
    struct sums head[ROWS_OF_BLOCK];   /* of a slice: what it has of a row begun before */
};

GPU_FN char *element_at(gpu_pointer array, uint32_t number)
{
    return (char *)array + (uint64_t)ELEMENT_BYTES * number;
}

/* ---- a row so far ---- */

GPU_FN void sums_clear(struct sums *sums)
{
    gpu_fr_set_zero(&sums->products);
    gpu_fr_set_zero(&sums->values);
}

GPU_FN void sums_add(struct sums *sums, const struct sums *other)
{
    gpu_fr_add(&sums->products, &sums->products, &other->products);
    gpu_fr_add(&sums->values, &sums->values, &other->values);
}

/* The number of the entry's value: its own where there are as many values as entries. */
GPU_FN uint32_t value_number(const struct rows_arguments *matrix, uint64_t entry)
{
    switch (matrix->index_bytes) {
    case 0:
        return (uint32_t)entry;
    case 1:
        return __ldg((const uint8_t *)matrix->index + entry);
    case 2:
        return __ldg((const uint16_t *)matrix->index + entry);
    default:
        return __ldg((const uint32_t *)matrix->index + entry);
    }
}

GPU_FN int is_small(const struct gpu_fr *a, uint32_t small)
{
    uint32_t others = a->limb[0] ^ small;
    GPU_UNROLL
    for (int i = 1; i < GPU_FR_WORDS; i++)
        others |= a->limb[i];
    return others == 0;
}

GPU_FN void sums_add_entry(struct sums *sums, const struct rows_arguments *matrix, uint64_t entry)
{
    struct gpu_fr w, value;
    gpu_fr_load(&w, element_at(matrix->witness, __ldg((const uint32_t *)matrix->wire + entry)));
    if (is_small(&w, 0))
        return;
    const uint32_t number = value_number(matrix, entry);
    if (!matrix->index_bytes || number > VALUE_MINUS_ONE) {
        gpu_fr_load(&value, element_at(matrix->value, number));
        if (is_small(&w, 1)) {
            gpu_fr_add(&sums->values, &sums->values, &value);
            return;
        }
        gpu_fr_mul(&w, &w, &value);
    } else if (number == VALUE_MINUS_ONE) {
        gpu_fr_neg(&w, &w);
    }
    gpu_fr_add(&sums->products, &sums->products, &w);
}

/* ---- slices ---- */

GPU_FN void starts_load(struct shared *shared, const struct rows_arguments *matrix)
{
    const uint32_t *row_start = (const uint32_t *)matrix->row_start;
    const uint64_t first = (uint64_t)blockIdx.x * ROWS_OF_BLOCK, rows = matrix->rows;
    const uint32_t base = __ldg(row_start + (first < rows ? first : rows));
    for (uint32_t i = threadIdx.x; i <= ROWS_OF_BLOCK; i += ROWS_OF_BLOCK)
        shared->start[i] = __ldg(row_start + (first + i < rows ? first + i : rows)) - base;
    __syncthreads();
}

GPU_FN uint64_t slice_entries(const struct shared *shared)
{
    return ((uint64_t)shared->start[ROWS_OF_BLOCK] + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK;
}

/* The row that has the entry, which is one of the block's. */
GPU_FN uint32_t row_of_entry(const struct shared *shared, uint32_t entry)
{
    uint32_t low = 0, high = ROWS_OF_BLOCK; /* start[low] <= entry < start[high] */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (shared->start[middle] <= entry)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Entries begin .. end - 1; there are some. One loop for all rows, so that a warp's threads stay
 * together whatever the rows' lengths are. */
GPU_FN void slice_run(struct shared *shared, const struct rows_arguments *matrix, uint32_t begin,
                      uint32_t end, uint64_t base)
{
    uint32_t row = row_of_entry(shared, begin);
    struct sums sums, *home = &shared->begun[row];
    if (shared->start[row] != begin)
        home = &shared->head[threadIdx.x];
    sums_clear(&sums);
    GPU_ONCE
    for (uint32_t at = begin; at < end; at++) {
        if (shared->start[row + 1] == at) {
            *home = sums;
            sums_clear(&sums);
            while (shared->start[row + 1] == at)
                row++;
            home = &shared->begun[row];
        }
        sums_add_entry(&sums, matrix, base + at);
    }
    *home = sums;
}

/* Row `row` of the block, of the slices that have entries of it. */
GPU_FN void row_gather(struct gpu_fr *out, const struct shared *shared, uint32_t row,
                       uint64_t slice)
{
    const uint32_t begin = shared->start[row], end = shared->start[row + 1];
    gpu_fr_set_zero(out);
    if (begin == end)
        return;
    struct sums sums = shared->begun[row];
    for (uint64_t i = begin / slice + 1; i * slice < end; i++)
        sums_add(&sums, &shared->head[i]);
    gpu_fr_to_montgomery(&sums.products, &sums.products);
    gpu_fr_add(out, &sums.products, &sums.values);
}

extern "C" __global__ void __launch_bounds__(ROWS_OF_BLOCK)
    rows_evaluate(const __grid_constant__ struct rows_arguments arguments)
{
    __shared__ struct shared shared;
    starts_load(&shared, &arguments);
    const uint64_t slice = slice_entries(&shared), entries = shared.start[ROWS_OF_BLOCK];
    const uint64_t first = (uint64_t)blockIdx.x * ROWS_OF_BLOCK, row = first + threadIdx.x;
    const uint64_t begin = threadIdx.x * slice, end = begin + slice;
    if (begin < entries)
        slice_run(&shared, &arguments, (uint32_t)begin, (uint32_t)(end < entries ? end : entries),
                  __ldg((const uint32_t *)arguments.row_start + first));
    __syncthreads();
    if (row < arguments.domain) {
        struct gpu_fr out;
        row_gather(&out, &shared, threadIdx.x, slice);
        gpu_fr_store(element_at(arguments.out, (uint32_t)row), &out);
    }
}
