/*
 * Pinned host memory: registration of the program's, and memory of our own. Registering asks what
 * a discrete card's driver asks: that all of it is mapped, and writable, and not registered yet.
 * A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

#include "tests/softcuda/driver_stream.h"
#include "tests/softcuda/ptx.h"

#define PAGE_BYTES 4096u

struct pinned {
    LIST_ENTRY(pinned) link;
    uintptr_t at;
    size_t bytes;
    bool own; /* by cuMemHostAlloc */
};

static LIST_HEAD(, pinned) all = LIST_HEAD_INITIALIZER(all);

static uintptr_t page_of(uintptr_t at)
{
    return at / PAGE_BYTES;
}

/* Pages are what is pinned: two pieces may not share one. */
static bool overlaps(uintptr_t at, size_t bytes)
{
    const struct pinned *pinned;

    LIST_FOREACH(pinned, &all, link)
    if (page_of(at) <= page_of(pinned->at + pinned->bytes - 1) &&
        page_of(pinned->at) <= page_of(at + bytes - 1))
        return true;
    return false;
}

enum soft_host_kind soft_host_kind(const void *from, size_t bytes)
{
    uintptr_t at = (uintptr_t)from;
    const struct pinned *pinned;
    bool touched = false;

    LIST_FOREACH(pinned, &all, link)
    {
        if (at >= pinned->at && at + bytes <= pinned->at + pinned->bytes)
            return SOFT_HOST_PINNED;
        touched |= at < pinned->at + pinned->bytes && pinned->at < at + bytes;
    }
    return touched ? SOFT_HOST_MIXED : SOFT_HOST_PAGEABLE;
}

enum mapped { MAPPED_NOT, MAPPED_READ_ONLY, MAPPED_WRITABLE };

/* Whether [at, end) is mapped without a hole, and may be written throughout. */
static enum mapped look_up_mapping(uintptr_t at, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    enum mapped mapped = MAPPED_WRITABLE;
    char line[PATH_MAX + 128], rights[5];
    unsigned long begin, limit;

    if (!maps)
        return MAPPED_NOT;
    while (at < end && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx %4s", &begin, &limit, rights) != 3 || limit <= at)
            continue;
        if (begin > at || rights[0] != 'r')
            break;
        if (rights[1] != 'w')
            mapped = MAPPED_READ_ONLY;
        at = limit;
    }
    fclose(maps);
    return at < end ? MAPPED_NOT : mapped;
}

/* Read-only mappings: refused by discrete cards, which pin pages for writing. */
static CUresult check_mapping(uintptr_t at, size_t bytes, unsigned flags)
{
    bool read_only = flags & CU_MEMHOSTREGISTER_READ_ONLY;

    if (soft.options.noregister || (read_only && !soft.options.roregister))
        return CUDA_ERROR_NOT_SUPPORTED;
    switch (look_up_mapping(at, at + bytes)) {
    case MAPPED_WRITABLE:
        return CUDA_SUCCESS;
    case MAPPED_READ_ONLY:
        return read_only ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult insert(uintptr_t at, size_t bytes, bool own)
{
    struct pinned *pinned = calloc(1, sizeof(*pinned));

    if (!pinned)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pinned->at = at;
    pinned->bytes = bytes;
    pinned->own = own;
    LIST_INSERT_HEAD(&all, pinned, link);
    return CUDA_SUCCESS;
}

static struct pinned *find(const void *at, bool own)
{
    struct pinned *pinned;

    LIST_FOREACH(pinned, &all, link)
    if (pinned->at == (uintptr_t)at && pinned->own == own)
        return pinned;
    return NULL;
}

static CUresult register_host(void *at, size_t bytes, unsigned flags)
{
    uintptr_t begin = (uintptr_t)at;

    if (!at || !bytes || begin + bytes < begin || flags > 0xf)
        return CUDA_ERROR_INVALID_VALUE;
    if (overlaps(begin, bytes))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    CUresult code = check_mapping(begin, bytes, flags);
    return code ? code : insert(begin, bytes, false);
}

CUresult cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    code = register_host(at, bytes, flags);
    soft_trace("register at=%p bytes=%zu flags=%u code=%d", at, bytes, flags, code);
    return soft_end(code);
}

/* Waits for what runs: it may read there. */
CUresult cuMemHostUnregister(void *at)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    soft_streams_drain();
    struct pinned *pinned = find(at, false);
    if (!pinned)
        return soft_end(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    soft_trace("unregister at=%p bytes=%zu", at, pinned->bytes);
    LIST_REMOVE(pinned, link);
    free(pinned);
    return soft_end(CUDA_SUCCESS);
}

static CUresult allocate_host(void **at, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = insert((uintptr_t)memory, bytes, true);
    if (code) {
        munmap(memory, bytes);
        return code;
    }
    memset(memory, PTX_POISON, bytes);
    *at = memory;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    soft_trace("host_alloc bytes=%zu flags=%u", bytes, flags);
    if (!at || !bytes || flags > 7)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    return soft_end(allocate_host(at, bytes));
}

CUresult cuMemFreeHost(void *at)
{
    CUresult code = soft_begin_in_context();

    if (code)
        return code;
    soft_streams_drain();
    struct pinned *pinned = find(at, true);
    if (!pinned)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    munmap(at, pinned->bytes);
    LIST_REMOVE(pinned, link);
    free(pinned);
    return soft_end(CUDA_SUCCESS);
}
