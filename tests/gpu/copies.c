/*
 * Copies to a GPU and what registering memory costs, by the size of its pages. See checks.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/worker_start.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"

struct pages {
    const char *name;
    int flags;  /* of mmap */
    int advice; /* of madvise; -1: none */
};

struct copy {
    struct gpu *gpu;
    gpu_pointer device;
    char *host;
    size_t bytes;
};

static void copy_in(void *arg)
{
    struct copy *copy = arg;
    gpu_check(copy->gpu,
              copy->gpu->driver.cuMemcpyHtoDAsync(copy->device, copy->host, copy->bytes,
                                                  copy->gpu->stream),
              "cuMemcpyHtoDAsync");
}

static void copy_out(void *arg)
{
    struct copy *copy = arg;
    gpu_check(copy->gpu,
              copy->gpu->driver.cuMemcpyDtoHAsync(copy->host, copy->device, copy->bytes,
                                                  copy->gpu->stream),
              "cuMemcpyDtoHAsync");
}

static void report(const char *pages, const char *what, size_t bytes, double ms)
{
    printf("{\"check\":\"copy\",\"pages\":\"%s\",\"what\":\"%s\",\"bytes\":%zu,\"ms\":%.6g,"
           "\"gb_per_s\":%.6g}\n",
           pages, what, bytes, ms, ms > 0 ? (double)bytes / ms / 1e6 : 0);
    fflush(stdout);
}

static void report_absent(const char *pages, const char *why)
{
    printf("{\"check\":\"copy\",\"pages\":\"%s\",\"what\":\"absent\",\"why\":\"%s\"}\n", pages,
           why);
}

/* Wall time: a copy from pageable memory keeps the caller, not the stream. */
static double time_wall_ms(struct gpu *gpu, void (*work)(void *arg), void *arg, unsigned runs)
{
    double ms[GPU_RUNS_MOST];
    work(arg);
    gpu_wait(gpu);
    for (unsigned i = 0; i < runs; i++) {
        uint64_t begin_ns = worker_now_ns();
        work(arg);
        gpu_wait(gpu);
        ms[i] = (double)(worker_now_ns() - begin_ns) / 1e6;
    }
    return gpu_median(ms, runs);
}

/* 0; 1 where the device registers no such memory. */
static int measure_registering(struct copy *copy, const char *pages)
{
    const struct cuda_driver *driver = &copy->gpu->driver;
    uint64_t begin_ns = worker_now_ns();
    CUresult code = driver->cuMemHostRegister(copy->host, copy->bytes, CU_MEMHOSTREGISTER_PORTABLE);
    double ms = (double)(worker_now_ns() - begin_ns) / 1e6;
    if (code != CUDA_SUCCESS) {
        report_absent(pages, cuda_driver_error_name(driver, code));
        return 1;
    }
    report(pages, "register", copy->bytes, ms);
    return 0;
}

static void measure_unregistering(struct copy *copy, const char *pages)
{
    uint64_t begin_ns = worker_now_ns();
    gpu_check(copy->gpu, copy->gpu->driver.cuMemHostUnregister(copy->host), "cuMemHostUnregister");
    report(pages, "unregister", copy->bytes, (double)(worker_now_ns() - begin_ns) / 1e6);
}

static void measure_copies(struct copy *copy, const char *pages, const char *in, const char *out,
                           unsigned runs)
{
    report(pages, in, copy->bytes, time_wall_ms(copy->gpu, copy_in, copy, runs));
    report(pages, out, copy->bytes, time_wall_ms(copy->gpu, copy_out, copy, runs));
}

static void measure_pages(const struct check_options *options, struct copy *copy,
                          const struct pages *pages)
{
    copy->host = mmap(NULL, copy->bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | pages->flags, -1, 0);
    if (copy->host == MAP_FAILED) {
        report_absent(pages->name, strerror(errno));
        return;
    }
    if (pages->advice >= 0 && madvise(copy->host, copy->bytes, pages->advice))
        report_absent(pages->name, strerror(errno));
    memset(copy->host, 1, copy->bytes);
    measure_copies(copy, pages->name, "in, not registered", "out, not registered", options->runs);
    if (measure_registering(copy, pages->name) == 0) {
        measure_copies(copy, pages->name, "in, registered", "out, registered", options->runs);
        measure_unregistering(copy, pages->name);
    }
    munmap(copy->host, copy->bytes);
}

int check_copies(const struct check_options *options, struct gpu *gpu)
{
    static const struct pages kinds[] = {
        {"4 KiB, shared", 0, MADV_NOHUGEPAGE},
        {"huge where there are, shared", 0, MADV_HUGEPAGE},
        {"hugetlb, shared", MAP_HUGETLB, -1},
    };
    struct copy copy = {.gpu = gpu, .bytes = (size_t)options->megabytes << 20};
    copy.device = gpu_allocate(gpu, copy.bytes);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        measure_pages(options, &copy, &kinds[i]);
    gpu_free(gpu, copy.device);
    return 0;
}
