/*
 * Copies between host and device, and filling. As on a GPU: memory that the driver does not know is
 * read before the call returns and written before the call returns; pinned memory is read and
 * written when the copy's turn comes, which a caller that goes on to use it too early will notice.
 * A SIGKILL leaves nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/softcuda/driver_host.h"
#include "tests/softcuda/driver_memory.h"
#include "tests/softcuda/driver_stream.h"

struct copy_op {
    struct soft_op op;
    CUdeviceptr device;
    unsigned char *device_host; /* where that lies, when its turn has come */
    unsigned char *host, *owned;
    size_t bytes;
    unsigned char value;
    bool out, fill, flip;
};

/* So long may a copy of pinned memory be in coming: who does not wait for it sees that. */
#define LATE_NS_MOST 100000u

static void be_late(const struct copy_op *copy)
{
    uint64_t mixed = (copy->device + copy->bytes) * 0x9e3779b97f4a7c15u >> 32;
    struct timespec late = {0, (long)(mixed % LATE_NS_MOST)};

    nanosleep(&late, NULL);
}

static void flip_bit(struct copy_op *copy)
{
    uint64_t bit = soft.options.seed * 0x9e3779b97f4a7c15u % (copy->bytes * 8);

    copy->host[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

/* It may have been unmapped meanwhile; not while this runs. */
static bool find_device_memory(struct copy_op *copy)
{
    pthread_mutex_lock(&soft.lock);
    copy->device_host = soft_memory_resolve(copy->device, copy->bytes, !copy->out);
    pthread_mutex_unlock(&soft.lock);
    return copy->device_host != NULL;
}

static CUresult run_copy(struct soft_op *op)
{
    struct copy_op *copy = (struct copy_op *)op;

    if (!find_device_memory(copy)) {
        op->why = strdup("a copy, or a filling, of memory that is mapped no longer");
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (!copy->owned && !copy->fill)
        be_late(copy);
    if (copy->fill)
        memset(copy->device_host, copy->value, copy->bytes);
    else if (copy->out)
        memcpy(copy->host, copy->device_host, copy->bytes);
    else
        memcpy(copy->device_host, copy->owned ? copy->owned : copy->host, copy->bytes);
    if (copy->flip)
        flip_bit(copy);
    return CUDA_SUCCESS;
}

static void end_copy(struct soft_op *op)
{
    struct copy_op *copy = (struct copy_op *)op;

    if (!copy->out && !soft.sticky)
        soft_memory_mark(copy->device, copy->bytes);
    free(copy->owned);
    free(copy);
}

static CUresult take_source(struct copy_op *copy)
{
    copy->owned = malloc(copy->bytes);
    if (!copy->owned)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy->owned, copy->host, copy->bytes);
    return CUDA_SUCCESS;
}

/* Checks all that can be told at once, and queues a copy of `wish`. */
static CUresult put_copy(const struct copy_op *wish, CUstream handle)
{
    enum soft_host_kind kind =
        wish->fill ? SOFT_HOST_PINNED : soft_host_kind(wish->host, wish->bytes);
    bool is_there = soft_memory_resolve(wish->device, wish->bytes, !wish->out) != NULL;
    CUstream stream = soft_stream_find(handle);
    struct copy_op *copy;

    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!wish->bytes)
        return CUDA_SUCCESS;
    if (!is_there || kind == SOFT_HOST_MIXED)
        return CUDA_ERROR_INVALID_VALUE;
    copy = malloc(sizeof(*copy));
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = *wish;
    copy->flip = copy->out && soft_fault_copy_out();
    copy->op = (struct soft_op){.run = run_copy, .end = end_copy};
    if (kind == SOFT_HOST_PAGEABLE && !copy->out && take_source(copy)) {
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    bool wait = kind == SOFT_HOST_PAGEABLE && copy->out;
    soft_stream_put(stream, &copy->op);
    if (wait)
        soft_stream_wait(stream);
    return soft.sticky;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    CUresult code = soft_begin_in_context();
    struct copy_op copy = {.device = to, .host = (unsigned char *)(uintptr_t)from, .bytes = bytes};

    if (code)
        return code;
    code = put_copy(&copy, stream);
    soft.counts.bytes_in += code ? 0 : bytes;
    soft_trace("copy_in bytes=%zu pinned=%d code=%d", bytes,
               soft_host_kind(from, bytes) == SOFT_HOST_PINNED, code);
    return soft_end(code);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUresult code = soft_begin_in_context();
    struct copy_op copy = {.device = from, .host = to, .bytes = bytes, .out = true};

    if (code)
        return code;
    code = put_copy(&copy, stream);
    soft.counts.bytes_out += code ? 0 : bytes;
    soft_trace("copy_out bytes=%zu code=%d", bytes, code);
    return soft_end(code);
}

CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
    CUresult code = soft_begin_in_context();
    struct copy_op copy = {.device = at, .value = value, .bytes = bytes, .fill = true};

    return code ? code : soft_end(put_copy(&copy, stream));
}
