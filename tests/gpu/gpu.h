/*
 * A GPU as the checks of tests/gpu use it directly: memory, copies, a queue for each curve, and
 * times by the GPU's own clock. Any error of the driver ends the process, with a log line.
 */
#ifndef PAWL_TESTS_GPU_GPU_H
#define PAWL_TESTS_GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "gpu-worker/cuda_devices.h"
#include "gpu-worker/cuda_driver.h"
#include "gpu-worker/cuda_fault.h"
#include "gpu-worker/cuda_queue.h"

#define GPU_CURVES 2
#define GPU_RUNS_MOST 64

struct gpu {
    struct cuda_driver driver;
    struct cuda_facts facts;
    struct cuda_fault fault;
    CUcontext context;
    CUstream stream;
    CUevent begin, end;
    struct cuda_queue queue[GPU_CURVES];
    int has_queue[GPU_CURVES];
};

/* By "cuda:N" or UUID. 0, or an exit code having said why on stderr. */
int gpu_open(struct gpu *gpu, const char *name);
void gpu_close(struct gpu *gpu);

struct gpu_queue *gpu_queue_of(struct gpu *gpu, const struct curve *curve);
gpu_pointer gpu_allocate(struct gpu *gpu, size_t bytes);
void gpu_free(struct gpu *gpu, gpu_pointer at);
/* Return when the bytes are there. */
void gpu_write(struct gpu *gpu, gpu_pointer to, const void *from, size_t bytes);
void gpu_read(struct gpu *gpu, void *to, gpu_pointer from, size_t bytes);
void gpu_wait(struct gpu *gpu);
/* Ends the process where `code` is an error. */
void gpu_check(struct gpu *gpu, CUresult code, const char *call);

/* The median of `runs` runs in ms of the GPU's clock, after one that does not count; of a single
 * run its own time. */
double gpu_time_ms(struct gpu *gpu, void (*work)(void *arg), void *arg, unsigned runs);
double gpu_median(double *values, unsigned count);

#endif
