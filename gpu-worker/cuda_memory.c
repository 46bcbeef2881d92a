/*
 * See the header.
 */
#include "gpu-worker/cuda_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/worker_start.h"

#define RELEASE_WAIT_NS UINT64_C(1000000000)
#define RELEASE_LOOK_NS 5000000

static const struct cuda_driver *driver_of(const struct cuda_memory *memory)
{
    return memory->fault->driver;
}

static int attribute(const struct cuda_memory *memory, int which)
{
    int value = 0;
    CUresult code = driver_of(memory)->cuDeviceGetAttribute(&value, which, memory->device);
    return code == CUDA_SUCCESS ? value : 0;
}

static struct cuda_memory_properties properties_of(const struct cuda_memory *memory)
{
    struct cuda_memory_properties properties;
    memset(&properties, 0, sizeof(properties));
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = memory->device;
    if (memory->can_export)
        properties.requested_handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
}

void cuda_memory_open(struct cuda_memory *memory, const struct cuda_fault *fault, CUdevice device)
{
    *memory = (struct cuda_memory){.fault = fault, .device = device};
    memory->has_vmm = attribute(memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    memory->can_export =
        memory->has_vmm &&
        attribute(memory, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
    if (!memory->has_vmm)
        return;
    struct cuda_memory_properties properties = properties_of(memory);
    CUresult code = fault->driver->cuMemGetAllocationGranularity(&memory->granularity, &properties,
                                                                 CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (code != CUDA_SUCCESS || memory->granularity == 0)
        memory->has_vmm = memory->can_export = 0;
}

size_t cuda_memory_free_bytes(const struct cuda_memory *memory)
{
    size_t free_bytes = 0, total_bytes;
    CUresult code = driver_of(memory)->cuMemGetInfo(&free_bytes, &total_bytes);
    return cuda_fault_check(memory->fault, code, "cuMemGetInfo") ? 0 : free_bytes;
}

/* ---- mapping ---- */

static CUresult set_access(const struct cuda_memory *memory, const struct cuda_block *block,
                           int flags)
{
    struct cuda_memory_access access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = memory->device}, .flags = flags};
    return driver_of(memory)->cuMemSetAccess(block->at, block->mapped_bytes, &access, 1);
}

/* Gives block->memory an address; what was done is undone where it fails. */
static CUresult map_block(const struct cuda_memory *memory, struct cuda_block *block, int flags)
{
    const struct cuda_driver *driver = driver_of(memory);
    CUdeviceptr at = 0;
    CUresult code = driver->cuMemAddressReserve(&at, block->mapped_bytes, 0, 0, 0);
    if (code != CUDA_SUCCESS)
        return code;
    code = driver->cuMemMap(at, block->mapped_bytes, 0, block->memory, 0);
    if (code == CUDA_SUCCESS) {
        block->at = at;
        code = set_access(memory, block, flags);
        if (code != CUDA_SUCCESS)
            driver->cuMemUnmap(at, block->mapped_bytes);
    }
    if (code != CUDA_SUCCESS) {
        driver->cuMemAddressFree(at, block->mapped_bytes);
        block->at = 0;
    }
    return code;
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static CUresult make_mapped(const struct cuda_memory *memory, struct cuda_block *block)
{
    struct cuda_memory_properties properties = properties_of(memory);
    block->mapped_bytes = round_up(block->bytes, memory->granularity);
    CUresult code =
        driver_of(memory)->cuMemCreate(&block->memory, block->mapped_bytes, &properties, 0);
    if (code != CUDA_SUCCESS)
        return code;
    code = map_block(memory, block, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (code != CUDA_SUCCESS)
        driver_of(memory)->cuMemRelease(block->memory);
    return code;
}

static CUresult make_plain(const struct cuda_memory *memory, struct cuda_block *block)
{
    CUdeviceptr at = 0;
    CUresult code = driver_of(memory)->cuMemAlloc(&at, block->bytes);
    block->at = code == CUDA_SUCCESS ? at : 0;
    return code;
}

/* ---- */

static int make_once(const struct cuda_memory *memory, struct cuda_block *block, size_t bytes)
{
    *block = (struct cuda_block){.bytes = bytes};
    CUresult code = memory->has_vmm ? make_mapped(memory, block) : make_plain(memory, block);
    int error = cuda_fault_check(memory->fault, code, "an allocation of device memory");
    if (error)
        *block = (struct cuda_block){0};
    return error;
}

int cuda_block_make(struct cuda_memory *memory, struct cuda_block *block, size_t bytes)
{
    const struct timespec span = {.tv_nsec = RELEASE_LOOK_NS};
    int error = make_once(memory, block, bytes);
    while (error == -ENOMEM && worker_now_ns() < memory->release_wait_ns) {
        nanosleep(&span, NULL);
        error = make_once(memory, block, bytes);
    }
    return error;
}

void cuda_block_free(struct cuda_memory *memory, struct cuda_block *block)
{
    const struct cuda_driver *driver = driver_of(memory);
    if (!block->at)
        return;
    if (!block->mapped_bytes) {
        cuda_fault_check(memory->fault, driver->cuMemFree(block->at), "cuMemFree");
    } else {
        cuda_fault_check(memory->fault, driver->cuMemUnmap(block->at, block->mapped_bytes),
                         "cuMemUnmap");
        driver->cuMemAddressFree(block->at, block->mapped_bytes);
        driver->cuMemRelease(block->memory);
    }
    if (block->exported)
        memory->release_wait_ns = worker_now_ns() + RELEASE_WAIT_NS;
    *block = (struct cuda_block){0};
}

int cuda_block_protect(struct cuda_memory *memory, struct cuda_block *block)
{
    if (!block->mapped_bytes)
        return 0;
    CUresult code = set_access(memory, block, CU_MEM_ACCESS_FLAGS_PROT_READ);
    /* a device that knows no read-only memory goes on with what it has */
    if (code == CUDA_ERROR_NOT_SUPPORTED || code == CUDA_ERROR_INVALID_VALUE)
        return 0;
    return cuda_fault_check(memory->fault, code, "cuMemSetAccess");
}

/* ---- between processes ---- */

int cuda_block_export(struct cuda_memory *memory, struct cuda_block *block, int *fd)
{
    *fd = -1;
    if (!block->mapped_bytes || !memory->can_export)
        return -ENOTSUP;
    CUresult code = driver_of(memory)->cuMemExportToShareableHandle(
        fd, block->memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (code != CUDA_SUCCESS || *fd < 0)
        return -ENOTSUP;
    if (fcntl(*fd, F_SETFD, FD_CLOEXEC)) {
        int error = -errno;
        close(*fd);
        *fd = -1;
        return error;
    }
    block->exported = 1;
    return 0;
}

int cuda_block_import(struct cuda_memory *memory, struct cuda_block *block, int fd, size_t bytes)
{
    const struct cuda_driver *driver = driver_of(memory);
    *block = (struct cuda_block){0};
    if (!memory->can_export || bytes == 0)
        return -ESTALE;
    struct cuda_block imported = {
        .bytes = bytes, .mapped_bytes = round_up(bytes, memory->granularity), .exported = 1};
    CUresult code = driver->cuMemImportFromShareableHandle(
        &imported.memory, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (code != CUDA_SUCCESS)
        return -ESTALE;
    code = map_block(memory, &imported, CU_MEM_ACCESS_FLAGS_PROT_READ);
    if (code == CUDA_ERROR_NOT_SUPPORTED || code == CUDA_ERROR_INVALID_VALUE)
        code = map_block(memory, &imported, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (code != CUDA_SUCCESS) {
        driver->cuMemRelease(imported.memory);
        return -ESTALE;
    }
    *block = imported;
    return 0;
}
