/*
 * Virtual memory management: memory with a handle, addresses for it, and access. Memory is a memfd,
 * so its fd keeps it when this process is gone, as the real one's does. As on a GPU: sizes are
 * multiples of the granularity, a mapping is without access until it is given some, a handle may be
 * released while mapped. A SIGKILL leaves what others hold an fd of.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/softcuda/driver_memory.h"
#include "tests/softcuda/driver_stream.h"

struct soft_memory {
    LIST_ENTRY(soft_memory) link;
    CUmemGenericAllocationHandle handle;
    CUdevice device;
    int fd;
    size_t bytes;
    unsigned char *host;
    uint8_t *written; /* NULL for what was imported: others wrote it */
    unsigned mappings;
    bool exportable, released;
};

struct reservation {
    LIST_ENTRY(reservation) link;
    CUdeviceptr at;
    size_t bytes;
};

static LIST_HEAD(, soft_memory) memories = LIST_HEAD_INITIALIZER(memories);
static LIST_HEAD(, reservation) reservations = LIST_HEAD_INITIALIZER(reservations);
static CUmemGenericAllocationHandle last_handle = 0x1000;

static CUresult begin(void)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    return soft.options.novmm ? soft_end(CUDA_ERROR_NOT_SUPPORTED) : CUDA_SUCCESS;
}

static struct soft_memory *find(CUmemGenericAllocationHandle handle)
{
    struct soft_memory *memory;

    LIST_FOREACH(memory, &memories, link)
    if (memory->handle == handle && !memory->released)
        return memory;
    return NULL;
}

static void drop_if_unused(struct soft_memory *memory)
{
    if (memory->mappings || !memory->released)
        return;
    LIST_REMOVE(memory, link);
    soft_memory_refund(memory->device, memory->bytes);
    munmap(memory->host, memory->bytes);
    close(memory->fd);
    free(memory->written);
    free(memory);
}

/* Takes `fd` over where it succeeds. */
static struct soft_memory *insert(int fd, size_t bytes, CUdevice device)
{
    struct soft_memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->host = soft_memory_map(bytes, fd);
    if (!memory->host || soft_memory_charge(device, bytes)) {
        if (memory->host)
            munmap(memory->host, bytes);
        free(memory);
        return NULL;
    }
    memory->fd = fd;
    memory->bytes = bytes;
    memory->device = device;
    memory->handle = ++last_handle;
    LIST_INSERT_HEAD(&memories, memory, link);
    return memory;
}

static bool are_properties(const struct cuda_memory_properties *properties)
{
    return properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           properties->location.id >= 0 && (unsigned)properties->location.id < soft.visible_count &&
           !properties->win32_handle_metadata &&
           (properties->requested_handle_types == CU_MEM_HANDLE_TYPE_NONE ||
            properties->requested_handle_types == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

/* The name tells an importer that it is ours, and of which device. */
static int make_fd(CUdevice device, size_t bytes)
{
    char name[32];

    snprintf(name, sizeof(name), "softcuda-%u", soft.visible[device]);
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
        close(fd);
        return -1;
    }
    return fd;
}

static CUresult create(CUmemGenericAllocationHandle *handle, size_t bytes,
                       const struct cuda_memory_properties *properties)
{
    CUdevice device = properties->location.id;

    if (soft_fault_allocation())
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = make_fd(device, bytes);
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct soft_memory *memory = insert(fd, bytes, device);
    if (!memory) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory->written = soft_written_make(bytes);
    memory->exportable = properties->requested_handle_types != CU_MEM_HANDLE_TYPE_NONE;
    memset(memory->host, PTX_POISON, bytes);
    *handle = memory->handle;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const struct cuda_memory_properties *properties, unsigned long long flags)
{
    CUresult code = begin();

    if (code)
        return code;
    if (!handle || !bytes || bytes % SOFT_GRANULARITY || flags || !are_properties(properties))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    code = create(handle, bytes, properties);
    soft_trace("create bytes=%zu code=%d", bytes, code);
    return soft_end(code);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult code = begin();

    if (code)
        return code;
    struct soft_memory *memory = find(handle);
    if (!memory)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    memory->released = true;
    drop_if_unused(memory);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(size_t *bytes,
                                       const struct cuda_memory_properties *properties, int option)
{
    CUresult code = begin();

    if (code)
        return code;
    if (!bytes || !are_properties(properties) || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    *bytes = SOFT_GRANULARITY;
    return soft_end(CUDA_SUCCESS);
}

CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags)
{
    CUresult code = begin();

    (void)wish; /* a wish is all that it is */
    if (code)
        return code;
    if (!at || !bytes || bytes % SOFT_GRANULARITY || (alignment & (alignment - 1)) || flags)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    struct reservation *reservation = calloc(1, sizeof(*reservation));
    if (!reservation)
        return soft_end(CUDA_ERROR_OUT_OF_MEMORY);
    alignment = alignment < SOFT_GRANULARITY ? SOFT_GRANULARITY : alignment;
    reservation->at = *at = soft_memory_reserve(bytes, alignment);
    reservation->bytes = bytes;
    LIST_INSERT_HEAD(&reservations, reservation, link);
    return soft_end(CUDA_SUCCESS);
}

static struct reservation *reservation_of(CUdeviceptr at, size_t bytes)
{
    struct reservation *r;

    LIST_FOREACH(r, &reservations, link)
    if (at >= r->at && at - r->at <= r->bytes && bytes <= r->bytes - (at - r->at))
        return r;
    return NULL;
}

static bool is_mapped(CUdeviceptr at, size_t bytes)
{
    for (size_t offset = 0; offset < bytes; offset += SOFT_GRANULARITY)
        if (soft_memory_find(at + offset))
            return true;
    return false;
}

CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
    CUresult code = begin();

    if (code)
        return code;
    struct reservation *reservation = reservation_of(at, bytes);
    if (!reservation || reservation->at != at || reservation->bytes != bytes ||
        is_mapped(at, bytes))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    LIST_REMOVE(reservation, link);
    free(reservation);
    return soft_end(CUDA_SUCCESS);
}

static CUresult map(CUdeviceptr at, size_t bytes, struct soft_memory *memory)
{
    struct soft_piece *piece = calloc(1, sizeof(*piece));

    if (!piece)
        return CUDA_ERROR_OUT_OF_MEMORY;
    piece->range = (struct ptx_range){
        .base = at, .bytes = bytes, .host = memory->host, .written = memory->written};
    piece->device = memory->device;
    piece->backing = memory;
    memory->mappings++;
    soft_memory_insert(piece);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUresult code = begin();

    if (code)
        return code;
    struct soft_memory *memory = find(handle);
    if (!memory || offset || flags || !bytes || bytes % SOFT_GRANULARITY || bytes > memory->bytes ||
        at % SOFT_GRANULARITY || !reservation_of(at, bytes) || is_mapped(at, bytes))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    return soft_end(map(at, bytes, memory));
}

/* Whole mappings only. */
static CUresult unmap(CUdeviceptr at, size_t bytes)
{
    struct soft_piece *piece = soft_memory_find(at);

    if (!piece || !piece->backing || piece->range.base != at || piece->range.bytes != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    struct soft_memory *memory = piece->backing;
    soft_memory_remove(piece);
    free(piece);
    memory->mappings--;
    drop_if_unused(memory);
    return CUDA_SUCCESS;
}

/* Nobody promises that it waits for what is queued: that finds the memory gone. */
CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
    CUresult code = begin();

    if (code)
        return code;
    soft_streams_hold();
    code = unmap(at, bytes);
    soft_streams_go();
    return soft_end(code);
}

static bool is_access(const struct cuda_memory_access *access, size_t count)
{
    return access && count == 1 && access->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           access->location.id == soft_current_device() &&
           (access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
            access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
            access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

/* A range may hold several mappings, all of them whole and none missing. */
static bool is_whole(CUdeviceptr at, size_t bytes)
{
    CUdeviceptr end = at + bytes;

    while (at < end) {
        struct soft_piece *piece = soft_memory_find(at);
        if (!piece || !piece->backing || piece->range.base != at || piece->range.bytes > end - at)
            return false;
        at += piece->range.bytes;
    }
    return true;
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const struct cuda_memory_access *access,
                        size_t count)
{
    CUresult code = begin();

    if (code)
        return code;
    if (!bytes || !is_access(access, count) || !is_whole(at, bytes))
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    if (soft.options.noprotect && access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return soft_end(CUDA_ERROR_NOT_SUPPORTED);
    for (CUdeviceptr next = at; next < at + bytes;) {
        struct soft_piece *piece = soft_memory_find(next);
        piece->accessible = access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        piece->range.read_only = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
        next += piece->range.bytes;
    }
    return soft_end(CUDA_SUCCESS);
}

/* The new fd lacks O_CLOEXEC, so that a caller that forgets to set it is found out. */
CUresult cuMemExportToShareableHandle(void *fd, CUmemGenericAllocationHandle handle,
                                      int handle_type, unsigned long long flags)
{
    CUresult code = begin();

    if (code)
        return code;
    struct soft_memory *memory = find(handle);
    if (!fd || !memory || !memory->exportable || flags ||
        handle_type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    int copy = dup(memory->fd);
    if (copy < 0)
        return soft_end(CUDA_ERROR_OPERATING_SYSTEM);
    memcpy(fd, &copy, sizeof(copy));
    soft_trace("export bytes=%zu", memory->bytes);
    return soft_end(CUDA_SUCCESS);
}

/* The visible device that the memory behind `fd` is of, or -1. */
static CUdevice device_of_fd(int fd)
{
    char path[64], target[64] = "";
    unsigned index;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof(target) - 1) < 0 ||
        sscanf(target, "/memfd:softcuda-%u", &index) != 1)
        return -1;
    for (unsigned i = 0; i < soft.visible_count; i++)
        if (soft.visible[i] == index)
            return (CUdevice)i;
    return -1;
}

static CUresult import(CUmemGenericAllocationHandle *handle, int fd)
{
    CUdevice device = device_of_fd(fd);
    struct stat status;

    if (device < 0 || fstat(fd, &status) || status.st_size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    struct soft_memory *memory = insert(own, (size_t)status.st_size, device);
    if (!memory) {
        close(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory->exportable = true;
    *handle = memory->handle;
    soft_trace("import bytes=%zu", memory->bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *fd,
                                        int handle_type)
{
    CUresult code = begin();

    if (code)
        return code;
    if (!handle || handle_type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    return soft_end(import(handle, (int)(intptr_t)fd));
}
