/*
 * Loading NVIDIA's driver, and why it cannot be had. Called by whoever lists or opens GPUs, before
 * any thread of its own. A SIGKILL leaves nothing.
 *
 * The ladder, each step with its own words: no library; the toolkit's stub; too old; a call is
 * missing; does not start; no device. Age comes before missing calls, for an old driver misses some
 * and the remedy is then a newer one.
 */
#include "gpu-worker/cuda_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER_WANTED "install NVIDIA's driver, 580 series or newer"

struct error_name {
    CUresult code;
    const char *name;
};

#define ERROR_NAME(code)                                                                           \
    {                                                                                              \
        code, #code                                                                                \
    }
static const struct error_name error_names[] = {
    ERROR_NAME(CUDA_SUCCESS),
    ERROR_NAME(CUDA_ERROR_INVALID_VALUE),
    ERROR_NAME(CUDA_ERROR_OUT_OF_MEMORY),
    ERROR_NAME(CUDA_ERROR_NOT_INITIALIZED),
    ERROR_NAME(CUDA_ERROR_DEINITIALIZED),
    ERROR_NAME(CUDA_ERROR_STUB_LIBRARY),
    ERROR_NAME(CUDA_ERROR_DEVICE_UNAVAILABLE),
    ERROR_NAME(CUDA_ERROR_NO_DEVICE),
    ERROR_NAME(CUDA_ERROR_INVALID_DEVICE),
    ERROR_NAME(CUDA_ERROR_INVALID_IMAGE),
    ERROR_NAME(CUDA_ERROR_INVALID_CONTEXT),
    ERROR_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU),
    ERROR_NAME(CUDA_ERROR_ECC_UNCORRECTABLE),
    ERROR_NAME(CUDA_ERROR_UNSUPPORTED_LIMIT),
    ERROR_NAME(CUDA_ERROR_INVALID_PTX),
    ERROR_NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
    ERROR_NAME(CUDA_ERROR_CONTAINED),
    ERROR_NAME(CUDA_ERROR_OPERATING_SYSTEM),
    ERROR_NAME(CUDA_ERROR_INVALID_HANDLE),
    ERROR_NAME(CUDA_ERROR_NOT_FOUND),
    ERROR_NAME(CUDA_ERROR_NOT_READY),
    ERROR_NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
    ERROR_NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    ERROR_NAME(CUDA_ERROR_LAUNCH_TIMEOUT),
    ERROR_NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    ERROR_NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    ERROR_NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
    ERROR_NAME(CUDA_ERROR_LAUNCH_FAILED),
    ERROR_NAME(CUDA_ERROR_NOT_PERMITTED),
    ERROR_NAME(CUDA_ERROR_NOT_SUPPORTED),
    ERROR_NAME(CUDA_ERROR_SYSTEM_NOT_READY),
    ERROR_NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH),
    ERROR_NAME(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE),
    ERROR_NAME(CUDA_ERROR_MPS_CONNECTION_FAILED),
    ERROR_NAME(CUDA_ERROR_MPS_SERVER_NOT_READY),
    ERROR_NAME(CUDA_ERROR_UNKNOWN),
};

const char *cuda_driver_error_name(const struct cuda_driver *driver, CUresult code)
{
    for (size_t i = 0; i < sizeof(error_names) / sizeof(error_names[0]); i++)
        if (error_names[i].code == code)
            return error_names[i].name;
    const char *name = NULL;
    if (driver->library && driver->cuGetErrorName(code, &name) == CUDA_SUCCESS && name)
        return name;
    return "CUDA_ERROR_?";
}

void cuda_uuid_format(char *text, const char *prefix, const struct cuda_uuid *uuid)
{
    const unsigned char *b = uuid->bytes;

    snprintf(text, CUDA_UUID_TEXT_BYTES,
             "%s%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", prefix, b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

__attribute__((format(printf, 3, 4))) static int refuse(struct cuda_driver *driver, int error,
                                                        const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(driver->reason, sizeof(driver->reason), format, list);
    va_end(list);
    return error;
}

static int refuse_stub(struct cuda_driver *driver)
{
    driver->refusal = CUDA_ERROR_STUB_LIBRARY;
    return refuse(driver, -ENOSYS,
                  "%s is the CUDA toolkit's stub, not a driver (CUDA_ERROR_STUB_LIBRARY, 34): take "
                  "its stubs folder out of LD_LIBRARY_PATH, or " DRIVER_WANTED,
                  CUDA_DRIVER_LIBRARY);
}

/* NODELETE: threads of the driver's own may live on when it has been closed. */
static int load_library(struct cuda_driver *driver, const char *library)
{
    driver->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (driver->library)
        return 0;
    const char *error = dlerror();
    return refuse(driver, -ENOENT, "NVIDIA's driver cannot be loaded (%.120s): " DRIVER_WANTED,
                  error ? error : library);
}

/* Object pointers and function pointers are alike on every system that has dlsym. */
static int find_call(struct cuda_driver *driver, void *call, const char *symbol)
{
    void *address = dlsym(driver->library, symbol);

    if (!address)
        return refuse(driver, -ENOSYS,
                      "%s has no %s, so it is no driver that can be used: " DRIVER_WANTED,
                      CUDA_DRIVER_LIBRARY, symbol);
    memcpy(call, &address, sizeof(address));
    return 0;
}

static int check_version(struct cuda_driver *driver)
{
    int result = find_call(driver, &driver->cuDriverGetVersion, "cuDriverGetVersion");

    if (result)
        return result;
    CUresult code = driver->cuDriverGetVersion(&driver->version);
    if (code == CUDA_ERROR_STUB_LIBRARY)
        return refuse_stub(driver);
    if (code == CUDA_SUCCESS && driver->version < CUDA_DRIVER_VERSION_LEAST)
        return refuse(driver, -EOPNOTSUPP,
                      "NVIDIA's driver is too old: it knows CUDA up to %d.%d and the kernels need "
                      "%d.%d: " DRIVER_WANTED,
                      driver->version / 1000, driver->version % 1000 / 10,
                      CUDA_DRIVER_VERSION_LEAST / 1000, CUDA_DRIVER_VERSION_LEAST % 1000 / 10);
    return 0;
}

static int find_calls(struct cuda_driver *driver)
{
    int result = 0;

#define FIND_CALL(name, symbol, parameters)                                                        \
    if (!result)                                                                                   \
        result = find_call(driver, &driver->name, #symbol);
    CUDA_DRIVER_CALLS(FIND_CALL)
#undef FIND_CALL
    return result;
}

/* What mends a driver that does not start. */
static const char *remedy_of(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "the machine or the GPU has too little memory free";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "another process has the GPU for itself: see nvidia-smi, compute mode";
    case CUDA_ERROR_OPERATING_SYSTEM:
        return "see the kernel log and the permissions of /dev/nvidia*";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "start nvidia-fabricmanager, or wait for it";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "kernel module and library are of different versions: reboot, or reload the module";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "take CUDA's compat folder out of LD_LIBRARY_PATH; this GPU does not allow it";
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
        return "start nvidia-cuda-mps-control again, or unset CUDA_MPS_PIPE_DIRECTORY";
    default:
        return "see whether nvidia-smi works, and the kernel log for lines with NVRM";
    }
}

static int refuse_start(struct cuda_driver *driver, const char *call, CUresult code)
{
    driver->refusal = code;
    if (code == CUDA_ERROR_STUB_LIBRARY)
        return refuse_stub(driver);
    if (code == CUDA_ERROR_NO_DEVICE)
        return refuse(driver, -ENODEV,
                      "NVIDIA's driver shows no GPU: see nvidia-smi, CUDA_VISIBLE_DEVICES and the "
                      "permissions of /dev/nvidia*");
    return refuse(driver, -EIO, "NVIDIA's driver does not start (%s: %s, %d): %s", call,
                  cuda_driver_error_name(driver, code), code, remedy_of(code));
}

/* Threads that the driver starts leave all signals to the program's own: one sent to the process
 * goes to any thread that does not block it, and would end the process there. */
static CUresult initialise(const struct cuda_driver *driver)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    CUresult code = driver->cuInit(0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static int start_driver(struct cuda_driver *driver)
{
    /* Kernels are loaded whole with their module, not at a first launch, which may be in a proof.
     * The driver reads it when it starts. Images of containers set it to LAZY for programs that
     * load more than they launch. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CUresult code = initialise(driver);

    if (code != CUDA_SUCCESS)
        return refuse_start(driver, "cuInit", code);
    code = driver->cuDriverGetVersion(&driver->version);
    if (code != CUDA_SUCCESS)
        return refuse_start(driver, "cuDriverGetVersion", code);
    code = driver->cuDeviceGetCount(&driver->devices);
    if (code == CUDA_SUCCESS && driver->devices < 1)
        code = CUDA_ERROR_NO_DEVICE;
    return code == CUDA_SUCCESS ? 0 : refuse_start(driver, "cuDeviceGetCount", code);
}

int cuda_driver_open_library(struct cuda_driver *driver, const char *library, const char **why)
{
    memset(driver, 0, sizeof(*driver));
    int result = load_library(driver, library);
    if (!result)
        result = check_version(driver);
    if (!result)
        result = find_calls(driver);
    if (!result)
        result = start_driver(driver);
    if (result) {
        cuda_driver_close(driver);
        *why = driver->reason;
    }
    return result;
}

int cuda_driver_open(struct cuda_driver *driver, const char **why)
{
    return cuda_driver_open_library(driver, CUDA_DRIVER_LIBRARY, why);
}

void cuda_driver_close(struct cuda_driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}
