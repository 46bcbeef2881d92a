/*
 * How slabs are registered with a GPU's driver: in which order, with which protection, and what
 * happens where it cannot be done; on a driver that the test plays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu-worker/cuda_pinning.h"
#include "gpu-worker/cuda_ring.h"
#include "gpu-worker/device.h"
#include "shm/program.h"
#include "shm/seat.h"
#include "tests/gpu-worker/fake_driver.h"

enum { SLABS = 4, SLAB_BYTES = 3 << 20, BYTES = SLABS * SLAB_BYTES };

struct rig {
    struct cuda_driver driver;
    struct seat_page seat;
    struct cuda_pinning *pinning;
    struct device_slabs slabs;
    char *writable; /* the synth-workers' mapping */
    char *device;   /* as large as all slabs */
};

static CUcontext some_context(void)
{
    return (CUcontext)(uintptr_t)1;
}

/* As a gpu-worker maps them: read-only, from a file that may be mapped writable. */
static void map_slabs(struct rig *rig)
{
    int fd = memfd_create("slabs", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    rig->writable = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    rig->slabs.base = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(rig->writable != MAP_FAILED && rig->slabs.base != MAP_FAILED);
    close(fd);
    for (size_t i = 0; i < BYTES; i++)
        rig->writable[i] = (char)(i * 7 + i / 4099);
    rig->slabs.bytes = BYTES;
    rig->slabs.count = SLABS;
    for (unsigned i = 0; i < SLABS; i++)
        rig->slabs.slab[i] = (struct device_slab){(uint64_t)i * SLAB_BYTES, SLAB_BYTES};
}

static void unmap_slabs(struct rig *rig)
{
    munmap(rig->writable, BYTES);
    munmap(rig->slabs.base, BYTES);
}

static struct cuda_pinning_target target_of(struct rig *rig, int read_only)
{
    return (struct cuda_pinning_target){.driver = &rig->driver,
                                        .context = some_context(),
                                        .read_only = read_only,
                                        .seat = &rig->seat};
}

static void rig_open(struct rig *rig, int read_only)
{
    memset(rig, 0, sizeof(*rig));
    fake_reset();
    rig->driver = fake_driver();
    struct cuda_pinning_target target = target_of(rig, read_only);
    assert_int_equal(cuda_pinning_create(&rig->pinning, &target), 0);
    map_slabs(rig);
    rig->device = calloc(1, BYTES);
    assert_non_null(rig->device);
}

static void rig_close(struct rig *rig)
{
    cuda_pinning_destroy(rig->pinning);
    unmap_slabs(rig);
    free(rig->device);
    assert_int_equal(fake.unregistrations, fake.registrations);
    assert_int_equal(fake.pinned_blocks, 0);
    assert_int_equal(fake.events, 0);
    assert_int_equal(atomic_load(&rig->seat.registered_bytes), 0);
}

static char *slab_at(const struct rig *rig, unsigned slab)
{
    return (char *)rig->slabs.base + (size_t)slab * SLAB_BYTES;
}

static int upload(struct rig *rig, unsigned slab, size_t offset, size_t bytes)
{
    const char *from = slab_at(rig, slab) + offset;
    size_t at = (size_t)(from - (char *)rig->slabs.base);
    return cuda_pinning_upload(rig->pinning, (gpu_pointer)(uintptr_t)(rig->device + at), from,
                               bytes, NULL);
}

/* All copies happen now; then this much of the device is as the slabs are. */
static void expect_arrived(struct rig *rig, unsigned slab, size_t offset, size_t bytes)
{
    size_t at = (size_t)slab * SLAB_BYTES + offset;
    fake_run_copies(fake.copies);
    assert_memory_equal(rig->device + at, rig->writable + at, bytes);
}

static void wait_registrations(uint64_t count, const struct rig *rig)
{
    while (atomic_load(&rig->seat.registrations_total) < count)
        sched_yield();
}

static void expect_order(const struct rig *rig, const unsigned *order)
{
    for (unsigned i = 0; i < SLABS; i++) {
        assert_int_equal(fake.registered[i].at, (uintptr_t)slab_at(rig, order[i]));
        assert_int_equal(fake.registered[i].bytes, SLAB_BYTES);
    }
}

/* Holds the first registration, so that what is wanted meanwhile can be said. */
static void attach_held(struct rig *rig)
{
    atomic_store(&fake.holding, 1);
    assert_int_equal(cuda_pinning_attach(rig->pinning, &rig->slabs), 0);
    while (!atomic_load(&fake.waiting))
        sched_yield();
}

/* ---- */

static void test_each_slab_is_registered_once(void **state)
{
    (void)state;
    static const unsigned order[] = {0, 1, 2, 3};
    struct rig rig;
    rig_open(&rig, 0);
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(SLABS, &rig);
    expect_order(&rig, order);
    for (unsigned i = 0; i < SLABS; i++) {
        assert_true(fake.registered[i].writable);
        assert_true(fake.registered[i].flags & CU_MEMHOSTREGISTER_PORTABLE);
        assert_int_equal(upload(&rig, i, 4096, SLAB_BYTES - 4096), 0);
        assert_true(fake.copy[i].from_registered);
        expect_arrived(&rig, i, 4096, SLAB_BYTES - 4096);
    }
    assert_int_equal(fake.copies, SLABS); /* none in pieces */
    assert_int_equal(fake.registrations, SLABS);
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_DIRECT);
    assert_int_equal(atomic_load(&rig.seat.registered_bytes), BYTES);
    assert_int_equal(fake.pinned_total, 1); /* the ring, at the start */
    assert_int_equal(atomic_load(&rig.seat.allocations_after_start), 0);
    rig_close(&rig);
}

static void test_the_wanted_slab_comes_first(void **state)
{
    (void)state;
    static const unsigned order[] = {0, 3, 2, 1};
    struct rig rig;
    rig_open(&rig, 0);
    attach_held(&rig);
    cuda_pinning_want(rig.pinning, slab_at(&rig, 3));
    cuda_pinning_want(rig.pinning, slab_at(&rig, 2) + SLAB_BYTES - 1);
    cuda_pinning_want(rig.pinning, &rig); /* in no slab */
    atomic_store(&fake.holding, 0);
    wait_registrations(SLABS, &rig);
    expect_order(&rig, order);
    rig_close(&rig);
}

struct uploader {
    struct rig *rig;
    unsigned slab;
    int result;
    uint64_t registered; /* when it was through */
};

static void *upload_one(void *arg)
{
    struct uploader *uploader = arg;
    uploader->result = upload(uploader->rig, uploader->slab, 0, SLAB_BYTES);
    uploader->registered = atomic_load(&uploader->rig->seat.registrations_total);
    return NULL;
}

/* Two are wanted; who uploads from a third goes before them. */
static void test_an_upload_waits_for_just_its_slab(void **state)
{
    (void)state;
    static const unsigned order[] = {0, 2, 3, 1};
    struct rig rig;
    pthread_t thread;
    rig_open(&rig, 0);
    attach_held(&rig);
    cuda_pinning_want(rig.pinning, slab_at(&rig, 3));
    cuda_pinning_want(rig.pinning, slab_at(&rig, 1));
    struct uploader uploader = {.rig = &rig, .slab = 2};
    assert_int_equal(pthread_create(&thread, NULL, upload_one, &uploader), 0);
    usleep(20000);
    assert_int_equal(fake.copies, 0); /* its slab has not had its turn */
    atomic_store(&fake.holding, 0);
    pthread_join(thread, NULL);
    assert_int_equal(uploader.result, 0);
    assert_true(uploader.registered >= 2);
    wait_registrations(SLABS, &rig);
    expect_order(&rig, order);
    assert_true(fake.copy[0].from_registered);
    expect_arrived(&rig, 2, 0, SLAB_BYTES);
    rig_close(&rig);
}

static int write_kills(char *at)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

static void test_slabs_are_read_only_afterwards(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 0);
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(SLABS, &rig);
    for (unsigned i = 0; i < SLABS; i++) {
        assert_false(fake_is_writable((uintptr_t)slab_at(&rig, i)));
        assert_false(fake_is_writable((uintptr_t)slab_at(&rig, i) + SLAB_BYTES - 1));
    }
    assert_true(write_kills(slab_at(&rig, 1)));
    rig_close(&rig);
}

/* Where the device takes read-only mappings they are never anything else. */
static void test_read_only_registration(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 1);
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(SLABS, &rig);
    for (unsigned i = 0; i < SLABS; i++) {
        assert_false(fake.registered[i].writable);
        assert_true(fake.registered[i].flags & CU_MEMHOSTREGISTER_READ_ONLY);
    }
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_DIRECT);
    rig_close(&rig);
}

/* Where the device says that it takes them and does not: as where it does not say so. */
static void test_read_only_registration_that_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 1);
    fake.no_read_only = 1;
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(SLABS, &rig);
    for (unsigned i = 0; i < SLABS; i++) {
        assert_true(fake.registered[i].writable);
        assert_int_equal(fake.registered[i].flags, CU_MEMHOSTREGISTER_PORTABLE);
        assert_false(fake_is_writable((uintptr_t)slab_at(&rig, i)));
    }
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_DIRECT);
    rig_close(&rig);
}

/* ---- where it cannot be done ---- */

static void test_the_ring_carries_what_is_not_registered(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 0);
    fake.fail_from = 1;
    fake.failure = CUDA_ERROR_NOT_SUPPORTED;
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    for (unsigned i = 0; i < SLABS; i++)
        assert_int_equal(upload(&rig, i, 100, SLAB_BYTES - 101), 0);
    assert_int_equal(fake.copies, SLABS * SLAB_BYTES / CUDA_RING_SLOT_BYTES);
    for (int i = 0; i < fake.copies; i++) {
        assert_false(fake.copy[i].from_registered);
        assert_true(fake.copy[i].bytes <= CUDA_RING_SLOT_BYTES);
    }
    for (unsigned i = 0; i < SLABS; i++)
        expect_arrived(&rig, i, 100, SLAB_BYTES - 101);
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_BOUNCE);
    assert_int_equal(atomic_load(&rig.seat.registrations_total), 0);
    assert_int_equal(fake.pinned_total, 1);
    assert_false(fake_is_writable((uintptr_t)slab_at(&rig, 0)));
    rig_close(&rig);
}

/* What was registered stays so; the rest is not tried. */
static void test_a_failure_half_way(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 0);
    fake.fail_from = 3;
    fake.failure = CUDA_ERROR_OUT_OF_MEMORY;
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    for (unsigned i = 0; i < SLABS; i++) {
        int before = fake.copies;
        assert_int_equal(upload(&rig, i, 0, SLAB_BYTES), 0);
        assert_int_equal(fake.copy[before].from_registered, i < 2);
        expect_arrived(&rig, i, 0, SLAB_BYTES);
    }
    assert_int_equal(fake.registrations, 2);
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_BOUNCE);
    assert_int_equal(atomic_load(&rig.seat.registered_bytes), 2 * SLAB_BYTES);
    rig_close(&rig);
}

static void test_memory_that_is_no_slab_takes_the_ring(void **state)
{
    (void)state;
    struct rig rig;
    static char text[5000];
    memset(text, 'x', sizeof(text));
    rig_open(&rig, 0);
    for (int attached = 0; attached < 2; attached++) {
        memset(rig.device, 0, sizeof(text));
        assert_int_equal(cuda_pinning_upload(rig.pinning, (gpu_pointer)(uintptr_t)rig.device, text,
                                             sizeof(text), NULL),
                         0);
        fake_run_copies(fake.copies);
        assert_memory_equal(rig.device, text, sizeof(text));
        if (!attached)
            assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    }
    wait_registrations(1, &rig);
    /* over the end of a slab: no registration holds all of it */
    int before = fake.copies;
    assert_int_equal(upload(&rig, 0, SLAB_BYTES - 10, 20), 0);
    assert_int_not_equal(fake.copy[before].from, (uintptr_t)slab_at(&rig, 1) - 10);
    expect_arrived(&rig, 0, SLAB_BYTES - 10, 20);
    assert_int_equal(upload(&rig, 0, 0, 0), 0);
    assert_int_equal(fake.copies, before + 1);
    rig_close(&rig);
}

static void test_no_ring_no_pinning(void **state)
{
    (void)state;
    struct rig rig = {.driver = fake_driver()};
    struct cuda_pinning_target target = target_of(&rig, 0);
    fake_reset();
    fake.pinned_fails = 1;
    assert_int_equal(cuda_pinning_create(&rig.pinning, &target), CUDA_ERROR_OUT_OF_MEMORY);
    assert_null(rig.pinning);
    assert_int_equal(fake.events, 0);
    cuda_pinning_destroy(rig.pinning);
}

/* Pinned memory belongs to the start; what is made later shows. */
static void test_pinned_memory_after_the_start_is_counted(void **state)
{
    (void)state;
    struct rig rig = {.driver = fake_driver()};
    struct cuda_pinning_target target = target_of(&rig, 0);
    fake_reset();
    assert_int_equal(cuda_pinning_create(&rig.pinning, &target), 0);
    cuda_pinning_destroy(rig.pinning);
    assert_int_equal(atomic_load(&rig.seat.allocations_after_start), 0);
    seat_enter(&rig.seat, STAGE_IDLE, 0, 0, 0);
    assert_int_equal(cuda_pinning_create(&rig.pinning, &target), 0);
    cuda_pinning_destroy(rig.pinning);
    assert_int_equal(atomic_load(&rig.seat.allocations_after_start), 1);
}

/* ---- other slabs ---- */

static void test_other_slabs_take_their_place(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 0);
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(SLABS, &rig);
    cuda_pinning_detach(rig.pinning);
    assert_int_equal(fake.unregistrations, SLABS); /* all of them before any is unmapped */
    assert_int_equal(atomic_load(&rig.seat.registered_bytes), 0);
    unmap_slabs(&rig);
    map_slabs(&rig);
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    wait_registrations(2 * SLABS, &rig);
    assert_int_equal(atomic_load(&rig.seat.registered_bytes), BYTES);
    assert_int_equal(upload(&rig, 2, 0, SLAB_BYTES), 0);
    expect_arrived(&rig, 2, 0, SLAB_BYTES);
    assert_int_equal(fake.pinned_total, 1);
    assert_int_equal(atomic_load(&rig.seat.allocations_after_start), 0);
    rig_close(&rig);
}

static void *let_go(void *arg)
{
    (void)arg;
    usleep(20000);
    atomic_store(&fake.holding, 0);
    return NULL;
}

/* Only the one that is being registered is waited for. */
static void test_detach_while_registering(void **state)
{
    (void)state;
    struct rig rig;
    pthread_t thread;
    rig_open(&rig, 0);
    attach_held(&rig);
    assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
    cuda_pinning_detach(rig.pinning);
    pthread_join(thread, NULL);
    assert_int_equal(fake.registrations, 1);
    assert_int_equal(fake.unregistrations, 1);
    cuda_pinning_detach(rig.pinning); /* once more: nothing */
    rig_close(&rig);
}

static void test_no_slabs_yet(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, 0);
    rig.slabs.count = 0;
    assert_int_equal(cuda_pinning_attach(rig.pinning, &rig.slabs), 0);
    cuda_pinning_want(rig.pinning, slab_at(&rig, 0));
    cuda_pinning_detach(rig.pinning);
    assert_int_equal(atomic_load(&rig.seat.pinned), PINNING_NONE);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_slab_is_registered_once),
        cmocka_unit_test(test_the_wanted_slab_comes_first),
        cmocka_unit_test(test_an_upload_waits_for_just_its_slab),
        cmocka_unit_test(test_slabs_are_read_only_afterwards),
        cmocka_unit_test(test_read_only_registration),
        cmocka_unit_test(test_read_only_registration_that_is_refused),
        cmocka_unit_test(test_the_ring_carries_what_is_not_registered),
        cmocka_unit_test(test_a_failure_half_way),
        cmocka_unit_test(test_memory_that_is_no_slab_takes_the_ring),
        cmocka_unit_test(test_no_ring_no_pinning),
        cmocka_unit_test(test_pinned_memory_after_the_start_is_counted),
        cmocka_unit_test(test_other_slabs_take_their_place),
        cmocka_unit_test(test_detach_while_registering),
        cmocka_unit_test(test_no_slabs_yet),
    };
    log_open("cuda_pinning_test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
