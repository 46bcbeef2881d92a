/*
 * See the header.
 */
#include "tests/gpu/gpu.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/program.h"

void gpu_check(struct gpu *gpu, CUresult code, const char *call)
{
    if (code != CUDA_SUCCESS)
        cuda_fault_end(&gpu->fault, code, call);
}

static int refuse(const char *name, const char *why)
{
    fprintf(stderr, "gpu-check: %s: %s\n", name, why);
    return EXIT_CONFIG;
}

int gpu_open(struct gpu *gpu, const char *name)
{
    struct cuda_code code = cuda_devices_own_code();
    char text[CUDA_WHY_BYTES];
    const char *why;
    memset(gpu, 0, sizeof(*gpu));
    if (cuda_driver_open(&gpu->driver, &why))
        return refuse(name, why);
    if (cuda_devices_find(&gpu->driver, name, &code, &gpu->facts, text, sizeof(text)))
        return refuse(name, text);
    gpu->fault.driver = &gpu->driver;
    snprintf(gpu->fault.device, sizeof(gpu->fault.device), "%s", gpu->facts.uuid);
    const struct cuda_driver *driver = &gpu->driver;
    gpu_check(gpu, driver->cuDevicePrimaryCtxRetain(&gpu->context, gpu->facts.device),
              "cuDevicePrimaryCtxRetain");
    gpu_check(gpu, driver->cuCtxSetCurrent(gpu->context), "cuCtxSetCurrent");
    gpu_check(gpu, driver->cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    gpu_check(gpu, driver->cuEventCreate(&gpu->begin, CU_EVENT_DEFAULT), "cuEventCreate");
    gpu_check(gpu, driver->cuEventCreate(&gpu->end, CU_EVENT_DEFAULT), "cuEventCreate");
    return 0;
}

void gpu_close(struct gpu *gpu)
{
    for (int i = 0; i < GPU_CURVES; i++)
        if (gpu->has_queue[i])
            cuda_queue_close(&gpu->queue[i]);
    gpu->driver.cuEventDestroy(gpu->begin);
    gpu->driver.cuEventDestroy(gpu->end);
    gpu->driver.cuStreamDestroy(gpu->stream);
    gpu->driver.cuDevicePrimaryCtxRelease(gpu->facts.device);
}

struct gpu_queue *gpu_queue_of(struct gpu *gpu, const struct curve *curve)
{
    unsigned number = curve->id == CURVE_BN254 ? 0 : 1;
    if (!gpu->has_queue[number]) {
        int error = cuda_queue_open(&gpu->queue[number], &gpu->fault, gpu->facts.device,
                                    gpu->stream, curve->id);
        if (error) {
            fprintf(stderr, "gpu-check: kernels of %s: %s\n", curve->name, strerror(-error));
            exit(EXIT_MACHINE);
        }
        gpu->has_queue[number] = 1;
    }
    return &gpu->queue[number].queue;
}

gpu_pointer gpu_allocate(struct gpu *gpu, size_t bytes)
{
    CUdeviceptr at = 0;
    gpu_check(gpu, gpu->driver.cuMemAlloc(&at, bytes ? bytes : 1), "cuMemAlloc");
    return at;
}

void gpu_free(struct gpu *gpu, gpu_pointer at)
{
    gpu_check(gpu, gpu->driver.cuMemFree(at), "cuMemFree");
}

void gpu_wait(struct gpu *gpu)
{
    gpu_check(gpu, gpu->driver.cuStreamSynchronize(gpu->stream), "cuStreamSynchronize");
}

void gpu_write(struct gpu *gpu, gpu_pointer to, const void *from, size_t bytes)
{
    gpu_check(gpu, gpu->driver.cuMemcpyHtoDAsync(to, from, bytes, gpu->stream),
              "cuMemcpyHtoDAsync");
    gpu_wait(gpu);
}

void gpu_read(struct gpu *gpu, void *to, gpu_pointer from, size_t bytes)
{
    gpu_check(gpu, gpu->driver.cuMemcpyDtoHAsync(to, from, bytes, gpu->stream),
              "cuMemcpyDtoHAsync");
    gpu_wait(gpu);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gpu_median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static double time_once_ms(struct gpu *gpu, void (*work)(void *arg), void *arg)
{
    float ms = 0;
    gpu_check(gpu, gpu->driver.cuEventRecord(gpu->begin, gpu->stream), "cuEventRecord");
    work(arg);
    gpu_check(gpu, gpu->driver.cuEventRecord(gpu->end, gpu->stream), "cuEventRecord");
    gpu_wait(gpu);
    gpu_check(gpu, gpu->driver.cuEventElapsedTime(&ms, gpu->begin, gpu->end), "cuEventElapsedTime");
    return (double)ms;
}

double gpu_time_ms(struct gpu *gpu, void (*work)(void *arg), void *arg, unsigned runs)
{
    double ms[GPU_RUNS_MOST];
    assert(runs > 0 && runs <= GPU_RUNS_MOST);
    if (runs > 1)
        time_once_ms(gpu, work, arg);
    for (unsigned i = 0; i < runs; i++)
        ms[i] = time_once_ms(gpu, work, arg);
    return gpu_median(ms, runs);
}
