/*
 * Primary contexts: retained and released, and current in a thread. A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver_memory.h"
#include "tests/softcuda/driver_stream.h"

struct CUctx_st {
    CUdevice device;
};
static struct CUctx_st contexts[SOFT_DEVICES_MOST];
static _Thread_local CUcontext current;

int soft_current_device(void)
{
    return current && soft.contexts[current->device] ? current->device : -1;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    return soft_end(flags > CU_CTX_SCHED_BLOCKING_SYNC ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    if (soft.options.prohibited)
        return soft_end(CUDA_ERROR_DEVICE_UNAVAILABLE);
    if (soft.contexts[device]++ == 0) {
        soft.local_bytes[device] = SOFT_LOCAL_BYTES;
        soft_trace("context device=%d", device);
    }
    contexts[device].device = device;
    *context = &contexts[device];
    return soft_end(CUDA_SUCCESS);
}

/* What the context held is lost with its last release, as in the real one. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    if (!soft.contexts[device])
        return soft_end(CUDA_ERROR_INVALID_CONTEXT);
    if (--soft.contexts[device] == 0) {
        soft_streams_drain();
        soft_memory_release(device);
        soft_memory_refund(device, SOFT_THREADS * (soft.local_bytes[device] - SOFT_LOCAL_BYTES));
        soft_trace("context_end device=%d", device);
    }
    return soft_end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult code = soft_begin();

    if (code)
        return code;
    if (context && (context < contexts || context >= contexts + SOFT_DEVICES_MOST ||
                    !soft.contexts[context->device]))
        return soft_end(CUDA_ERROR_INVALID_CONTEXT);
    current = context;
    return soft_end(CUDA_SUCCESS);
}

/* ---- local memory ---- */

/* It never shrinks, and the device is idle while it grows. */
CUresult soft_local_grow(size_t bytes)
{
    CUdevice device = soft_current_device();
    size_t has = soft.local_bytes[device];

    if (bytes <= has)
        return CUDA_SUCCESS;
    soft_streams_drain();
    bool fails = soft_fault_allocation();
    CUresult code = fails || soft_memory_charge(device, SOFT_THREADS * (bytes - has))
                        ? CUDA_ERROR_OUT_OF_MEMORY
                        : CUDA_SUCCESS;
    if (!code)
        soft.local_bytes[device] = bytes;
    soft_trace("local bytes=%zu code=%d", bytes, code);
    return code;
}

CUresult cuCtxGetLimit(size_t *value, int limit)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!value || limit != CU_LIMIT_STACK_SIZE)
        return soft_end(value ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE);
    *value = soft.local_bytes[soft_current_device()];
    return soft_end(CUDA_SUCCESS);
}

CUresult cuCtxSetLimit(int limit, size_t value)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    return soft_end(limit == CU_LIMIT_STACK_SIZE ? soft_local_grow(value)
                                                 : CUDA_ERROR_UNSUPPORTED_LIMIT);
}
