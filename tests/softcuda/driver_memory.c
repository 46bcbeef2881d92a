/*
 * Device memory: addresses, pieces, cuMemAlloc and what belongs to it. A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/softcuda/driver_stream.h"

#define FIRST_ADDRESS 0xd00000000000ull /* beyond the 47 bits that a process has */
#define GAP_BYTES ((size_t)64 << 10)

static struct {
    struct soft_piece **pieces; /* by address */
    size_t count, room;
    CUdeviceptr next;
    size_t charged[SOFT_DEVICES_MOST];
} heap = {.next = FIRST_ADDRESS};

CUdeviceptr soft_memory_reserve(size_t bytes, size_t alignment)
{
    CUdeviceptr at = (heap.next + alignment - 1) / alignment * alignment;

    heap.next = at + bytes + GAP_BYTES;
    return at;
}

static size_t free_bytes_of(CUdevice device)
{
    size_t used = heap.charged[device] + (soft.contexts[device] ? SOFT_CONTEXT_BYTES : 0);

    return used < soft.options.memory_bytes ? soft.options.memory_bytes - used : 0;
}

int soft_memory_charge(CUdevice device, size_t bytes)
{
    if (bytes > free_bytes_of(device))
        return -ENOMEM;
    heap.charged[device] += bytes;
    return 0;
}

void soft_memory_refund(CUdevice device, size_t bytes)
{
    heap.charged[device] -= bytes;
}

/* The first piece that ends behind `at`. */
static size_t index_of(CUdeviceptr at)
{
    size_t low = 0, high = heap.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ptx_range *range = &heap.pieces[middle]->range;
        if (range->base + range->bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void soft_memory_insert(struct soft_piece *piece)
{
    if (heap.count == heap.room) {
        heap.room = heap.room ? 2 * heap.room : 64;
        heap.pieces = realloc(heap.pieces, heap.room * sizeof(heap.pieces[0]));
        if (!heap.pieces)
            abort();
    }
    size_t index = index_of(piece->range.base);
    memmove(heap.pieces + index + 1, heap.pieces + index,
            (heap.count - index) * sizeof(heap.pieces[0]));
    heap.pieces[index] = piece;
    heap.count++;
}

void soft_memory_remove(struct soft_piece *piece)
{
    size_t index = index_of(piece->range.base);

    heap.count--;
    memmove(heap.pieces + index, heap.pieces + index + 1,
            (heap.count - index) * sizeof(heap.pieces[0]));
}

struct soft_piece *soft_memory_find(CUdeviceptr at)
{
    size_t index = index_of(at);

    if (index == heap.count || at < heap.pieces[index]->range.base)
        return NULL;
    return heap.pieces[index];
}

unsigned char *soft_memory_resolve(CUdeviceptr at, size_t bytes, bool write)
{
    struct soft_piece *piece = soft_memory_find(at);

    if (!piece || !piece->accessible || (write && piece->range.read_only))
        return NULL;
    size_t offset = at - piece->range.base;
    if (bytes > piece->range.bytes - offset)
        return NULL;
    return piece->range.host + offset;
}

void soft_memory_mark(CUdeviceptr at, size_t bytes)
{
    struct soft_piece *piece = soft_memory_find(at);

    if (piece && piece->range.written)
        ptx_written_mark(&piece->range, at - piece->range.base, bytes, true);
}

struct soft_view *soft_view_take(CUdevice device)
{
    struct soft_view *view = malloc(sizeof(*view) + heap.count * sizeof(view->ranges[0]));

    if (!view)
        return NULL;
    view->count = 0;
    for (size_t i = 0; i < heap.count; i++)
        if (heap.pieces[i]->accessible && heap.pieces[i]->device == device)
            view->ranges[view->count++] = &heap.pieces[i]->range;
    return view;
}

const struct ptx_range *soft_view_find(void *owner, uint64_t address)
{
    const struct soft_view *view = owner;
    size_t low = 0, high = view->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ptx_range *range = view->ranges[middle];
        if (address < range->base)
            high = middle;
        else if (address - range->base >= range->bytes)
            low = middle + 1;
        else
            return range;
    }
    return NULL;
}

unsigned char *soft_memory_map(size_t bytes, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

uint8_t *soft_written_make(size_t bytes)
{
    return calloc(1, ptx_written_bytes(bytes));
}

static void free_piece(struct soft_piece *piece)
{
    munmap(piece->range.host, piece->range.bytes);
    free(piece->range.written);
    free(piece);
}

static struct soft_piece *make_piece(CUdevice device, size_t bytes)
{
    struct soft_piece *piece = calloc(1, sizeof(*piece));

    if (!piece)
        return NULL;
    piece->range.host = soft_memory_map(bytes, -1);
    piece->range.written = soft_written_make(bytes);
    if (!piece->range.host || !piece->range.written) {
        if (piece->range.host)
            munmap(piece->range.host, bytes);
        free(piece->range.written);
        free(piece);
        return NULL;
    }
    memset(piece->range.host, PTX_POISON, bytes);
    piece->range.bytes = bytes;
    piece->device = device;
    piece->accessible = true;
    return piece;
}

static CUresult allocate(CUdeviceptr *at, size_t bytes)
{
    CUdevice device = soft_current_device();

    if (!bytes || !at)
        return CUDA_ERROR_INVALID_VALUE;
    soft_trace("alloc bytes=%zu", bytes);
    if (soft_fault_allocation() || soft_memory_charge(device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct soft_piece *piece = make_piece(device, bytes);
    if (!piece) {
        soft_memory_refund(device, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* 256 and no more is what is promised */
    piece->range.base = soft_memory_reserve(bytes + 256, 512) + 256;
    soft_memory_insert(piece);
    *at = piece->range.base;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    CUresult code = soft_begin_in_context();

    return code ? code : soft_end(allocate(at, bytes));
}

static void release(struct soft_piece *piece)
{
    soft_memory_remove(piece);
    soft_memory_refund(piece->device, piece->range.bytes);
    free_piece(piece);
}

/* Waits for all that runs, as the real one does. */
CUresult cuMemFree_v2(CUdeviceptr at)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    if (!at)
        return soft_end(CUDA_SUCCESS);
    soft_streams_drain();
    struct soft_piece *piece = soft_memory_find(at);
    if (!piece || piece->range.base != at || piece->backing)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    release(piece);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    *free_bytes = free_bytes_of(soft_current_device());
    *total_bytes = soft.options.memory_bytes;
    return soft_end(CUDA_SUCCESS);
}

void soft_memory_release(CUdevice device)
{
    for (size_t i = heap.count; i-- > 0;)
        if (heap.pieces[i]->device == device && !heap.pieces[i]->backing)
            release(heap.pieces[i]);
}
