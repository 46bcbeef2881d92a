/*
 * The one place where pinned memory is made, which belongs to the start: the driver serialises it
 * with all else, so made while there is work it would hold that up. Made later it is counted in the
 * seat (allocations_after_start), and seen in the status.
 *
 * Called by cuda_ring.c and cuda_upload.c. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_PINNED_H
#define PAWL_GPU_WORKER_CUDA_PINNED_H

#include <stddef.h>

#include "gpu-worker/cuda_driver.h"

struct seat_page;

/* With the context current. seat: NULL: nobody wants to know. Given back with cuMemFreeHost. */
CUresult cuda_pinned_make(const struct cuda_driver *driver, struct seat_page *seat, void **memory,
                          size_t bytes);

#endif
