/*
 * See the header.
 */
#include "gpu-worker/cuda_ring.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "gpu-worker/cuda_pinned.h"
#include "shm/worker_start.h"

#define POLL_NS 20000

CUresult cuda_ring_create(struct cuda_ring *ring, const struct cuda_driver *driver,
                          struct seat_page *seat)
{
    void *memory = NULL;
    memset(ring, 0, sizeof(*ring));
    ring->driver = driver;
    CUresult code = cuda_pinned_make(driver, seat, &memory, CUDA_RING_SLOTS * CUDA_RING_SLOT_BYTES);
    ring->memory = memory;
    for (int i = 0; i < CUDA_RING_SLOTS && code == CUDA_SUCCESS; i++)
        code = driver->cuEventCreate(&ring->passed[i], CU_EVENT_DISABLE_TIMING);
    if (code != CUDA_SUCCESS)
        cuda_ring_destroy(ring);
    return code;
}

void cuda_ring_destroy(struct cuda_ring *ring)
{
    for (int i = 0; i < CUDA_RING_SLOTS; i++)
        if (ring->passed[i])
            ring->driver->cuEventDestroy(ring->passed[i]);
    if (ring->memory)
        ring->driver->cuMemFreeHost(ring->memory);
    memset(ring, 0, sizeof(*ring));
}

/* Polls, so that a GPU that hangs does not take this thread with it. */
static int wait_slot(struct cuda_ring *ring, unsigned slot)
{
    static const struct timespec pause = {.tv_nsec = POLL_NS};
    if (!ring->in_use[slot])
        return 0;
    uint64_t end_ns = worker_now_ns() + CUDA_RING_DEADLINE_MS * UINT64_C(1000000);
    for (;;) {
        CUresult code = ring->driver->cuEventQuery(ring->passed[slot]);
        if (code != CUDA_ERROR_NOT_READY)
            return code;
        if (worker_now_ns() > end_ns)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
}

static int send_piece(struct cuda_ring *ring, gpu_pointer to, const void *from, size_t bytes,
                      CUstream stream)
{
    unsigned slot = ring->next;
    char *memory = ring->memory + slot * CUDA_RING_SLOT_BYTES;
    int code = wait_slot(ring, slot);
    if (code)
        return code;
    memcpy(memory, from, bytes);
    code = ring->driver->cuMemcpyHtoDAsync(to, memory, bytes, stream);
    if (code)
        return code;
    ring->in_use[slot] = 1;
    ring->next = (slot + 1) % CUDA_RING_SLOTS;
    return ring->driver->cuEventRecord(ring->passed[slot], stream);
}

int cuda_ring_upload(struct cuda_ring *ring, gpu_pointer to, const void *from, size_t bytes,
                     CUstream stream)
{
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < CUDA_RING_SLOT_BYTES ? bytes - done : CUDA_RING_SLOT_BYTES;
        int code = send_piece(ring, to + done, (const char *)from + done, piece, stream);
        if (code)
            return code;
        done += piece;
    }
    return 0;
}
