/*
 * A struct cuda_driver whose calls are played by the test, for what the software driver cannot
 * show: order, protection and timing of each call. Device memory is the test's own; a copy happens
 * only when an event behind it is asked for, so that whoever reuses memory too early is seen.
 * Header only; one per program.
 */
#ifndef PAWL_TESTS_GPU_WORKER_FAKE_DRIVER_H
#define PAWL_TESTS_GPU_WORKER_FAKE_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu-worker/cuda_driver.h"

enum { FAKE_CALLS = 256 };

struct fake_range {
    uintptr_t at;
    size_t bytes;
    unsigned flags;
    int writable; /* the mapping was, when it was registered */
};

struct fake_copy {
    uintptr_t to, from;
    size_t bytes;
    int from_registered;
};

static struct {
    pthread_mutex_t lock;
    struct fake_range registered[FAKE_CALLS]; /* in order; at 0: unregistered since */
    int registrations, unregistrations;
    int fail_from;       /* the n-th registration and those after it fail; 0: none */
    CUresult failure;    /* so */
    int no_read_only;    /* READ_ONLY is refused */
    _Atomic int holding; /* registrations wait as long as this is set */
    _Atomic int waiting; /* so many do */
    struct fake_copy copy[FAKE_CALLS];
    int copies, done;           /* those before `done` have happened */
    int pinned_blocks;          /* of cuMemHostAlloc, now */
    int pinned_total;           /* ever */
    int events;                 /* alive */
    int pinned_fails;           /* cuMemHostAlloc is out of memory */
    uint64_t event[FAKE_CALLS]; /* copies put in before it was recorded, by event number - 1 */
    int event_count;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* 1 where all of the mapping at `at` may be written, by what the kernel says. */
static inline int fake_is_writable(uintptr_t at)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long begin, end;
    char mode[8], line[512];
    int writable = 0;
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && at >= begin && at < end)
            writable = mode[1] == 'w';
    if (maps)
        fclose(maps);
    return writable;
}

static inline int fake_is_registered(uintptr_t at, size_t bytes)
{
    for (int i = 0; i < fake.registrations; i++)
        if (fake.registered[i].at && at >= fake.registered[i].at &&
            at + bytes <= fake.registered[i].at + fake.registered[i].bytes)
            return 1;
    return 0;
}

static inline CUresult fake_register(void *at, size_t bytes, unsigned flags)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    atomic_fetch_add(&fake.waiting, 1);
    while (atomic_load(&fake.holding))
        nanosleep(&pause, NULL);
    atomic_fetch_sub(&fake.waiting, 1);
    struct fake_range range = {(uintptr_t)at, bytes, flags, fake_is_writable((uintptr_t)at)};
    CUresult code = CUDA_SUCCESS;
    pthread_mutex_lock(&fake.lock);
    if (!range.writable && !(flags & CU_MEMHOSTREGISTER_READ_ONLY))
        code = CUDA_ERROR_INVALID_VALUE;
    if (fake.no_read_only && flags & CU_MEMHOSTREGISTER_READ_ONLY)
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (fake.fail_from && fake.registrations + 1 >= fake.fail_from)
        code = fake.failure;
    if (code == CUDA_SUCCESS && fake.registrations < FAKE_CALLS)
        fake.registered[fake.registrations++] = range;
    pthread_mutex_unlock(&fake.lock);
    return code;
}

static inline CUresult fake_unregister(void *at)
{
    CUresult code = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < fake.registrations; i++)
        if (fake.registered[i].at == (uintptr_t)at) {
            fake.registered[i].at = 0;
            fake.unregistrations++;
            code = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&fake.lock);
    return code;
}

static inline CUresult fake_copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    (void)stream;
    pthread_mutex_lock(&fake.lock);
    int direct = fake_is_registered((uintptr_t)from, bytes);
    if (fake.copies < FAKE_CALLS)
        fake.copy[fake.copies++] =
            (struct fake_copy){(uintptr_t)to, (uintptr_t)from, bytes, direct};
    pthread_mutex_unlock(&fake.lock);
    return CUDA_SUCCESS;
}

/* Lets the copies before `end` happen. */
static inline void fake_run_copies(int end)
{
    for (; fake.done < end; fake.done++) {
        const struct fake_copy *copy = &fake.copy[fake.done];
        memcpy((void *)copy->to, (const void *)copy->from, copy->bytes);
    }
}

static inline CUresult fake_host_alloc(void **at, size_t bytes, unsigned flags)
{
    (void)flags;
    if (fake.pinned_fails)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *at = malloc(bytes);
    fake.pinned_blocks++;
    fake.pinned_total++;
    return *at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static inline CUresult fake_host_free(void *at)
{
    free(at);
    fake.pinned_blocks--;
    return CUDA_SUCCESS;
}

static inline CUresult fake_event_create(CUevent *event, unsigned flags)
{
    (void)flags;
    if (fake.event_count == FAKE_CALLS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *event = (CUevent)(uintptr_t)++fake.event_count;
    fake.events++;
    return CUDA_SUCCESS;
}

static inline CUresult fake_event_destroy(CUevent event)
{
    (void)event;
    fake.events--;
    return CUDA_SUCCESS;
}

static inline CUresult fake_event_record(CUevent event, CUstream stream)
{
    (void)stream;
    fake.event[(uintptr_t)event - 1] = (uint64_t)fake.copies;
    return CUDA_SUCCESS;
}

/* Every other question finds the event not reached. */
static inline CUresult fake_event_query(CUevent event)
{
    static int asked;
    if (asked++ % 2 == 0)
        return CUDA_ERROR_NOT_READY;
    fake_run_copies((int)fake.event[(uintptr_t)event - 1]);
    return CUDA_SUCCESS;
}

static inline CUresult fake_set_current(CUcontext context)
{
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static inline struct cuda_driver fake_driver(void)
{
    return (struct cuda_driver){.cuCtxSetCurrent = fake_set_current,
                                .cuMemHostAlloc = fake_host_alloc,
                                .cuMemFreeHost = fake_host_free,
                                .cuMemHostRegister = fake_register,
                                .cuMemHostUnregister = fake_unregister,
                                .cuMemcpyHtoDAsync = fake_copy_in,
                                .cuEventCreate = fake_event_create,
                                .cuEventDestroy = fake_event_destroy,
                                .cuEventRecord = fake_event_record,
                                .cuEventQuery = fake_event_query};
}

/* As at the start; nothing of a test before is left. */
static inline void fake_reset(void)
{
    memset(fake.registered, 0, sizeof(fake.registered));
    fake.registrations = fake.unregistrations = fake.fail_from = fake.no_read_only = 0;
    fake.copies = fake.done = 0;
    fake.pinned_blocks = fake.pinned_total = fake.pinned_fails = 0;
    fake.events = fake.event_count = 0;
    atomic_store(&fake.holding, 0);
}

#endif
