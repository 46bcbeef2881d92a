/*
 * See the header. Functions are looked up by name at their first launch and remembered; a name is
 * the plan's own text, so that the same pointer mostly finds it without a comparison.
 */
#include "gpu-worker/cuda_queue.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "gpu-worker/cuda_modules.h"

/* Up to this much dynamic shared memory a kernel may have unasked. */
#define SHARED_BYTES_UNASKED 49152u

static const struct cuda_driver *driver_of(const struct cuda_queue *queue)
{
    return queue->fault->driver;
}

/* ---- modules ---- */

/* Operations by themselves, which only self tests and measurements launch. */
static int is_for_tests(const struct cuda_module *module)
{
    return strcmp(module->name, "field") == 0;
}

static int load_modules(struct cuda_queue *queue, int for_tests)
{
    for (unsigned i = 0; i < cuda_modules_count(); i++) {
        const struct cuda_module *module = cuda_modules_at(i);
        if (module->curve != queue->curve || is_for_tests(module) != for_tests)
            continue;
        assert(queue->modules < CUDA_QUEUE_MODULES);
        CUresult code =
            driver_of(queue)->cuModuleLoadData(&queue->module[queue->modules], module->image);
        int error = cuda_fault_check(queue->fault, code, "cuModuleLoadData");
        if (error)
            return error;
        queue->modules++;
    }
    return queue->modules ? 0 : -ENOENT;
}

/* ---- local memory ---- */

/* The most bytes that a thread of a kernel of the module needs beside its registers. */
static int most_local_bytes(const struct cuda_queue *queue, CUmodule module, int *most)
{
    const struct cuda_driver *driver = driver_of(queue);
    CUfunction functions[CUDA_QUEUE_FUNCTIONS];
    unsigned count = 0;
    CUresult code = driver->cuModuleGetFunctionCount(&count, module);
    count = count < CUDA_QUEUE_FUNCTIONS ? count : CUDA_QUEUE_FUNCTIONS;
    if (code == CUDA_SUCCESS && count > 0)
        code = driver->cuModuleEnumerateFunctions(functions, count, module);
    for (unsigned i = 0; i < count && code == CUDA_SUCCESS; i++) {
        int bytes = 0;
        code = driver->cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, functions[i]);
        *most = bytes > *most ? bytes : *most;
    }
    return cuda_fault_check(queue->fault, code, "the attributes of a module's kernels");
}

/*
 * A context has one piece of local memory, for as many threads as its device can hold. A launch
 * that needs more a thread than any before it makes the driver wait for the device and allocate it
 * anew: hundreds of megabytes, which may not be there. So that is done here and in no proof.
 */
static int reserve_local_memory(const struct cuda_queue *queue)
{
    const struct cuda_driver *driver = driver_of(queue);
    size_t has = 0;
    int most = 0, error = 0;
    for (unsigned i = 0; i < queue->modules && !error; i++)
        error = most_local_bytes(queue, queue->module[i], &most);
    if (error)
        return error;
    CUresult code = driver->cuCtxGetLimit(&has, CU_LIMIT_STACK_SIZE);
    if (code == CUDA_SUCCESS && (size_t)most > has)
        code = driver->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)most);
    if (code == CUDA_ERROR_UNSUPPORTED_LIMIT) /* the launches see to it then */
        return 0;
    return cuda_fault_check(queue->fault, code, "cuCtxSetLimit");
}

/* ---- functions ---- */

/* In the modules from `first` on. */
static CUfunction look_up(const struct cuda_queue *queue, unsigned first, const char *name)
{
    CUfunction function = NULL;
    for (unsigned i = first; i < queue->modules; i++) {
        CUresult code = driver_of(queue)->cuModuleGetFunction(&function, queue->module[i], name);
        if (code == CUDA_SUCCESS)
            return function;
        if (code != CUDA_ERROR_NOT_FOUND)
            cuda_fault_end(queue->fault, code, "cuModuleGetFunction");
    }
    return NULL;
}

/* NULL: no module has it, or there are more than there is room for; a plan and its kernels belong
 * to one build, so that is a mistake of ours. */
static struct cuda_function *find_function(struct cuda_queue *queue, const char *name)
{
    for (unsigned i = 0; i < queue->functions; i++)
        if (queue->function[i].name == name || strcmp(queue->function[i].name, name) == 0)
            return &queue->function[i];
    CUfunction function = look_up(queue, 0, name);
    unsigned before = queue->modules;
    if (!function && !queue->has_tests && load_modules(queue, 1) == 0) {
        queue->has_tests = 1;
        function = look_up(queue, before, name);
    }
    if (!function || queue->functions == CUDA_QUEUE_FUNCTIONS)
        return NULL;
    queue->function[queue->functions] =
        (struct cuda_function){.name = name, .function = function, .shared_bytes = 0};
    return &queue->function[queue->functions++];
}

static int allow_shared(const struct cuda_queue *queue, struct cuda_function *function,
                        uint32_t bytes)
{
    if (bytes <= SHARED_BYTES_UNASKED || bytes <= function->shared_bytes)
        return 0;
    CUresult code = driver_of(queue)->cuFuncSetAttribute(
        function->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    function->shared_bytes = bytes;
    return cuda_fault_check(queue->fault, code, "cuFuncSetAttribute");
}

/* ---- the queue's calls ---- */

static int queue_launch(struct gpu_queue *self, const struct gpu_launch *launch)
{
    struct cuda_queue *queue = (struct cuda_queue *)self;
    void *parameters[] = {(void *)(uintptr_t)launch->arguments};
    struct cuda_function *function = find_function(queue, launch->kernel);
    if (!function)
        return -ENOENT;
    int error = allow_shared(queue, function, launch->shared_bytes);
    if (error)
        return error;
    CUresult code = driver_of(queue)->cuLaunchKernel(function->function, launch->blocks, 1, 1,
                                                     launch->threads, 1, 1, launch->shared_bytes,
                                                     queue->stream, parameters, NULL);
    return cuda_fault_check(queue->fault, code, launch->kernel);
}

static int queue_clear(struct gpu_queue *self, gpu_pointer at, size_t bytes)
{
    struct cuda_queue *queue = (struct cuda_queue *)self;
    if (bytes == 0)
        return 0;
    return cuda_fault_check(queue->fault,
                            driver_of(queue)->cuMemsetD8Async(at, 0, bytes, queue->stream),
                            "cuMemsetD8Async");
}

/* ---- opening ---- */

static uint32_t attribute(const struct cuda_queue *queue, CUdevice device, int which)
{
    int value = 0;
    cuda_fault_check(queue->fault, driver_of(queue)->cuDeviceGetAttribute(&value, which, device),
                     "cuDeviceGetAttribute");
    return value > 0 ? (uint32_t)value : 0;
}

int cuda_queue_open(struct cuda_queue *queue, const struct cuda_fault *fault, CUdevice device,
                    CUstream stream, enum curve_id curve)
{
    *queue = (struct cuda_queue){.queue = {.launch = queue_launch, .clear = queue_clear},
                                 .fault = fault,
                                 .stream = stream,
                                 .curve = curve};
    uint32_t processors = attribute(queue, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    queue->queue.multiprocessors = processors ? processors : 1;
    queue->queue.shared_bytes_most =
        attribute(queue, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    int error = load_modules(queue, 0);
    if (!error)
        error = reserve_local_memory(queue);
    if (error)
        cuda_queue_close(queue);
    return error;
}

void cuda_queue_close(struct cuda_queue *queue)
{
    while (queue->modules > 0)
        driver_of(queue)->cuModuleUnload(queue->module[--queue->modules]);
    queue->functions = 0;
}
