/*
 * How slabs reach a GPU: each is registered once with the driver, so that copies out of it go at
 * the bus's speed and by themselves; where that cannot be, copies go through a small pinned ring
 * that was made at the start.
 *
 *   slabs_attach ──> a thread: for each slab, the wanted one first:
 *                      writable for a moment (discrete GPUs register nothing read-only),
 *                      register, read-only again
 *        an error ──> the rest is left alone and copied through the ring
 *
 * Who uploads from a slab that has not had its turn waits for just that one. A slab is one
 * registration, so no copy spans two. Pinned memory is made by cuda_pinning_create alone. The seat
 * page shows it: pinned, registered_bytes, registrations_total.
 *
 * Called by the CUDA device. attach, detach and want come from the socket's thread, uploads from
 * the prover's. A SIGKILL leaves nothing: the kernel unpins what a process had pinned.
 */
#ifndef PAWL_GPU_WORKER_CUDA_PINNING_H
#define PAWL_GPU_WORKER_CUDA_PINNING_H

#include <stddef.h>
#include <stdint.h>

#include "gpu-worker/cuda_driver.h"
#include "kernels/gpu_queue.h"

struct cuda_pinning;
struct device_slabs;
struct seat_page;

struct cuda_pinning_target {
    const struct cuda_driver *driver;
    CUcontext context;      /* current in the calling thread */
    int read_only;          /* the device registers read-only mappings */
    struct seat_page *seat; /* NULL: nobody wants to know */
};

/*
 * Makes the ring. 0; a code of the driver (> 0); or -ENOMEM. driver, context and seat live longer
 * than what is made.
 */
int cuda_pinning_create(struct cuda_pinning **pinning, const struct cuda_pinning_target *target);
/* Detaches and frees. No copy is under way. */
void cuda_pinning_destroy(struct cuda_pinning *pinning);

/*
 * Starts to register `slabs`, which it copies; none are attached now. 0, or -errno where the thread
 * cannot be started.
 */
int cuda_pinning_attach(struct cuda_pinning *pinning, const struct device_slabs *slabs);
/* Waits for the slab that is being registered, unregisters all. No copy from them is under way. */
void cuda_pinning_detach(struct cuda_pinning *pinning);
/* The slab that holds this address comes next. Does not wait. */
void cuda_pinning_want(struct cuda_pinning *pinning, const void *in_slab);

/*
 * Puts a copy to the device into the stream. From a registered slab it is asynchronous and `from`
 * stays as it is until the stream has passed it; from anywhere else the bytes have been taken when
 * this returns. One thread at a time. 0; a code of the driver (> 0); or -ETIMEDOUT where the ring
 * does not become free: the device hangs.
 */
int cuda_pinning_upload(struct cuda_pinning *pinning, gpu_pointer to, const void *from,
                        size_t bytes, CUstream stream);

#endif
