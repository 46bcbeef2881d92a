/*
 * The CUDA device on the software driver: sums that are the CPU device's bit for bit, little
 * memory, cancelling, the next witness early, keys that go from process to process, and every
 * fault of the driver.
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

static void assert_ended_well(int status)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- right sums ---- */

static const char *folder_now;

static void prove_with_and_without_rows(void)
{
    struct rig rig;
    struct device_description before, after;
    rig_open(&rig, folder_now);
    struct device *gpu = rig_device("cuda:0");
    assert(gpu);
    struct device_key *key = rig_load(gpu, &rig);
    gpu->operations->describe(gpu, &before);
    assert(strncmp(before.name, "GPU-", 4) == 0);
    assert(before.keys_bytes > 0 && before.scratch_bytes > 0);
    rig_must_prove(gpu, key, &rig);
    rig_fill(&rig, (struct filling){.without_rows = 1});
    rig_must_prove(gpu, key, &rig);
    gpu->operations->describe(gpu, &after);
    assert(after.scratch_bytes == before.scratch_bytes);
    gpu->operations->key_drop(gpu, key);
    gpu->operations->describe(gpu, &after);
    assert(after.keys_bytes == 0);
    gpu->operations->close(gpu);
    rig_close(&rig);
}

static void test_sums_are_those_of_the_cpu_device(void **state)
{
    (void)state;
    static const char *const folders[] = {
        mul2, "tests/fixtures/bn128/nopub", "tests/fixtures/bn128/noconstr",
        "tests/fixtures/bn128/order", "tests/fixtures/bls12381/mul2"};
    for (int i = 0; i < 5; i++) {
        folder_now = folders[i];
        assert_ended_well(rig_child("", prove_with_and_without_rows));
    }
    folder_now = mul2;
    assert_ended_well(rig_child("novmm", prove_with_and_without_rows));
    assert_ended_well(rig_child("noprotect", prove_with_and_without_rows));
}

static void prove_on_two_curves(void)
{
    struct rig rig[2];
    struct device_key *key[2];
    rig_open(&rig[0], mul2);
    rig_open(&rig[1], "tests/fixtures/bls12381/mul2");
    struct device *gpu = rig_device("cuda:0");
    assert(gpu);
    for (int i = 0; i < 2; i++)
        key[i] = rig_load(gpu, &rig[i]);
    rig_must_prove(gpu, key[1], &rig[1]); /* the scratch grew with the second */
    gpu->operations->key_drop(gpu, key[1]);
    rig_must_prove(gpu, key[0], &rig[0]);
    gpu->operations->key_drop(gpu, key[0]);
    gpu->operations->close(gpu);
}

static void test_keys_of_both_curves_beside_each_other(void **state)
{
    (void)state;
    assert_ended_well(rig_child("", prove_on_two_curves));
}

/* ---- cancelling ---- */

static void cancel_at_every_question(void)
{
    struct rig rig;
    struct proof_sums sums;
    int left = 0, error;
    rig_open(&rig, mul2);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &rig);
    do {
        struct rig_watch watch = rig_watch_of(++left);
        error = rig_prove(gpu, key, &rig, &watch, &sums);
        assert(error == 0 || error == -ECANCELED);
        left += left / 2; /* how many questions there are depends on how long it waits */
    } while (error);
    assert(left > 5);
    rig_must_prove(gpu, key, &rig);
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

static void test_cancel_at_every_question(void **state)
{
    (void)state;
    assert_ended_well(rig_child("", cancel_at_every_question));
}

/* ---- the next witness ---- */

struct next {
    struct device *gpu;
    struct device_key *key;
    struct rig *rig;
    int begun;
};

static void stage_next(struct rig_watch *watch)
{
    struct next *next = watch->arg;
    struct device_work work = rig_work(next->rig);
    if (next->begun++)
        return;
    assert(next->gpu->operations->stage(next->gpu, next->key, &work) == 0);
    assert(next->gpu->operations->stage(next->gpu, next->key, &work) == -EBUSY);
}

/* Proves the first while the second's witness is taken; nothing of the second's slab is read
 * once it is unstaged or was proved, so it may change then. */
static void stage_while_proving(void)
{
    struct rig first, second;
    struct proof_sums sums;
    rig_open(&first, mul2);
    rig_open(&second, mul2);
    rig_fill(&second, (struct filling){.witness = "w2.wtns"});
    rig_expect(&second);
    assert(memcmp(&first.expected, &second.expected, sizeof(first.expected)) != 0);
    struct device *gpu = rig_device("cuda:0");
    struct device_key *key = rig_load(gpu, &first);
    for (int round = 0; round < 2; round++) {
        struct next next = {gpu, key, &second, 0};
        struct rig_watch watch = rig_watch_of(-1);
        watch.idle = stage_next;
        watch.arg = &next;
        assert(rig_prove(gpu, key, &first, &watch, &sums) == 0);
        assert(memcmp(&sums, &first.expected, sizeof(sums)) == 0);
        assert(next.begun > 0);
        if (round == 1)
            gpu->operations->unstage(gpu);
        rig_must_prove(gpu, key, &second);
    }
    struct device_work work = rig_work(&second);
    assert(gpu->operations->stage(gpu, key, &work) == 0);
    rig_must_prove(gpu, key, &first); /* another than the staged, which is let go of */
    assert(gpu->operations->stage(gpu, key, &work) == 0);
    gpu->operations->unstage(gpu);
    gpu->operations->unstage(gpu); /* nothing there */
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

static void test_the_next_witness_goes_ahead(void **state)
{
    (void)state;
    assert_ended_well(rig_child("", stage_while_proving));
}

/* Puts so much into the stream of copies that what comes behind it is late. */
static void hold_up_copies(struct cuda_device *cuda)
{
    gpu_pointer to = cuda->scratch.block.at + cuda->scratch.has.work; /* nothing is proved now */
    for (size_t bytes = 1; bytes <= 128; bytes++)
        assert(cuda->driver.cuMemcpyHtoDAsync(to, cuda->upload.results, bytes, cuda->copies) == 0);
}

/* A proof of the staged that is cancelled before its first step: no copy is under way after it. */
static void cancel_the_staged(void)
{
    struct rig first, second;
    struct proof_sums sums;
    rig_open(&first, mul2);
    rig_open(&second, mul2);
    rig_fill(&second, (struct filling){.witness = "w2.wtns"});
    struct device *gpu = rig_device("cuda:0");
    struct cuda_device *cuda = (struct cuda_device *)gpu;
    struct device_key *key = rig_load(gpu, &first);
    struct device_work work = rig_work(&second);
    struct rig_watch at_once = rig_watch_of(1);
    hold_up_copies(cuda);
    assert(gpu->operations->stage(gpu, key, &work) == 0);
    assert(rig_prove(gpu, key, &second, &at_once, &sums) == -ECANCELED);
    assert(cuda->driver.cuEventQuery(cuda->copied) == CUDA_SUCCESS);
    rig_must_prove(gpu, key, &first);
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

static void test_a_staged_one_that_is_cancelled_is_read_no_more(void **state)
{
    (void)state;
    assert_ended_well(rig_child("", cancel_the_staged));
}

/* ---- memory ---- */

/* numbers[0]: 0 nothing could be opened, 1 no room for the key, 2 no memory in the proof, 3 all
 * went well; [1], [2]: bytes of scratch and of the key. */
static void prove_as_far_as_memory_goes(void)
{
    struct rig rig;
    struct device_key *key;
    struct device_description description;
    struct proof_sums sums;
    struct rig_watch never = rig_watch_of(-1);
    rig_open(&rig, folder_now);
    struct device *gpu = rig_device("cuda:0");
    if (!gpu)
        return;
    rig_shared->numbers[0] = 1;
    int error = gpu->operations->key_load(gpu, rig.curve, &rig.circuit.image, &key);
    assert(error == 0 || error == -ENOMEM);
    if (error == 0) {
        error = rig_prove(gpu, key, &rig, &never, &sums);
        assert(error == 0 || error == -ENOMEM);
        if (!error)
            assert(memcmp(&sums, &rig.expected, sizeof(sums)) == 0);
        rig_shared->numbers[0] = error ? 2 : 3;
        gpu->operations->describe(gpu, &description);
        rig_shared->numbers[1] = (int)description.scratch_bytes;
        rig_shared->numbers[2] = (int)description.keys_bytes;
        gpu->operations->key_drop(gpu, key);
    }
    gpu->operations->close(gpu);
}

static int prove_where(const char *softcuda)
{
    assert_ended_well(rig_child(softcuda, prove_as_far_as_memory_goes));
    return rig_shared->numbers[0];
}

/* A key takes two allocations. One that fails is tried again, for smaller plans; where none has
 * memory the caller is told; and a proof takes none. */
static void test_no_memory_at_an_allocation(void **state)
{
    (void)state;
    folder_now = mul2;
    assert_int_equal(prove_where("oom=1"), 3);
    assert_int_equal(prove_where("oom=2"), 3);
    assert_int_equal(prove_where("oom=1+"), 1);
    assert_int_equal(prove_where("oom=2+"), 1);
    assert_int_equal(prove_where("oom=3+"), 3);
}

/* Kernels of this curve's G2 need more local memory than a context has: the first allocation of
 * its first key, tried again like the others, and none of a proof's. */
static void test_local_memory_is_there_before_a_proof(void **state)
{
    (void)state;
    folder_now = "tests/fixtures/bls12381/mul2";
    assert_int_equal(prove_where("oom=1"), 3);
    assert_int_equal(prove_where("oom=1+"), 1);
    assert_int_equal(prove_where("oom=3+"), 1);
    assert_int_equal(prove_where("oom=4+"), 3);
}

/* numbers[0]: bits for 1 the key was not loaded, 2 the proof failed, 4 neither. */
static void load_and_prove_again(void)
{
    struct rig rig;
    struct device_key *key;
    struct proof_sums sums;
    struct rig_watch never = rig_watch_of(-1);
    rig_open(&rig, mul2);
    struct device *gpu = rig_device("cuda:0");
    int error = gpu->operations->key_load(gpu, rig.curve, &rig.circuit.image, &key);
    if (error) {
        assert(error == -ENOMEM);
        rig_shared->numbers[0] = 1;
        key = rig_load(gpu, &rig);
    }
    error = rig_prove(gpu, key, &rig, &never, &sums);
    assert(error == 0 || error == -ENOMEM);
    rig_shared->numbers[0] |= error ? 2 : 0;
    if (rig_shared->numbers[0])
        rig_must_prove(gpu, key, &rig);
    else
        rig_shared->numbers[0] = 4;
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

/* Nothing of what was put in before it is still under way when memory is let go of. */
static void test_a_launch_without_memory_leaves_all_usable(void **state)
{
    (void)state;
    char softcuda[32];
    int seen = 0;
    for (unsigned launch = 1; !(seen & 4); launch += 1 + launch / 2) {
        snprintf(softcuda, sizeof(softcuda), "fault=2@%u", launch);
        assert_ended_well(rig_child(softcuda, load_and_prove_again));
        seen |= rig_shared->numbers[0];
    }
    assert_int_equal(seen, 1 | 2 | 4);
}

static int prove_in_memory_of(size_t bytes)
{
    char softcuda[64];
    snprintf(softcuda, sizeof(softcuda), "novmm,memory=%zu", bytes);
    return prove_where(softcuda);
}

/* Less and less memory: first the usual plan, then a smaller one with the same sums, then none. */
static void test_less_memory_gives_a_smaller_plan(void **state)
{
    (void)state;
    folder_now = mul2;
    assert_int_equal(prove_in_memory_of((size_t)64 << 20), 3);
    size_t scratch = (size_t)rig_shared->numbers[1];
    /* the software driver's context, and the key */
    size_t others = ((size_t)16 << 20) + (size_t)rig_shared->numbers[2];
    assert_int_equal(prove_in_memory_of(others + scratch), 3);
    assert_int_equal(rig_shared->numbers[1], scratch);
    assert_int_equal(prove_in_memory_of(others + scratch / 2), 3);
    assert_in_range(rig_shared->numbers[1], 1, scratch / 2);
    assert_int_equal(prove_in_memory_of(others + 1024), 1);
    assert_int_equal(prove_in_memory_of(others - 1024), 1);
}

/* Room for one of two keys and the scratch: each takes the other's place. */
static void take_turns(void)
{
    static const char *const folders[] = {"tests/fixtures/bn128/mul2",
                                          "tests/fixtures/bn128/nopub"};
    struct rig rig[2];
    struct key *key[2];
    struct keys *keys = keys_create();
    struct device *gpu = rig_device("cuda:0");
    const char *what;
    assert(gpu && keys);
    for (int i = 0; i < 2; i++) {
        rig_open(&rig[i], folders[i]);
        assert(keys_add(keys, rig[i].circuit.hash, rig[i].circuit.image_fd, &what) == 0);
        key[i] = keys_hold(keys, rig[i].circuit.hash);
    }
    for (int round = 0; round < 3; round++) {
        int i = round % 2;
        assert(keys_load(keys, key[i], gpu) == 0);
        assert(key[i]->loaded && !key[1 - i]->loaded);
        rig_must_prove(gpu, key[i]->loaded, &rig[i]);
    }
    keys_release(keys, key[0]);
    keys_release(keys, key[1]);
    keys_destroy(keys, gpu);
    gpu->operations->close(gpu);
}

static void test_keys_take_turns_in_little_memory(void **state)
{
    (void)state;
    assert_ended_well(rig_child("memory=21M", take_turns)); /* context, and 2 MiB for each block */
}

/* The kernels of another curve need local memory, and what a larger key left as scratch would be in
 * the way: 4 MiB of it, of 5 beside the context. */
static void prove_after_a_larger_key(void)
{
    struct rig larger, rig;
    rig_open(&larger, "tests/fixtures/bn128/pos10");
    rig_open(&rig, "tests/fixtures/bls12381/mul2");
    struct device *gpu = rig_device("cuda:0");
    assert(gpu);
    gpu->operations->key_drop(gpu, rig_load(gpu, &larger));
    struct device_key *key = rig_load(gpu, &rig);
    rig_must_prove(gpu, key, &rig);
    gpu->operations->key_drop(gpu, key);
    gpu->operations->close(gpu);
}

static void test_scratch_of_a_larger_key_makes_room(void **state)
{
    (void)state;
    assert_ended_well(rig_child("novmm,memory=21M", prove_after_a_larger_key));
}

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
        cmocka_unit_test(test_sums_are_those_of_the_cpu_device),
        cmocka_unit_test(test_keys_of_both_curves_beside_each_other),
        cmocka_unit_test(test_cancel_at_every_question),
        cmocka_unit_test(test_the_next_witness_goes_ahead),
        cmocka_unit_test(test_a_staged_one_that_is_cancelled_is_read_no_more),
        cmocka_unit_test(test_no_memory_at_an_allocation),
        cmocka_unit_test(test_local_memory_is_there_before_a_proof),
        cmocka_unit_test(test_a_launch_without_memory_leaves_all_usable),
        cmocka_unit_test(test_less_memory_gives_a_smaller_plan),
        cmocka_unit_test(test_keys_take_turns_in_little_memory),
        cmocka_unit_test(test_scratch_of_a_larger_key_makes_room),
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
