/*
 * Slabs on the software driver, which refuses to register what discrete GPUs refuse: the bytes that
 * arrive on the device, directly, through the ring, and after other slabs took their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "gpu-worker/cuda_driver.h"
#include "gpu-worker/cuda_pinning.h"
#include "shm/program.h"
#include "tests/gpu-worker/cuda_rig.h"

enum { SLABS = 3, SLAB_BYTES = 5 << 19, BYTES = SLABS * SLAB_BYTES };

/* One process's GPU, ring and slabs. All that is asserted here ends the child. */
struct soft {
    struct cuda_driver driver;
    CUcontext context;
    CUstream stream;
    CUdeviceptr device;
    struct cuda_pinning *pinning;
    struct device_slabs slabs;
};

static void soft_map(struct soft *soft, int seed)
{
    int fd = memfd_create("slabs", MFD_CLOEXEC);
    assert(fd >= 0 && ftruncate(fd, BYTES) == 0);
    char *writable = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    soft->slabs.base = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert(writable != MAP_FAILED && soft->slabs.base != MAP_FAILED);
    for (size_t i = 0; i < BYTES; i++)
        writable[i] = (char)(i * 31 + i / 4096 + (size_t)seed);
    munmap(writable, BYTES);
    close(fd);
    soft->slabs.bytes = BYTES;
    soft->slabs.count = SLABS;
    for (unsigned i = 0; i < SLABS; i++)
        soft->slabs.slab[i] = (struct device_slab){(uint64_t)i * SLAB_BYTES, SLAB_BYTES};
}

static void soft_open(struct soft *soft)
{
    const char *why;
    CUdevice device;
    int read_only = 0;
    assert(cuda_driver_open(&soft->driver, &why) == 0);
    const struct cuda_driver *driver = &soft->driver;
    assert(driver->cuDeviceGet(&device, 0) == 0);
    assert(driver->cuDevicePrimaryCtxRetain(&soft->context, device) == 0);
    assert(driver->cuCtxSetCurrent(soft->context) == 0);
    assert(driver->cuStreamCreate(&soft->stream, CU_STREAM_NON_BLOCKING) == 0);
    assert(driver->cuMemAlloc(&soft->device, BYTES) == 0);
    assert(driver->cuDeviceGetAttribute(
               &read_only, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, device) == 0);
    struct cuda_pinning_target target = {.driver = driver,
                                         .context = soft->context,
                                         .read_only = read_only,
                                         .seat = &rig_shared->seat};
    assert(cuda_pinning_create(&soft->pinning, &target) == 0);
    soft_map(soft, 0);
}

static void soft_close(struct soft *soft)
{
    cuda_pinning_destroy(soft->pinning);
    munmap(soft->slabs.base, BYTES);
    assert(soft->driver.cuMemFree(soft->device) == 0);
    assert(soft->driver.cuStreamDestroy(soft->stream) == 0);
    assert(atomic_load(&rig_shared->seat.registered_bytes) == 0);
}

/* Each slab, but for its first bytes, to the device and back. */
static void soft_compare(struct soft *soft)
{
    enum { SKIPPED = 64 };
    const struct cuda_driver *driver = &soft->driver;
    char *back = malloc(SLAB_BYTES);
    assert(back);
    for (unsigned i = 0; i < SLABS; i++) {
        const char *from = (const char *)soft->slabs.base + (size_t)i * SLAB_BYTES + SKIPPED;
        CUdeviceptr to = soft->device + (size_t)i * SLAB_BYTES;
        assert(cuda_pinning_upload(soft->pinning, to, from, SLAB_BYTES - SKIPPED, soft->stream) ==
               0);
        memset(back, 0, SLAB_BYTES);
        assert(driver->cuMemcpyDtoHAsync(back, to, SLAB_BYTES - SKIPPED, soft->stream) == 0);
        assert(driver->cuStreamSynchronize(soft->stream) == 0);
        assert(memcmp(back, from, SLAB_BYTES - SKIPPED) == 0);
    }
    free(back);
}

static void wait_registrations(uint64_t count)
{
    while (atomic_load(&rig_shared->seat.registrations_total) < count)
        sched_yield();
}

/* ---- bodies of children ---- */

static void body_direct(void)
{
    struct soft soft = {0};
    soft_open(&soft);
    /* what the driver refuses, so that what follows shows something */
    assert(soft.driver.cuMemHostRegister(soft.slabs.base, SLAB_BYTES, CU_MEMHOSTREGISTER_PORTABLE));
    assert(cuda_pinning_attach(soft.pinning, &soft.slabs) == 0);
    soft_compare(&soft);
    assert(atomic_load(&rig_shared->seat.pinned) == PINNING_DIRECT);
    assert(atomic_load(&rig_shared->seat.registered_bytes) == BYTES);
    soft_close(&soft);
}

/* The device takes read-only mappings, and then they are no other. */
static void body_read_only(void)
{
    struct soft soft = {0};
    soft_open(&soft);
    assert(cuda_pinning_attach(soft.pinning, &soft.slabs) == 0);
    soft_compare(&soft);
    assert(atomic_load(&rig_shared->seat.pinned) == PINNING_DIRECT);
    soft_close(&soft);
}

static void body_bounce(void)
{
    struct soft soft = {0};
    soft_open(&soft);
    assert(cuda_pinning_attach(soft.pinning, &soft.slabs) == 0);
    soft_compare(&soft);
    assert(atomic_load(&rig_shared->seat.pinned) == PINNING_BOUNCE);
    assert(atomic_load(&rig_shared->seat.registrations_total) == 0);
    soft_close(&soft);
}

static void body_other_slabs(void)
{
    struct soft soft = {0};
    soft_open(&soft);
    assert(cuda_pinning_attach(soft.pinning, &soft.slabs) == 0);
    soft_compare(&soft);
    cuda_pinning_detach(soft.pinning);
    munmap(soft.slabs.base, BYTES);
    soft_map(&soft, 99); /* most likely where the others lay */
    assert(cuda_pinning_attach(soft.pinning, &soft.slabs) == 0);
    soft_compare(&soft);
    wait_registrations(2 * SLABS);
    assert(atomic_load(&rig_shared->seat.allocations_after_start) == 0);
    soft_close(&soft);
}

/* ---- */

static void test_directly(void **state)
{
    (void)state;
    assert_int_equal(rig_child("devices=1", body_direct), 0);
}

static void test_read_only(void **state)
{
    (void)state;
    assert_int_equal(rig_child("roregister", body_read_only), 0);
}

static void test_by_the_ring(void **state)
{
    (void)state;
    assert_int_equal(rig_child("noregister", body_bounce), 0);
}

static void test_other_slabs(void **state)
{
    (void)state;
    assert_int_equal(rig_child("devices=1", body_other_slabs), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directly),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_by_the_ring),
        cmocka_unit_test(test_other_slabs),
    };
    (void)argc;
    rig_enter(argv);
    log_open("cuda_pinning_soft_test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
