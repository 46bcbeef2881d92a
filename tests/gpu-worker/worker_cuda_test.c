/*
 * The CUDA device where processes end, on the software driver: keys that outlive theirs, faults of
 * the driver that end one, and the whole worker before a coordinator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu-worker/cuda_device.h"
#include "shm/program.h"
#include "shm/wire.h"
#include "tests/gpu-worker/cuda_rig.h"
#include "tests/gpu-worker/fake_coordinator.h"

static const char mul2[] = "tests/fixtures/bn128/mul2";

/* ---- keys from process to process ---- */

static int pair[2];
static int flip_a_bit;

static void export_the_key(void)
{
    struct rig rig;
    struct device_parcel parcel;
    union wire_message message = {0};
    rig_open(&rig, mul2);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &rig);
    assert(gpu->operations->key_export(gpu, key, &parcel) == 0);
    assert(parcel.memory_fd >= 0 && parcel.bytes > 0);
    assert(fcntl(parcel.memory_fd, F_GETFD) & FD_CLOEXEC);
    message.device_key.driver_version = parcel.driver_version;
    message.device_key.layout = parcel.layout;
    message.device_key.bytes = parcel.bytes;
    message.device_key.checksum = parcel.checksum;
    memcpy(message.device_key.device, parcel.device, sizeof(parcel.device));
    assert(wire_send(pair[1], &message, WIRE_DEVICE_KEY, &parcel.memory_fd, 1) == 0);
    raise(SIGKILL); /* the memory lives on */
}

static struct device_parcel parcel_of(const struct wire_packet *packet)
{
    const struct wire_device_key *told = &packet->message.device_key;
    struct device_parcel parcel = {.driver_version = told->driver_version,
                                   .layout = told->layout,
                                   .bytes = told->bytes,
                                   .checksum = told->checksum,
                                   .memory_fd = packet->fds[0],
                                   .node_fd = -1};
    memcpy(parcel.device, told->device, sizeof(parcel.device));
    return parcel;
}

static struct wire_packet received;

static int try_import(struct device *gpu, const struct rig *rig, const struct device_parcel *parcel,
                      struct device_key **key)
{
    *key = NULL;
    return gpu->operations->key_import(gpu, rig->curve, &rig->circuit.image, parcel, key);
}

static void import_the_key(void)
{
    struct rig rig, other;
    struct device_key *key;
    struct device_parcel parcel = parcel_of(&received), wrong;
    rig_open(&rig, mul2);
    rig_open(&other, "tests/fixtures/bn128/nopub");
    struct device *gpu = rig_device("cuda:0");
    wrong = parcel, wrong.layout++;
    assert(try_import(gpu, &rig, &wrong, &key) == -ESTALE);
    wrong = parcel, wrong.driver_version++;
    assert(try_import(gpu, &rig, &wrong, &key) == -ESTALE);
    wrong = parcel, wrong.device[5] ^= 1;
    assert(try_import(gpu, &rig, &wrong, &key) == -ESTALE);
    wrong = parcel, wrong.bytes += 256;
    assert(try_import(gpu, &rig, &wrong, &key) == -ESTALE);
    wrong = parcel, wrong.checksum ^= 1;
    assert(try_import(gpu, &rig, &wrong, &key) == -EBADMSG);
    wrong = parcel, wrong.memory_fd = rig.circuit.image_fd; /* not the driver's */
    assert(try_import(gpu, &rig, &wrong, &key) != 0);
    assert(try_import(gpu, &other, &parcel, &key) != 0); /* another key */
    int error = try_import(gpu, &rig, &parcel, &key);
    assert(error == (flip_a_bit ? -EBADMSG : 0));
    if (!error) {
        rig_must_prove(gpu, key, &rig);
        gpu->operations->key_drop(gpu, key);
    }
    gpu->operations->close(gpu);
}

static void export_and_receive(void)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    int status = rig_child("", export_the_key);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(wire_receive(pair[0], &received, 0), 1);
    assert_int_equal(received.fd_count, 1);
    close(pair[0]);
    close(pair[1]);
}

static void test_a_key_outlives_its_process(void **state)
{
    (void)state;
    export_and_receive();
    flip_a_bit = 0;
    assert_ended_well(rig_child("", import_the_key));
    assert_ended_well(rig_child("", import_the_key)); /* and that one */
    assert_ended_well(rig_child("noprotect", import_the_key));
    char byte;
    flip_a_bit = 1;
    assert_int_equal(pread(received.fds[0], &byte, 1, 64), 1);
    byte ^= 4;
    assert_int_equal(pwrite(received.fds[0], &byte, 1, 64), 1);
    assert_ended_well(rig_child("", import_the_key));
    close(received.fds[0]);
}

static void fail_to_export(void)
{
    struct rig rig;
    struct device_parcel parcel;
    rig_open(&rig, mul2);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &rig);
    assert(gpu->operations->key_export(gpu, key, &parcel) == -ENOTSUP);
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

static void test_a_device_without_vmm_exports_nothing(void **state)
{
    (void)state;
    assert_ended_well(rig_child("novmm", fail_to_export));
}

/* ---- faults ---- */

static void prove_until_the_fault(void)
{
    struct rig rig;
    rig_open(&rig, mul2);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &rig);
    for (;;) {
        struct rig_watch never = rig_watch_of(-1);
        struct proof_sums sums;
        rig_prove(gpu, key, &rig, &never, &sums);
    }
}

static void expect_lost(const char *softcuda, unsigned code, const char *words)
{
    char said[256];
    int status = rig_child(softcuda, prove_until_the_fault);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_DEVICE_LOST);
    assert_int_equal(atomic_load(&rig_shared->seat.device_error), code);
    seat_last_words(&rig_shared->seat, said, sizeof(said));
    if (!strstr(said, words))
        assert_string_equal(said, words);
}

static void test_a_fault_ends_the_process_with_its_code(void **state)
{
    (void)state;
    expect_lost("fault=700@1", 700, "CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)");
    expect_lost("fault=719@20", 719, "CUDA error 719 (CUDA_ERROR_LAUNCH_FAILED)");
    expect_lost("fault=999@40", 999, "CUDA error 999 (CUDA_ERROR_UNKNOWN)");
}

static void test_a_device_that_hangs_is_a_fault(void **state)
{
    (void)state;
    setenv("PAWL_TEST_CUDA_DEADLINE_MS", "1500", 1);
    expect_lost("hang@30", 702, "the GPU hangs");
    unsetenv("PAWL_TEST_CUDA_DEADLINE_MS");
}

/* ---- the whole worker ---- */

static void expect_types(struct fake *fake, enum wire_type *types, int count)
{
    for (int i = 0; i < count; i++) {
        struct wire_packet packet;
        assert_string_equal(wire_type_name(fake_receive(fake, &packet)), wire_type_name(types[i]));
        if (types[i] == WIRE_PROVED)
            rig_shared->numbers[0] = (int)packet.message.proved.device_charged;
        for (unsigned k = 0; k < packet.fd_count; k++)
            close(packet.fds[k]);
    }
}

/* A worker is given a proof of the circuit, and before its image a key, where there is one. */
static void open_worker(struct fake *fake, const char *softcuda, struct wire_packet *kept)
{
    memset(rig_shared, 0, sizeof(*rig_shared));
    fake_device = (struct worker_options){.device = "cuda:0", .device_open = device_open};
    setenv("PAWL_SOFTCUDA", softcuda, 1);
    fake_open(fake, mul2);
    if (kept) {
        memcpy(kept->message.device_key.hash, fake->circuit.hash, HASH_BYTES);
        fake_send(fake, &kept->message, WIRE_DEVICE_KEY, kept->fds[0]);
    }
    fake_send_image(fake, WIRE_IMAGE);
    fake_fill(fake, 0, (struct filling){0});
    fake_assign(fake, &fake->order[0]);
}

static void close_worker(struct fake *fake)
{
    fake_close(fake);
    unsetenv("PAWL_SOFTCUDA");
}

static int prove_by_worker(const char *softcuda)
{
    struct fake fake;
    enum wire_type types[] = {WIRE_STARTED, WIRE_COMPUTED, WIRE_PROVED};
    open_worker(&fake, softcuda, NULL);
    expect_types(&fake, types, 3);
    close_worker(&fake);
    return rig_shared->numbers[0];
}

/* The second copy to the host is the proof's results: the first is a key's checksum. */
static void test_a_flipped_bit_charges_the_device(void **state)
{
    (void)state;
    assert_int_equal(prove_by_worker(""), 0);
    assert_int_equal(prove_by_worker("flip@2"), 1);
}

static void test_a_key_that_arrives_wrong_charges_the_device(void **state)
{
    (void)state;
    struct fake fake;
    struct wire_packet packet;
    const struct wire_failed *failed = &packet.message.failed;
    open_worker(&fake, "flip@1", NULL);
    assert_int_equal(fake_receive(&fake, &packet), WIRE_FAILED);
    assert_int_equal(failed->fault, FAULT_INTERNAL);
    assert_int_equal(failed->device_charged, 1);
    close_worker(&fake);
}

/* One that cannot be imported is given back before the upload, for it holds memory. */
static void test_a_kept_key_of_no_use_is_given_back(void **state)
{
    (void)state;
    struct fake fake;
    enum wire_type proved[] = {WIRE_STARTED, WIRE_COMPUTED, WIRE_PROVED};
    enum wire_type given_back[] = {WIRE_DEVICE_KEY, WIRE_STARTED, WIRE_COMPUTED, WIRE_PROVED};
    export_and_receive();
    open_worker(&fake, "", &received);
    expect_types(&fake, proved, 3);
    close_worker(&fake);
    received.message.device_key.checksum ^= 1;
    open_worker(&fake, "", &received);
    expect_types(&fake, given_back, 4);
    close_worker(&fake);
    close(received.fds[0]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_outlives_its_process),
        cmocka_unit_test(test_a_device_without_vmm_exports_nothing),
        cmocka_unit_test(test_a_fault_ends_the_process_with_its_code),
        cmocka_unit_test(test_a_device_that_hangs_is_a_fault),
        cmocka_unit_test(test_a_flipped_bit_charges_the_device),
        cmocka_unit_test(test_a_key_that_arrives_wrong_charges_the_device),
        cmocka_unit_test(test_a_kept_key_of_no_use_is_given_back),
    };
    (void)argc;
    rig_enter(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
