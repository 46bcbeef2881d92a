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
    if (soft.contexts[device]++ == 0)
        soft_trace("context device=%d", device);
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
