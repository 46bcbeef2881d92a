/*
 * The CUDA device on the software driver: sums that are the CPU device's bit for bit, little
 * memory, cancelling, the next witness early. (worker_cuda_test.c: where a process ends.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gpu-worker/cuda_device.h"
#include "tests/gpu-worker/cuda_rig.h"

static const char mul2[] = "tests/fixtures/bn128/mul2";

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
    };
    (void)argc;
    rig_enter(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
