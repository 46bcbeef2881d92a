/*
 * NVIDIA's driver (libcuda.so.1), as far as a gpu-worker uses it: our own declarations, so that no
 * toolkit is needed to compile and one binary serves hosts with and without a driver. Names and
 * numbers are those of the public CUDA Driver API reference, CUDA 13; calls that exist in several
 * versions carry the symbol that is looked up beside them.
 *
 * cuda_driver_open() is the first thing that anybody who wants a GPU calls. It makes no context and
 * takes no memory of the device. Nothing may fork and go on to use the driver after it: a child
 * gets CUDA_ERROR_NOT_INITIALIZED from every call. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_DRIVER_H
#define PAWL_GPU_WORKER_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr; /* a gpu_pointer of kernels/gpu_queue.h */
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum cuda_result {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
    CUDA_ERROR_INVALID_PTX = 218,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
    CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
    CUDA_ERROR_UNKNOWN = 999,
};

enum cuda_device_attribute {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20, /* enum cuda_compute_mode */
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, /* kHz */
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
    CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
};

enum cuda_compute_mode {
    CU_COMPUTEMODE_DEFAULT = 0,
    CU_COMPUTEMODE_PROHIBITED = 2,
    CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

enum cuda_function_attribute {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum cuda_context_flags {
    CU_CTX_SCHED_AUTO = 0x00,
    CU_CTX_SCHED_SPIN = 0x01,
    CU_CTX_SCHED_YIELD = 0x02,
    CU_CTX_SCHED_BLOCKING_SYNC = 0x04,
};

enum cuda_limit { CU_LIMIT_STACK_SIZE = 0x00 }; /* local memory of a thread */

enum cuda_stream_flags { CU_STREAM_DEFAULT = 0x0, CU_STREAM_NON_BLOCKING = 0x1 };

enum cuda_event_flags {
    CU_EVENT_DEFAULT = 0x0,
    CU_EVENT_BLOCKING_SYNC = 0x1,
    CU_EVENT_DISABLE_TIMING = 0x2,
};

enum cuda_host_flags {
    CU_MEMHOSTALLOC_PORTABLE = 0x01,
    CU_MEMHOSTALLOC_DEVICEMAP = 0x02,
    CU_MEMHOSTALLOC_WRITECOMBINED = 0x04,
    CU_MEMHOSTREGISTER_PORTABLE = 0x01,
    CU_MEMHOSTREGISTER_DEVICEMAP = 0x02,
    CU_MEMHOSTREGISTER_IOMEMORY = 0x04,
    CU_MEMHOSTREGISTER_READ_ONLY = 0x08,
};

/* Virtual memory management: memory of its own, apart from where it is mapped. */
enum cuda_memory_numbers {
    CU_MEM_HANDLE_TYPE_NONE = 0x0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 0x1,
    CU_MEM_LOCATION_TYPE_DEVICE = 0x1,
    CU_MEM_ALLOCATION_TYPE_PINNED = 0x1,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0x0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 0x1,
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0x0,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 0x1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 0x3,
};

struct cuda_memory_location { /* CUmemLocation */
    int type;
    int id; /* a CUdevice */
};

struct cuda_memory_properties { /* CUmemAllocationProp */
    int type;
    int requested_handle_types;
    struct cuda_memory_location location;
    void *win32_handle_metadata; /* NULL */
    struct {
        unsigned char compression_type, gpu_direct_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocation_flags;
};

struct cuda_memory_access { /* CUmemAccessDesc */
    struct cuda_memory_location location;
    int flags;
};

struct cuda_uuid { /* CUuuid */
    unsigned char bytes[16];
};

_Static_assert(sizeof(struct cuda_memory_properties) == 32, "as CUmemAllocationProp");
_Static_assert(sizeof(struct cuda_memory_access) == 12, "as CUmemAccessDesc");
_Static_assert(sizeof(struct cuda_uuid) == 16, "as CUuuid");

/* A device's UUID as NVIDIA writes it: "GPU-" or "MIG-" and 32 hexadecimal digits in five groups.
 */
#define CUDA_UUID_TEXT_BYTES 41

/* CALL(name, symbol, parameters): every call, each of which returns a CUresult. */
#define CUDA_DRIVER_CALLS(CALL)                                                                    \
    CALL(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                   \
    CALL(cuInit, cuInit, (unsigned flags))                                                         \
    CALL(cuGetErrorName, cuGetErrorName, (CUresult error, const char **name))                      \
    CALL(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                         \
    CALL(cuDeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                               \
    CALL(cuDeviceGetName, cuDeviceGetName, (char *name, int bytes, CUdevice device))               \
    CALL(cuDeviceGetUuid, cuDeviceGetUuid_v2, (struct cuda_uuid * uuid, CUdevice device))          \
    CALL(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device)) \
    CALL(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                 \
    CALL(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *id, int bytes, CUdevice device))         \
    CALL(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                                       \
         (CUcontext * context, CUdevice device))                                                   \
    CALL(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))               \
    CALL(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,                                \
         (CUdevice device, unsigned flags))                                                        \
    CALL(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                    \
    CALL(cuCtxGetLimit, cuCtxGetLimit, (size_t * value, int limit))                                \
    CALL(cuCtxSetLimit, cuCtxSetLimit, (int limit, size_t value))                                  \
    CALL(cuModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))               \
    CALL(cuModuleUnload, cuModuleUnload, (CUmodule module))                                        \
    CALL(cuModuleGetFunction, cuModuleGetFunction,                                                 \
         (CUfunction * function, CUmodule module, const char *name))                               \
    CALL(cuModuleGetFunctionCount, cuModuleGetFunctionCount, (unsigned *count, CUmodule module))   \
    CALL(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions,                                   \
         (CUfunction * functions, unsigned count, CUmodule module))                                \
    CALL(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, CUfunction function)) \
    CALL(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, int attribute, int value))  \
    CALL(cuLaunchKernel, cuLaunchKernel,                                                           \
         (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                  \
          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,             \
          CUstream stream, void **parameters, void **extra))                                       \
    CALL(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes))                              \
    CALL(cuMemFree, cuMemFree_v2, (CUdeviceptr at))                                                \
    CALL(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total_bytes))               \
    CALL(cuMemHostAlloc, cuMemHostAlloc, (void **at, size_t bytes, unsigned flags))                \
    CALL(cuMemFreeHost, cuMemFreeHost, (void *at))                                                 \
    CALL(cuMemHostRegister, cuMemHostRegister_v2, (void *at, size_t bytes, unsigned flags))        \
    CALL(cuMemHostUnregister, cuMemHostUnregister, (void *at))                                     \
    CALL(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                  \
         (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                        \
    CALL(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                  \
         (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                              \
    CALL(cuMemsetD8Async, cuMemsetD8Async,                                                         \
         (CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream))                     \
    CALL(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                      \
    CALL(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                   \
    CALL(cuStreamQuery, cuStreamQuery, (CUstream stream))                                          \
    CALL(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                              \
    CALL(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))   \
    CALL(cuEventCreate, cuEventCreate, (CUevent * event, unsigned flags))                          \
    CALL(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                           \
    CALL(cuEventQuery, cuEventQuery, (CUevent event))                                              \
    CALL(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                  \
    CALL(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                       \
    CALL(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CUevent begin, CUevent end))          \
    CALL(cuMemCreate, cuMemCreate,                                                                 \
         (CUmemGenericAllocationHandle * memory, size_t bytes,                                     \
          const struct cuda_memory_properties *properties, unsigned long long flags))              \
    CALL(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle memory))                        \
    CALL(cuMemAddressReserve, cuMemAddressReserve,                                                 \
         (CUdeviceptr * at, size_t bytes, size_t alignment, CUdeviceptr wish,                      \
          unsigned long long flags))                                                               \
    CALL(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr at, size_t bytes))                       \
    CALL(cuMemMap, cuMemMap,                                                                       \
         (CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle memory,        \
          unsigned long long flags))                                                               \
    CALL(cuMemUnmap, cuMemUnmap, (CUdeviceptr at, size_t bytes))                                   \
    CALL(cuMemSetAccess, cuMemSetAccess,                                                           \
         (CUdeviceptr at, size_t bytes, const struct cuda_memory_access *access, size_t count))    \
    CALL(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                             \
         (size_t * bytes, const struct cuda_memory_properties *properties, int option))            \
    CALL(cuMemExportToShareableHandle, cuMemExportToShareableHandle,                               \
         (void *fd, CUmemGenericAllocationHandle memory, int handle_type,                          \
          unsigned long long flags)) /* fd: an int *; the fd lacks O_CLOEXEC */                    \
    CALL(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle,                           \
         (CUmemGenericAllocationHandle * memory, void *fd,                                         \
          int handle_type)) /* fd: the number itself, as a pointer; stays the caller's */

#define CUDA_DRIVER_LIBRARY "libcuda.so.1"
#define CUDA_DRIVER_VERSION_LEAST 13000 /* what the kernels are built with: CUDA 13.0 */

#define CUDA_DRIVER_REASON_BYTES 256

struct cuda_driver {
    void *library;
    int version;      /* 13010: CUDA 13.1 is the newest that this driver knows */
    int devices;      /* at least 1 once open */
    CUresult refusal; /* what the driver answered where it was opened in vain, else 0 */
    char reason[CUDA_DRIVER_REASON_BYTES];
#define CUDA_DRIVER_MEMBER(name, symbol, parameters) CUresult(*name) parameters;
    CUDA_DRIVER_CALLS(CUDA_DRIVER_MEMBER)
#undef CUDA_DRIVER_MEMBER
};

/*
 * Loads the library, looks all calls up, initialises the driver. 0, or with *why set to a line for
 * people that says what to do (it lies in *driver):
 *   -ENOENT     there is no such library, or it cannot be loaded
 *   -ENOSYS     the toolkit's stub in place of a driver, or a call is missing
 *   -EOPNOTSUPP too old a driver for these kernels
 *   -ENODEV     no device, or none that CUDA_VISIBLE_DEVICES lets through
 *   -EIO        the driver does not start; driver->refusal has its code
 * After a failure nothing can be called, but cuda_driver_error_name() still works.
 */
int cuda_driver_open(struct cuda_driver *driver, const char **why);
/* The same with a library of the caller's choice: for tests. */
int cuda_driver_open_library(struct cuda_driver *driver, const char *library, const char **why);
/* Only where no context and no thread uses the driver any more. Harmless after a failed open. */
void cuda_driver_close(struct cuda_driver *driver);

/* "CUDA_ERROR_OUT_OF_MEMORY": never NULL, static; the driver is asked for what is not known here.
 */
const char *cuda_driver_error_name(const struct cuda_driver *driver, CUresult code);

/* "GPU-8c0f0a4e-...", or with prefix "MIG-". `text` has CUDA_UUID_TEXT_BYTES bytes. */
void cuda_uuid_format(char *text, const char *prefix, const struct cuda_uuid *uuid);

#endif
