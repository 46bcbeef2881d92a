/*
 * Launches rows.cu (rows_cuda.h): a block for each ROWS_OF_BLOCK rows. No state.
 */
#include <errno.h>

#include "kernels/rows/rows_cuda.h"
#include "kernels/rows/rows_kernels_cuda.h"

static int index_is_known(const struct rows_cuda_matrix *matrix)
{
    switch (matrix->index_bytes) {
    case 0:
        return 1;
    case 1:
    case 2:
    case 4:
        return matrix->index != 0;
    default:
        return 0;
    }
}

int rows_cuda_evaluate(struct gpu_queue *queue, gpu_pointer out,
                       const struct rows_cuda_matrix *matrix, gpu_pointer witness, size_t domain)
{
    const struct rows_arguments arguments = {.row_start = matrix->row_start,
                                             .wire = matrix->wire,
                                             .value = matrix->value,
                                             .index = matrix->index,
                                             .witness = witness,
                                             .out = out,
                                             .domain = domain,
                                             .rows = matrix->rows,
                                             .index_bytes = matrix->index_bytes};
    const struct gpu_launch launch = {.kernel = "rows_evaluate",
                                      .blocks =
                                          (uint32_t)((domain + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK),
                                      .threads = ROWS_OF_BLOCK,
                                      .arguments = &arguments,
                                      .argument_bytes = sizeof(arguments)};
    if (!index_is_known(matrix) || domain > (uint64_t)1 << 32)
        return -EINVAL;
    return domain ? queue->launch(queue, &launch) : 0;
}
