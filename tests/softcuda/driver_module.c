/*
 * Modules and functions: fatbins as nvcc makes them, or PTX text, for the interpreter. Whether a
 * device would take the fatbin is decided as the real driver does: machine code of its generation,
 * or PTX that is not newer than it. A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "tests/softcuda/driver_stream.h"

#define FATBIN_MAGIC 0xba55ed50u
#define FATBIN_BYTES_MOST ((uint64_t)256 << 20)

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

struct fatbin_entry { /* as much of it as is needed here */
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, options, minor_version, architecture;
};
enum { FATBIN_PTX = 1, FATBIN_ELF = 2 };

struct CUmod_st {
    LIST_ENTRY(CUmod_st) link;
    struct ptx_module *ptx;
    LIST_HEAD(, CUfunc_st) functions;
};

static LIST_HEAD(, CUmod_st) modules = LIST_HEAD_INITIALIZER(modules);

static bool runs_here(const struct fatbin_entry *entry)
{
    uint32_t mine = (uint32_t)soft.options.capability;

    if (entry->kind == FATBIN_ELF) /* 87 is embedded: no code goes from others to it, or back */
        return entry->architecture / 10 == mine / 10 && entry->architecture <= mine &&
               (entry->architecture == 87) == (mine == 87);
    return entry->kind == FATBIN_PTX && entry->architecture <= mine;
}

/* The image is the program's own, so its lengths are believed no further than they fit. */
static CUresult check_fatbin(const unsigned char *image, const struct fatbin_header *header)
{
    uint64_t at = header->header_bytes, end = at + header->bytes;
    struct fatbin_entry entry;

    while (end - at >= sizeof(entry)) {
        memcpy(&entry, image + at, sizeof(entry));
        if (entry.header_bytes < sizeof(entry) || entry.header_bytes > end - at ||
            entry.bytes > end - at - entry.header_bytes)
            return CUDA_ERROR_INVALID_IMAGE;
        if (runs_here(&entry))
            return CUDA_SUCCESS;
        at += entry.header_bytes + entry.bytes;
    }
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* How long an image is, which the call does not say; and whether a device takes it. */
static CUresult measure(const void *image, size_t *bytes)
{
    struct fatbin_header header;

    if (!memchr(image, '\0', 4)) {
        memcpy(&header.magic, image, 4);
        if (header.magic != FATBIN_MAGIC) {
            *bytes = strlen(image);
            return CUDA_SUCCESS;
        }
    }
    memcpy(&header, image, sizeof(header));
    if (header.magic != FATBIN_MAGIC || header.bytes > FATBIN_BYTES_MOST)
        return CUDA_ERROR_INVALID_IMAGE;
    *bytes = header.header_bytes + header.bytes;
    return check_fatbin(image, &header);
}

static CUresult load(CUmodule *out, const void *image)
{
    char why[512] = "";
    size_t bytes = 0;

    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = measure(image, &bytes);
    soft_trace("module bytes=%zu code=%d", bytes, code);
    if (code)
        return code;
    CUmodule module = calloc(1, sizeof(*module));
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->ptx = ptx_module_load(image, bytes, why, sizeof(why));
    if (!module->ptx) {
        fprintf(stderr, "softcuda: %s\n", why);
        free(module);
        return CUDA_ERROR_INVALID_PTX;
    }
    LIST_INSERT_HEAD(&modules, module, link);
    *out = module;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CUresult code = soft_begin_in_context();

    return code ? code : soft_end(load(module, image));
}

static CUmodule find_module(CUmodule handle)
{
    CUmodule module;

    LIST_FOREACH(module, &modules, link)
    if (module == handle)
        return module;
    return NULL;
}

CUfunction soft_function_find(CUfunction handle)
{
    CUmodule module;
    CUfunction function;

    LIST_FOREACH(module, &modules, link)
    LIST_FOREACH(function, &module->functions, link)
    if (function == handle)
        return function;
    return NULL;
}

CUresult cuModuleUnload(CUmodule module)
{
    CUresult code = soft_begin_in_context();
    CUfunction function;

    if (code)
        return code;
    if (!find_module(module))
        return soft_end(CUDA_ERROR_INVALID_HANDLE);
    soft_streams_drain();
    while ((function = LIST_FIRST(&module->functions))) {
        LIST_REMOVE(function, link);
        free(function);
    }
    LIST_REMOVE(module, link);
    ptx_module_free(module->ptx);
    free(module);
    return soft_end(CUDA_SUCCESS);
}

static CUresult get_function(CUfunction *out, CUmodule module, const struct ptx_kernel *kernel)
{
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    CUfunction function = calloc(1, sizeof(*function));
    if (!function)
        return CUDA_ERROR_OUT_OF_MEMORY;
    function->kernel = kernel;
    function->limits = ptx_kernel_limits(kernel);
    function->shared_most = SOFT_SHARED_BYTES - function->limits.shared_bytes;
    LIST_INSERT_HEAD(&module->functions, function, link);
    *out = function;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!count || !find_module(module))
        return soft_end(count ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
    *count = ptx_kernel_count(module->ptx);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!functions || !count || !find_module(module))
        return soft_end(functions ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count && i < ptx_kernel_count(module->ptx) && !code; i++)
        code = get_function(&functions[i], module, ptx_kernel_at(module->ptx, i));
    return soft_end(code);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!function || !name || !find_module(module))
        return soft_end(module ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    return soft_end(get_function(function, module, ptx_kernel_find(module->ptx, name)));
}

static CUresult get_attribute(int *value, int attribute, CUfunction function)
{
    const struct ptx_kernel_limits *limits = &function->limits;

    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)limits->threads_most;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)limits->shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)limits->constant_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)limits->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = limits->registers > 255 ? 255 : (int)limits->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = soft.options.capability;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)function->shared_most;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult begin_function(CUfunction function)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    return soft_function_find(function) ? CUDA_SUCCESS : soft_end(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
    CUresult code = begin_function(function);

    if (code)
        return code;
    return soft_end(value ? get_attribute(value, attribute, function) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    CUresult code = begin_function(function);

    if (code)
        return code;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        (int64_t)value + function->limits.shared_bytes > soft_shared_optin_bytes())
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    function->shared_most = (uint32_t)value;
    return soft_end(CUDA_SUCCESS);
}
