/*
 * What happens when the driver answers with an error. Out of memory goes back to the caller. Any
 * other code leaves process and context in no state to go on with (the driver's own words for most
 * of them), so it ends the process: one log line, the code and its name into the seat, exit code
 * EXIT_DEVICE_LOST. The coordinator makes what was assigned again, elsewhere or by the next worker.
 *
 * Called by all of the CUDA device. A SIGKILL leaves the seat page as it was.
 */
#ifndef PAWL_GPU_WORKER_CUDA_FAULT_H
#define PAWL_GPU_WORKER_CUDA_FAULT_H

#include <stdint.h>

#include "gpu-worker/cuda_driver.h"

struct seat_page;

struct cuda_fault {
    const struct cuda_driver *driver;
    struct seat_page *seat;            /* NULL: nobody reads last words */
    char device[CUDA_UUID_TEXT_BYTES]; /* for the log */
};

/* 0 for CUDA_SUCCESS, -ENOMEM for out of memory; for any other code it does not return. `call`:
 * what was called, for the log. */
int cuda_fault_check(const struct cuda_fault *fault, CUresult code, const char *call);
/* Ends the process for that code. */
void cuda_fault_end(const struct cuda_fault *fault, CUresult code, const char *call)
    __attribute__((noreturn));
/* The device has not done in so many milliseconds what it should do in a twentieth of them. */
void cuda_fault_hang(const struct cuda_fault *fault, const char *what, uint64_t waited_ms)
    __attribute__((noreturn));

#endif
