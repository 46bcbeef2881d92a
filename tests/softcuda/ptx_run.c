/*
 * A launch: checks its sizes, sets up what blocks share, and runs the blocks in a shuffled order.
 */
#include "tests/softcuda/ptx_handlers.h"
#include "tests/softcuda/ptx_launch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t lane_instructions;

uint64_t ptx_lane_instructions(void)
{
    return atomic_load_explicit(&lane_instructions, memory_order_relaxed);
}

static int refuse(const struct ptx_kernel *kernel, struct ptx_fault *fault, const char *what,
                  uint64_t value)
{
    fault->kind = PTX_FAULT_LAUNCH;
    snprintf(fault->text, sizeof fault->text, "%s: launch: %s: %llu", kernel->function->name, what,
             (unsigned long long)value);
    return -EINVAL;
}

/* the product, or UINT64_MAX where it has more than 2^32 */
static uint64_t volume(const uint32_t *sizes)
{
    const uint64_t plane = (uint64_t)sizes[0] * sizes[1];
    if (plane > UINT32_MAX || plane * sizes[2] > UINT32_MAX)
        return UINT64_MAX;
    return plane * sizes[2];
}

static uint64_t dynamic_offset(const struct ptx_function *function)
{
    return (function->shared_bytes + UINT64_C(15)) / 16 * 16;
}

static int check_launch(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
                        struct ptx_fault *fault)
{
    const struct ptx_function *function = kernel->function;
    const uint64_t threads = volume(launch->block), blocks = volume(launch->grid);
    if (threads == 0 || threads > function->threads_most)
        return refuse(kernel, fault, "threads of a block", threads);
    if (blocks == 0 || blocks > INT32_MAX)
        return refuse(kernel, fault, "blocks", blocks);
    const uint64_t shared = dynamic_offset(function) + launch->shared_bytes;
    if (shared > PTX_SHARED_MOST)
        return refuse(kernel, fault, "bytes of shared memory", shared);
    if (launch->param_bytes != function->param_bytes)
        return refuse(kernel, fault, "bytes of parameters", launch->param_bytes);
    return 0;
}

/* ------------------------------------------------------------ memory of a launch */

static void *aligned_bytes(uint64_t bytes)
{
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static bool allocate_warp(struct ptx_run *run, struct ptx_warp *warp)
{
    const struct ptx_function *function = run->kernel->function;
    warp->run = run;
    warp->local_bytes = function->stack_local_bytes;
    warp->registers = aligned_bytes(function->stack_register_bytes);
    warp->local = aligned_bytes((uint64_t)function->stack_local_bytes * PTX_LANES);
    warp->bank[PTX_BANK_CONSTANT] = run->module->vectors.data;
    warp->bank[PTX_BANK_SPECIAL] = (uint8_t *)warp->special;
    return warp->registers != NULL && warp->local != NULL;
}

static bool allocate_shared(struct ptx_run *run)
{
    run->dynamic_offset = (uint32_t)dynamic_offset(run->kernel->function);
    const uint64_t bytes = run->launch->shared_bytes > 0
                               ? run->dynamic_offset + (uint64_t)run->launch->shared_bytes
                               : run->kernel->function->shared_bytes;
    run->shared = (struct ptx_range){
        .bytes = bytes, .host = malloc(bytes + 1), .written = malloc(ptx_written_bytes(bytes))};
    return run->shared.host != NULL && run->shared.written != NULL;
}

static bool allocate(struct ptx_run *run)
{
    run->warp = aligned_bytes(sizeof *run->warp * run->warps);
    run->params = (struct ptx_range){.base = PTX_WINDOW_PARAM,
                                     .bytes = run->launch->param_bytes,
                                     .host = malloc(run->launch->param_bytes + 1),
                                     .read_only = true};
    if (run->warp == NULL || run->params.host == NULL)
        return false;
    if (run->launch->param_bytes > 0)
        memcpy(run->params.host, run->launch->params, run->launch->param_bytes);
    memset(run->warp, 0, sizeof *run->warp * run->warps);
    for (uint32_t i = 0; i < run->warps; i++)
        if (!allocate_warp(run, &run->warp[i]))
            return false;
    return allocate_shared(run);
}

static void release(struct ptx_run *run)
{
    for (uint32_t i = 0; run->warp != NULL && i < run->warps; i++) {
        free(run->warp[i].registers);
        free(run->warp[i].local);
        atomic_fetch_add_explicit(&lane_instructions, run->warp[i].lane_steps,
                                  memory_order_relaxed);
    }
    free(run->warp);
    free(run->params.host);
    free(run->shared.host);
    free(run->shared.written);
}

/* ------------------------------------------------------------ special registers */

static void place_lanes(struct ptx_run *run, struct ptx_warp *warp, uint32_t index)
{
    const uint32_t *block = run->launch->block;
    for (uint32_t l = 0; l < PTX_LANES; l++) {
        const uint32_t thread = index * PTX_LANES + l;
        warp->special[PTX_TID_X][l] = thread % block[0];
        warp->special[PTX_TID_Y][l] = thread / block[0] % block[1];
        warp->special[PTX_TID_Z][l] = thread / block[0] / block[1];
        warp->special[PTX_LANEID][l] = l;
        warp->special[PTX_LANEMASK_EQ][l] = UINT32_C(1) << l;
        warp->special[PTX_LANEMASK_LT][l] = (UINT32_C(1) << l) - 1;
        warp->special[PTX_LANEMASK_LE][l] = (UINT32_C(2) << l) - 1;
        warp->special[PTX_LANEMASK_GE][l] = ~((UINT32_C(1) << l) - 1);
        warp->special[PTX_LANEMASK_GT][l] = ~((UINT32_C(2) << l) - 1);
    }
}

static void place_warp(struct ptx_run *run, uint32_t index)
{
    struct ptx_warp *warp = &run->warp[index];
    const struct ptx_launch *launch = run->launch;
    warp->index = index;
    place_lanes(run, warp, index);
    for (unsigned axis = 0; axis < 3; axis++) {
        ptx_special_set(warp, (enum ptx_special)(PTX_NTID_X + axis), launch->block[axis]);
        ptx_special_set(warp, (enum ptx_special)(PTX_NCTAID_X + axis), launch->grid[axis]);
    }
    ptx_special_set(warp, PTX_WARPID, index);
    ptx_special_set(warp, PTX_NWARPID, run->warps);
    ptx_special_set(warp, PTX_NSMID, 1);
    ptx_special_set(warp, PTX_DYNAMIC_SMEM, launch->shared_bytes);
    ptx_special_set(warp, PTX_TOTAL_SMEM, (uint32_t)run->shared.bytes);
}

/* ------------------------------------------------------------ the blocks */

static bool has_barrier(const struct ptx_kernel *kernel)
{
    const struct ptx_code *code = kernel->module->code + kernel->function->first;
    for (uint32_t i = 0; i < kernel->function->codes; i++)
        if (code[i].run == ptx_run_barrier)
            return true;
    return false;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool run_blocks(struct ptx_run *run)
{
    const uint64_t blocks = volume(run->launch->grid);
    const uint64_t start = ptx_random(&run->random) % blocks;
    uint64_t step = ptx_random(&run->random) % blocks + 1;
    while (common_divisor(step, blocks) != 1) /* so that every block has its turn */
        step++;
    for (uint64_t i = 0; i < blocks; i++)
        if (!ptx_block_run(run, (uint32_t)((start + i * step) % blocks)))
            return false;
    return true;
}

int ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
            const struct ptx_memory *memory, struct ptx_fault *fault)
{
    *fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    const int refused = check_launch(kernel, launch, fault);
    if (refused != 0)
        return refused;
    struct ptx_run run = {.kernel = kernel,
                          .module = kernel->module,
                          .launch = launch,
                          .memory = memory,
                          .fault = fault,
                          .random = memory->seed,
                          .threads = (uint32_t)volume(launch->block)};
    run.warps = (run.threads + PTX_LANES - 1) / PTX_LANES;
    int result = -ENOMEM;
    if (allocate(&run)) {
        for (uint32_t i = 0; i < run.warps; i++)
            place_warp(&run, i);
        run.warps_meet = run.shared.bytes > 0 || has_barrier(kernel);
        result = run_blocks(&run) ? 0 : -EFAULT;
    }
    release(&run);
    return result;
}
