/*
 * See the header. One lock for what the threads share: where each slab is, and whose turn is next.
 *
 *   PENDING ──its turn──> REGISTERED
 *      └──registering failed, for this slab or one before it──> LEFT (the ring)
 */
#include "gpu-worker/cuda_pinning.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu-worker/cuda_ring.h"
#include "gpu-worker/device.h"
#include "shm/program.h"
#include "shm/seat.h"
#include "shm/worker_start.h"

enum pin_state { PIN_PENDING, PIN_REGISTERED, PIN_LEFT };

#define NO_SLAB SLABS_MAX
#define TURN_NOW 0u            /* somebody waits for it */
#define TURN_LAST (UINT32_MAX) /* nobody has asked */

struct cuda_pinning {
    struct cuda_pinning_target target;
    struct cuda_ring ring;
    pthread_t thread;
    int attached;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slab's state */
    /* ---- under the lock ---- */
    struct device_slabs slabs;
    enum pin_state state[SLABS_MAX];
    uint32_t turn[SLABS_MAX];
    uint32_t wishes;
    int stopping;
};

/* ---- one slab ---- */

static char *slab_address(const struct cuda_pinning *pinning, unsigned slab)
{
    return (char *)pinning->slabs.base + pinning->slabs.slab[slab].offset;
}

static void set_writable(const struct cuda_pinning *pinning, unsigned slab, int writable)
{
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mprotect(slab_address(pinning, slab), pinning->slabs.slab[slab].bytes, protection))
        log_event("warn", "slab_not_protected", "slab=%u writable=%d error=\"%s\"", slab, writable,
                  strerror(errno));
}

static CUresult call_register(const struct cuda_pinning *pinning, unsigned slab, unsigned flags)
{
    return pinning->target.driver->cuMemHostRegister(slab_address(pinning, slab),
                                                     pinning->slabs.slab[slab].bytes,
                                                     CU_MEMHOSTREGISTER_PORTABLE | flags);
}

/* A device that says it registers read-only mappings may yet refuse these: the other way is tried
 * then, and only that from then on. */
static CUresult register_slab(struct cuda_pinning *pinning, unsigned slab)
{
    struct cuda_pinning_target *target = &pinning->target;
    if (target->read_only && call_register(pinning, slab, CU_MEMHOSTREGISTER_READ_ONLY) == 0)
        return CUDA_SUCCESS;
    target->read_only = 0;
    set_writable(pinning, slab, 1);
    CUresult code = call_register(pinning, slab, 0);
    set_writable(pinning, slab, 0);
    return code;
}

static void unregister_slab(struct cuda_pinning *pinning, unsigned slab)
{
    const struct cuda_pinning_target *target = &pinning->target;
    CUresult code = target->driver->cuMemHostUnregister(slab_address(pinning, slab));
    if (code != CUDA_SUCCESS)
        log_event("warn", "slab_not_unregistered", "slab=%u code=%d error=%s", slab, code,
                  cuda_driver_error_name(target->driver, code));
    if (target->seat)
        seat_drop_registration(target->seat, pinning->slabs.slab[slab].bytes);
}

/* ---- the thread: whose turn it is, and what becomes of it ---- */

static unsigned next_slab(const struct cuda_pinning *pinning)
{
    unsigned next = NO_SLAB;
    for (unsigned i = 0; i < pinning->slabs.count; i++)
        if (pinning->state[i] == PIN_PENDING &&
            (next == NO_SLAB || pinning->turn[i] < pinning->turn[next]))
            next = i;
    return next;
}

static void note_registered(struct cuda_pinning *pinning, unsigned slab)
{
    struct seat_page *seat = pinning->target.seat;
    pinning->state[slab] = PIN_REGISTERED;
    if (!seat)
        return;
    seat_set_pinning(seat, PINNING_DIRECT);
    seat_add_registration(seat, pinning->slabs.slab[slab].bytes);
}

/* What fails for one slab is not tried on the others: each try can take as long as a success. */
static void note_failed(struct cuda_pinning *pinning)
{
    for (unsigned i = 0; i < pinning->slabs.count; i++)
        if (pinning->state[i] == PIN_PENDING)
            pinning->state[i] = PIN_LEFT;
    if (pinning->target.seat)
        seat_set_pinning(pinning->target.seat, PINNING_BOUNCE);
}

static CUresult register_all(struct cuda_pinning *pinning)
{
    CUresult code = pinning->target.driver->cuCtxSetCurrent(pinning->target.context);
    pthread_mutex_lock(&pinning->lock);
    while (!pinning->stopping) {
        unsigned slab = next_slab(pinning);
        if (slab == NO_SLAB)
            break;
        pthread_mutex_unlock(&pinning->lock);
        if (code == CUDA_SUCCESS)
            code = register_slab(pinning, slab);
        pthread_mutex_lock(&pinning->lock);
        if (code == CUDA_SUCCESS)
            note_registered(pinning, slab);
        else
            note_failed(pinning);
        pthread_cond_broadcast(&pinning->changed);
    }
    pthread_mutex_unlock(&pinning->lock);
    return code;
}

static void log_outcome(const struct cuda_pinning *pinning, CUresult code, uint64_t took_ns)
{
    unsigned registered = 0;
    unsigned long long bytes = 0;
    for (unsigned i = 0; i < pinning->slabs.count; i++) {
        registered += pinning->state[i] == PIN_REGISTERED;
        bytes += pinning->state[i] == PIN_REGISTERED ? pinning->slabs.slab[i].bytes : 0;
    }
    if (code == CUDA_SUCCESS)
        log_event("info", "slabs_registered", "pinned=direct slabs=%u bytes=%llu ms=%llu",
                  registered, bytes, (unsigned long long)(took_ns / 1000000));
    else
        log_event("warn", "slabs_not_registered",
                  "pinned=bounce slabs=%u of=%u code=%d error=%s hint=\"uploads are slower: see "
                  "whether the machine lets the driver pin memory (virtual machine, container, "
                  "memory that was plugged in)\"",
                  registered, pinning->slabs.count, code,
                  cuda_driver_error_name(pinning->target.driver, code));
}

static void *pinning_main(void *arg)
{
    struct cuda_pinning *pinning = arg;
    uint64_t start_ns = worker_now_ns();
    CUresult code = register_all(pinning);
    pthread_mutex_lock(&pinning->lock);
    if (!pinning->stopping && pinning->slabs.count > 0)
        log_outcome(pinning, code, worker_now_ns() - start_ns);
    pthread_mutex_unlock(&pinning->lock);
    return NULL;
}

/* ---- attach and detach ---- */

int cuda_pinning_attach(struct cuda_pinning *pinning, const struct device_slabs *slabs)
{
    assert(!pinning->attached);
    pinning->slabs = *slabs;
    pinning->stopping = 0;
    pinning->wishes = 0;
    for (unsigned i = 0; i < slabs->count; i++) {
        pinning->state[i] = PIN_PENDING;
        pinning->turn[i] = TURN_LAST;
    }
    int error = pthread_create(&pinning->thread, NULL, pinning_main, pinning);
    if (error)
        pinning->slabs.count = 0;
    pinning->attached = !error;
    return -error;
}

void cuda_pinning_detach(struct cuda_pinning *pinning)
{
    if (!pinning->attached)
        return;
    pthread_mutex_lock(&pinning->lock);
    pinning->stopping = 1;
    pthread_mutex_unlock(&pinning->lock);
    pthread_join(pinning->thread, NULL);
    pinning->target.driver->cuCtxSetCurrent(pinning->target.context);
    for (unsigned i = 0; i < pinning->slabs.count; i++)
        if (pinning->state[i] == PIN_REGISTERED)
            unregister_slab(pinning, i);
    pinning->slabs.count = 0;
    pinning->attached = 0;
}

/* ---- who asks for a slab ---- */

/* Under the lock. The slab that holds all of these bytes, or NO_SLAB. */
static unsigned slab_of(const struct cuda_pinning *pinning, const void *from, size_t bytes)
{
    uintptr_t base = (uintptr_t)pinning->slabs.base, at = (uintptr_t)from;
    if (at < base)
        return NO_SLAB;
    uint64_t offset = at - base;
    for (unsigned i = 0; i < pinning->slabs.count; i++) {
        const struct device_slab *slab = &pinning->slabs.slab[i];
        if (offset >= slab->offset && offset - slab->offset < slab->bytes)
            return bytes <= slab->bytes - (offset - slab->offset) ? i : NO_SLAB;
    }
    return NO_SLAB;
}

void cuda_pinning_want(struct cuda_pinning *pinning, const void *in_slab)
{
    pthread_mutex_lock(&pinning->lock);
    unsigned slab = slab_of(pinning, in_slab, 1);
    if (slab != NO_SLAB && pinning->turn[slab] == TURN_LAST)
        pinning->turn[slab] = ++pinning->wishes;
    pthread_mutex_unlock(&pinning->lock);
}

/* 1 once the slab of these bytes is registered; 0 where it will not be. */
static int is_direct(struct cuda_pinning *pinning, const void *from, size_t bytes)
{
    int direct = 0;
    pthread_mutex_lock(&pinning->lock);
    unsigned slab = slab_of(pinning, from, bytes);
    if (slab != NO_SLAB) {
        pinning->turn[slab] = TURN_NOW;
        while (pinning->state[slab] == PIN_PENDING)
            pthread_cond_wait(&pinning->changed, &pinning->lock);
        direct = pinning->state[slab] == PIN_REGISTERED;
    }
    pthread_mutex_unlock(&pinning->lock);
    return direct;
}

int cuda_pinning_upload(struct cuda_pinning *pinning, gpu_pointer to, const void *from,
                        size_t bytes, CUstream stream)
{
    if (bytes == 0)
        return 0;
    if (is_direct(pinning, from, bytes))
        return pinning->target.driver->cuMemcpyHtoDAsync(to, from, bytes, stream);
    return cuda_ring_upload(&pinning->ring, to, from, bytes, stream);
}

/* ---- */

int cuda_pinning_create(struct cuda_pinning **pinning, const struct cuda_pinning_target *target)
{
    struct cuda_pinning *self = calloc(1, sizeof(*self));
    *pinning = NULL;
    if (!self)
        return -ENOMEM;
    self->target = *target;
    CUresult code = cuda_ring_create(&self->ring, target->driver, target->seat);
    if (code != CUDA_SUCCESS) {
        free(self);
        return code;
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    *pinning = self;
    return 0;
}

void cuda_pinning_destroy(struct cuda_pinning *pinning)
{
    if (!pinning)
        return;
    cuda_pinning_detach(pinning);
    cuda_ring_destroy(&pinning->ring);
    pthread_cond_destroy(&pinning->changed);
    pthread_mutex_destroy(&pinning->lock);
    free(pinning);
}
