/*
 * The software driver's beginning: state, cuInit, version, names of errors, and how each call
 * begins and ends. A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver.h"

#include <unistd.h>

struct soft_state soft = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

CUresult soft_begin(void)
{
    if (soft.pid != getpid()) /* before the lock: a child's copy of it may be held for ever */
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&soft.lock);
    return soft.sticky ? soft_end(soft.sticky) : CUDA_SUCCESS;
}

CUresult soft_begin_in_context(void)
{
    CUresult code = soft_begin();

    if (code)
        return code;
    return soft_current_device() < 0 ? soft_end(CUDA_ERROR_INVALID_CONTEXT) : CUDA_SUCCESS;
}

CUresult soft_end(CUresult code)
{
    pthread_mutex_unlock(&soft.lock);
    return code;
}

static bool has_context(void)
{
    for (unsigned i = 0; i < SOFT_DEVICES_MOST; i++)
        if (soft.contexts[i])
            return true;
    return false;
}

static void *idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* A thread of the driver's own, with the signals that its caller lets through: nobody promises that
 * it blocks any. */
static int start_thread(void)
{
    static bool is_there;
    pthread_t thread;

    if (is_there)
        return 0;
    if (pthread_create(&thread, NULL, idle, NULL))
        return -1;
    pthread_detach(thread);
    is_there = true;
    return 0;
}

/* Again, where no context lives: a test may set the variable anew and open the driver again. */
static CUresult start(void)
{
    struct soft_options options;

    if (soft.sticky || has_context())
        return soft.sticky;
    if (soft_options_read(&options))
        return CUDA_ERROR_UNKNOWN;
    soft.options = options;
    soft.counts = (struct soft_counts){0};
    soft.pid = getpid();
    soft_trace_open();
    soft_devices_choose();
    if (options.init)
        return options.init;
    if (start_thread())
        return CUDA_ERROR_OPERATING_SYSTEM;
    return soft.visible_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (soft.pid && soft.pid != getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&soft.lock);
    CUresult code = start();
    if (code)
        soft.pid = soft.sticky ? soft.pid : 0;
    return soft_end(code);
}

/* May be asked before cuInit. */
CUresult cuDriverGetVersion(int *version)
{
    struct soft_options options;

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (soft_options_read(&options))
        return CUDA_ERROR_UNKNOWN;
    *version = options.version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    static const struct {
        CUresult code;
        const char *name;
    } names[] = {
        {CUDA_SUCCESS, "CUDA_SUCCESS"},
        {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
        {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
        {911, "CUDA_ERROR_EXTERNAL_DEVICE"}, /* one that gpu-worker has no number for */
        {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };

    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].code == error)
            *name = names[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
