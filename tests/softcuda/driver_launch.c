/*
 * Launching kernels: what a launch may ask is checked in the call, what the kernel does wrong shows
 * later, as a sticky error. A kernel has one parameter, a structure by value (kernels/gpu_queue.h).
 * A SIGKILL leaves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/softcuda/driver_memory.h"
#include "tests/softcuda/driver_module.h"
#include "tests/softcuda/driver_stream.h"

/* The numbers of `extra`, from the public reference. */
#define EXTRA_END ((void *)0)
#define EXTRA_POINTER ((void *)1)
#define EXTRA_BYTES ((void *)2)

struct launch_op {
    struct soft_op op;
    const struct ptx_kernel *kernel;
    struct ptx_launch launch;
    CUdevice device;
    uint64_t seed;
    CUresult injected;
    bool hang;
    unsigned char params[];
};

static CUresult code_of(enum ptx_fault_kind kind)
{
    switch (kind) {
    case PTX_FAULT_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_FAULT_ALIGNMENT:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_FAULT_STEPS:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    default: /* where a GPU would compute nonsense, or hang, this one stops */
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

static CUresult run_kernel(struct launch_op *launch)
{
    pthread_mutex_lock(&soft.lock);
    struct soft_view *view = soft_view_take(launch->device);
    pthread_mutex_unlock(&soft.lock);
    struct ptx_memory memory = {.find = soft_view_find, .owner = view, .seed = launch->seed};
    struct ptx_fault fault = {.kind = PTX_FAULT_NONE};

    if (!view)
        return CUDA_ERROR_UNKNOWN;
    int result = ptx_run(launch->kernel, &launch->launch, &memory, &fault);
    free(view);
    if (!result)
        return CUDA_SUCCESS;
    launch->op.why = strdup(fault.text);
    return result == -ENOMEM ? CUDA_ERROR_UNKNOWN : code_of(fault.kind);
}

static CUresult run_launch(struct soft_op *op)
{
    struct launch_op *launch = (struct launch_op *)op;

    while (launch->hang)
        pause();
    if (soft.options.slow_us)
        usleep(soft.options.slow_us);
    return launch->injected ? launch->injected : run_kernel(launch);
}

static void end_launch(struct soft_op *op)
{
    free(op);
}

/* Where the parameters lie, by either way of giving them; -1: not as this kernel needs them. */
static int find_params(const struct ptx_kernel_limits *limits, void **parameters, void **extra,
                       const void **params)
{
    size_t bytes = limits->param_bytes;

    if (!limits->param_bytes)
        return 0;
    if (parameters && extra)
        return -1;
    if (parameters)
        *params = parameters[0];
    for (; extra && *extra != EXTRA_END; extra += 2) {
        if (*extra == EXTRA_POINTER)
            *params = extra[1];
        else if (*extra == EXTRA_BYTES)
            bytes = *(size_t *)extra[1];
        else
            return -1;
    }
    return *params && bytes == limits->param_bytes ? 0 : -1;
}

static CUresult check(const struct CUfunc_st *function, const struct ptx_launch *launch)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];

    if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2] || !threads)
        return CUDA_ERROR_INVALID_VALUE;
    if (launch->grid[0] > INT_MAX || launch->grid[1] > 65535 || launch->grid[2] > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (launch->block[0] > 1024 || launch->block[1] > 1024 || launch->block[2] > 64)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > 1024 || launch->shared_bytes > function->shared_most)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > function->limits.threads_most)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return CUDA_SUCCESS;
}

/* Out of memory is the one error that a launch itself answers with, and that passes. */
static CUresult put_launch(const struct CUfunc_st *function, const struct ptx_launch *wish,
                           CUstream stream)
{
    bool hang;
    CUresult injected = soft_fault_launch(&hang);
    CUresult code = soft_local_grow(function->limits.local_bytes);

    if (code || injected == CUDA_ERROR_OUT_OF_MEMORY)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct launch_op *launch = calloc(1, sizeof(*launch) + wish->param_bytes);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    launch->op.run = run_launch;
    launch->op.end = end_launch;
    launch->kernel = function->kernel;
    launch->launch = *wish;
    launch->device = soft_current_device();
    launch->injected = injected;
    launch->hang = hang;
    launch->seed = soft.options.seed + soft.counts.launches;
    if (wish->param_bytes)
        memcpy(launch->params, wish->params, wish->param_bytes);
    launch->launch.params = launch->params;
    soft_trace("launch kernel=%s blocks=%u threads=%u shared=%u", function->limits.name,
               wish->grid[0], wish->block[0], wish->shared_bytes);
    soft_stream_put(stream, &launch->op);
    return soft.sticky;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream handle, void **parameters, void **extra)
{
    CUresult code = soft_begin_in_context();
    struct ptx_launch launch = {.grid = {grid_x, grid_y, grid_z},
                                .block = {block_x, block_y, block_z},
                                .shared_bytes = shared_bytes};

    if (code)
        return code;
    CUstream stream = soft_stream_find(handle);
    if (!stream || !soft_function_find(function))
        return soft_end(CUDA_ERROR_INVALID_HANDLE);
    launch.param_bytes = function->limits.param_bytes;
    if (find_params(&function->limits, parameters, extra, &launch.params))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    code = check(function, &launch);
    return soft_end(code ? code : put_launch(function, &launch, stream));
}
