/*
 * The CPU device behind a gate that a test in another process opens: prove() says that it is there,
 * waits to be let through (or to be cancelled), and then may be told to give wrong sums. Where
 * `staging` was set before the worker began it takes the next witness early, too, or says that it
 * does. Header only.
 */
#ifndef PAWL_TESTS_GPU_WORKER_GATE_DEVICE_H
#define PAWL_TESTS_GPU_WORKER_GATE_DEVICE_H

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu-worker/device.h"
#include "kernels/curves.h"

/* In memory that test and worker share. */
struct gate {
    sem_t arrived; /* posted by each prove() */
    sem_t go;      /* waited for by each prove(), where `closed` */
    _Atomic int closed, wrong_sums, failing;
    _Atomic int staging;                   /* has stage and unstage, and calls the watch's idle */
    _Atomic int stages, unstages, skipped; /* calls; proofs of what was not the staged */
    /* what it was told of slabs: how often they came and went, how many, which is wanted */
    _Atomic int attached, detached, slabs;
    _Atomic uint64_t wanted; /* its offset + 1 */
};

static struct gate *gate;

static inline void gate_create(void)
{
    gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(gate != MAP_FAILED);
    assert(sem_init(&gate->arrived, 1, 0) == 0 && sem_init(&gate->go, 1, 0) == 0);
}

static inline void gate_destroy(void)
{
    sem_destroy(&gate->arrived);
    sem_destroy(&gate->go);
    munmap(gate, sizeof(*gate));
}

struct gate_device {
    struct device device;
    struct device *cpu;
    const uint64_t *staged;     /* a witness */
    const volatile char *slabs; /* as long as they are attached */
};

static int gate_pass(struct device_watch *watch)
{
    while (atomic_load(&gate->closed)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (sem_timedwait(&gate->go, &until) == 0)
            return 0;
        if (watch->cancelled(watch))
            return -ECANCELED;
        if (watch->idle)
            watch->idle(watch);
    }
    return 0;
}

static int gate_stage(struct device *device, struct device_key *key, const struct device_work *work)
{
    struct gate_device *self = (struct gate_device *)device;
    (void)key;
    assert(!self->staged);
    self->staged = work->witness;
    atomic_fetch_add(&gate->stages, 1);
    return 0;
}

static void gate_unstage(struct device *device)
{
    struct gate_device *self = (struct gate_device *)device;
    if (self->staged)
        atomic_fetch_add(&gate->unstages, 1);
    self->staged = NULL;
}

static int gate_prove(struct device *device, struct device_key *key, const struct device_work *work,
                      struct device_watch *watch, struct proof_sums *sums,
                      struct device_times *times)
{
    struct gate_device *self = (struct gate_device *)device;
    if (self->staged && self->staged != work->witness)
        atomic_fetch_add(&gate->skipped, 1);
    self->staged = NULL;
    sem_post(&gate->arrived);
    int error = gate_pass(watch);
    if (!error && atomic_load(&gate->failing))
        error = -EIO;
    if (!error)
        error = self->cpu->operations->prove(self->cpu, key, work, watch, sums, times);
    if (!error && atomic_load(&gate->wrong_sums))
        sums->c.word[0] ^= 1;
    return error;
}

static void gate_close(struct device *device)
{
    struct gate_device *self = (struct gate_device *)device;
    self->cpu->operations->close(self->cpu);
    free(self);
}

static void gate_describe(const struct device *device, struct device_description *out)
{
    const struct gate_device *self = (const struct gate_device *)device;
    self->cpu->operations->describe(self->cpu, out);
}

static int gate_key_load(struct device *device, const struct curve *curve,
                         const struct image *image, struct device_key **key)
{
    struct gate_device *self = (struct gate_device *)device;
    return self->cpu->operations->key_load(self->cpu, curve, image, key);
}

static void gate_key_drop(struct device *device, struct device_key *key)
{
    struct gate_device *self = (struct gate_device *)device;
    self->cpu->operations->key_drop(self->cpu, key);
}

static int gate_slabs_attach(struct device *device, const struct device_slabs *slabs)
{
    struct gate_device *self = (struct gate_device *)device;
    assert(!self->slabs);
    self->slabs = slabs->base;
    atomic_store(&gate->slabs, (int)slabs->count);
    atomic_fetch_add(&gate->attached, 1);
    return 0;
}

static void gate_slabs_detach(struct device *device)
{
    struct gate_device *self = (struct gate_device *)device;
    if (!self->slabs)
        return;
    (void)self->slabs[0]; /* they are still mapped */
    self->slabs = NULL;
    atomic_fetch_add(&gate->detached, 1);
}

static void gate_slab_want(struct device *device, const void *slab)
{
    struct gate_device *self = (struct gate_device *)device;
    atomic_store(&gate->wanted, (uint64_t)((const volatile char *)slab - self->slabs) + 1);
}

static struct device *gate_open(const char *name, const struct device_settings *settings,
                                const char **why)
{
    static struct device_operations operations = {.close = gate_close,
                                                  .describe = gate_describe,
                                                  .key_load = gate_key_load,
                                                  .key_drop = gate_key_drop,
                                                  .prove = gate_prove,
                                                  .slabs_attach = gate_slabs_attach,
                                                  .slabs_detach = gate_slabs_detach,
                                                  .slab_want = gate_slab_want};
    struct gate_device *self = calloc(1, sizeof(*self));
    assert(self);
    if (atomic_load(&gate->staging)) {
        operations.stage = gate_stage;
        operations.unstage = gate_unstage;
    }
    self->device.operations = &operations;
    self->cpu = device_open(name, settings, why);
    assert(self->cpu);
    return &self->device;
}

#endif
