/*
 * Plans the launches of ntt.cu (ntt_cuda.h). Pure arithmetic over a queue; called once a key for
 * the table and once a proof for the quotient. A SIGKILL leaves nothing here.
 *
 * A pass holds a tile of each of the three arrays in a block's shared memory. The middle pass takes
 * the lowest levels both ways, 2^tile neighbours at a time; the levels above are cut into equal
 * upper passes, whose tiles are rows of at least 2^COLUMNS neighbours, that every transaction with
 * memory is of 128 bytes. So 2 passes + 1 suffice to 2^20 with 192 KiB of shared memory, and 4 + 1
 * to 2^27.
 */
#include <errno.h>

#include "kernels/ntt/ntt_cuda.h"
#include "kernels/ntt/ntt_kernels_cuda.h"

enum {
    LOG2_DOMAIN_MOST = 27,
    ALONE_LOG2_MOST = 7, /* larger domains are spread over more than one block */
    TILE_LOG2_MOST = 11,
    COLUMNS_LOG2 = 2,
    WARP = 32,
    TABLE_THREADS = 256,
};

struct ntt_plan {
    unsigned log2_domain, log2_tile, upper_passes;
};

static uint32_t tile_bytes(unsigned log2_tile)
{
    return (uint32_t)(NTT_ARRAYS * NTT_ELEMENT_BYTES) << log2_tile;
}

/* Levels that an upper pass can take with such a tile. */
static unsigned upper_depth_most(unsigned log2_tile)
{
    return log2_tile > COLUMNS_LOG2 ? log2_tile - COLUMNS_LOG2 : 1;
}

static unsigned upper_passes_for(unsigned log2_domain, unsigned log2_tile)
{
    unsigned upper = log2_domain > log2_tile ? log2_domain - log2_tile : 0;
    return (upper + upper_depth_most(log2_tile) - 1) / upper_depth_most(log2_tile);
}

/* As few passes as the largest tile allows; then the smallest tile that needs no more: more blocks
 * at once, and several on a multiprocessor, so that one computes while another loads. */
static int plan_make(struct ntt_plan *plan, const struct gpu_queue *queue, unsigned log2_domain)
{
    unsigned tile = log2_domain;
    if (log2_domain < 1 || log2_domain > LOG2_DOMAIN_MOST ||
        queue->shared_bytes_most < tile_bytes(1))
        return -EINVAL;
    if (log2_domain > ALONE_LOG2_MOST)
        tile = log2_domain <= TILE_LOG2_MOST ? log2_domain - 1 : TILE_LOG2_MOST;
    while (tile_bytes(tile) > queue->shared_bytes_most)
        tile--;
    plan->log2_domain = log2_domain;
    plan->upper_passes = upper_passes_for(log2_domain, tile);
    while (tile > 1 && upper_passes_for(log2_domain, tile - 1) == plan->upper_passes)
        tile--;
    plan->log2_tile = tile;
    return 0;
}

/* A thread takes four butterflies of a level where there are blocks enough to fill the device
 * (24 warps on a multiprocessor, whatever the tile), else one. */
static uint32_t pass_threads(const struct ntt_plan *plan, const struct gpu_queue *queue,
                             uint32_t blocks)
{
    uint32_t threads = (uint32_t)NTT_ARRAYS << (plan->log2_tile - 1);
    if (blocks / 4 >= queue->multiprocessors)
        threads = (threads + 3) / 4;
    threads = (threads + WARP - 1) / WARP * WARP;
    return threads < NTT_THREADS_MOST ? threads : NTT_THREADS_MOST;
}

static int pass_launch(struct gpu_queue *queue, const struct ntt_plan *plan, const char *kernel,
                       struct ntt_pass_arguments *arguments, unsigned level, unsigned depth)
{
    struct gpu_launch launch = {.kernel = kernel,
                                .blocks = (uint32_t)1 << (plan->log2_domain - plan->log2_tile),
                                .shared_bytes = tile_bytes(plan->log2_tile),
                                .arguments = arguments,
                                .argument_bytes = sizeof(*arguments)};
    arguments->level = level;
    arguments->depth = depth;
    arguments->log2_columns = plan->log2_tile - depth;
    launch.threads = pass_threads(plan, queue, launch.blocks);
    return queue->launch(queue, &launch);
}

/* Pass number `pass` of the upper ones, counted from the first level. */
static int upper_launch(struct gpu_queue *queue, const struct ntt_plan *plan, const char *kernel,
                        struct ntt_pass_arguments *arguments, unsigned pass)
{
    unsigned upper = plan->log2_domain - plan->log2_tile;
    unsigned level = upper * pass / plan->upper_passes;
    unsigned end = upper * (pass + 1) / plan->upper_passes;
    return pass_launch(queue, plan, kernel, arguments, level, end - level);
}

int ntt_cuda_quotient(struct gpu_queue *queue, gpu_pointer a, gpu_pointer b, gpu_pointer c,
                      unsigned log2_domain, gpu_pointer table)
{
    struct ntt_pass_arguments arguments = {
        .array = {a, b, c}, .table = table, .log2_domain = log2_domain};
    struct ntt_plan plan = {0};
    int error = plan_make(&plan, queue, log2_domain);
    for (unsigned pass = 0; !error && pass < plan.upper_passes; pass++)
        error = upper_launch(queue, &plan, "ntt_forward", &arguments, pass);
    if (!error)
        error = pass_launch(queue, &plan, "ntt_middle", &arguments, log2_domain - plan.log2_tile,
                            plan.log2_tile);
    for (unsigned pass = plan.upper_passes; !error && pass-- > 0;)
        error = upper_launch(queue, &plan, "ntt_backward", &arguments, pass);
    return error;
}

size_t ntt_cuda_table_bytes(unsigned log2_domain)
{
    return NTT_ELEMENT_BYTES * (((size_t)1 << log2_domain) + NTT_AFTER_ROOTS);
}

static int table_launch(struct gpu_queue *queue, const char *kernel,
                        const struct ntt_table_arguments *arguments, uint32_t threads)
{
    uint32_t of_block = threads < TABLE_THREADS ? threads : TABLE_THREADS;
    struct gpu_launch launch = {.kernel = kernel,
                                .blocks = (threads + of_block - 1) / of_block,
                                .threads = of_block,
                                .arguments = arguments,
                                .argument_bytes = sizeof(*arguments)};
    return queue->launch(queue, &launch);
}

/* The roots of each order; then their products along both edges of a square that holds the indices,
 * low bits against high ones; then its inside. */
int ntt_cuda_table_make(struct gpu_queue *queue, gpu_pointer table, unsigned log2_domain)
{
    if (log2_domain < 1 || log2_domain > LOG2_DOMAIN_MOST)
        return -EINVAL;
    unsigned low = (log2_domain + 1) / 2;
    struct ntt_table_arguments arguments = {
        .table = table, .log2_domain = log2_domain, .log2_low = low};
    int error = table_launch(queue, "ntt_table_roots", &arguments, 1);
    if (!error)
        error = table_launch(queue, "ntt_table_edges", &arguments,
                             ((uint32_t)1 << low) + ((uint32_t)1 << (log2_domain - low)));
    if (!error)
        error = table_launch(queue, "ntt_table_fill", &arguments, (uint32_t)1 << log2_domain);
    return error;
}
