/*
 * See the header.
 */
#include "gpu-worker/cuda_pinned.h"

#include "shm/seat.h"

CUresult cuda_pinned_make(const struct cuda_driver *driver, struct seat_page *seat, void **memory,
                          size_t bytes)
{
    struct seat_view view = {.stage = STAGE_STARTING};
    if (seat)
        seat_read(seat, &view);
    if (view.stage != STAGE_STARTING)
        seat_add_allocation(seat);
    return driver->cuMemHostAlloc(memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
}
