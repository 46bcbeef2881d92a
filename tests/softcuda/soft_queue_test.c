/*
 * The queue that kernels' tests use: modules found by curve, memory that is watched, faults kept.
 * A text of PTX stands for what nvcc would have put there.
 */
#include "tests/softcuda/soft_queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const char text[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry copy(.param .align 8 .b8 copy_param_0[16])\n{\n.reg .b32 %r<4>;\n"
    ".reg .b64 %rd<6>;\nld.param.u64 %rd1, [copy_param_0];\nld.param.u64 %rd2, [copy_param_0+8];\n"
    "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
    "add.s64 %rd5, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\nst.global.u32 [%rd5], %r2;\nret;\n}\n";

static char folder[] = "/tmp/soft_queue.XXXXXX";
static const char *const inner[] = {"", "/cuda", "/cuda/kernels", "/cuda/kernels/copy"};

static int make_folder(void **state)
{
    (void)state;
    char path[200];
    assert_non_null(mkdtemp(folder));
    for (unsigned i = 1; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", folder, inner[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/cuda/kernels/copy/copy.bn254.fatbin", folder);
    FILE *file = fopen(path, "wbe");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    return setenv("BUILD_DIR", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/cuda/kernels/copy/copy.bn254.fatbin", folder);
    unlink(path);
    for (unsigned i = 4; i > 0; i--) {
        snprintf(path, sizeof path, "%s%s", folder, inner[i - 1]);
        rmdir(path);
    }
    return 0;
}

static int copy(struct soft_queue *queue, gpu_pointer from, gpu_pointer to, uint32_t threads)
{
    const gpu_pointer arguments[2] = {from, to};
    const struct gpu_launch launch = {.kernel = "copy",
                                      .blocks = 1,
                                      .threads = threads,
                                      .arguments = arguments,
                                      .argument_bytes = sizeof arguments};
    return queue->queue.launch(&queue->queue, &launch);
}

static void test_a_launch_moves_what_was_written(void **state)
{
    (void)state;
    struct soft_queue *queue = soft_queue_open("bn254", 1);
    uint32_t words[40], got[40];
    for (uint32_t i = 0; i < 40; i++)
        words[i] = i * i;
    const gpu_pointer from = soft_queue_allocate(queue, sizeof words);
    const gpu_pointer gone = soft_queue_allocate(queue, 1000);
    const gpu_pointer to = soft_queue_allocate(queue, sizeof words);
    assert_int_equal(from % 256 + to % 256, 0);
    soft_queue_free(queue, gone);
    soft_queue_write(queue, from, words, sizeof words);
    soft_queue_read(queue, got, to, sizeof got);
    assert_int_equal(got[7], 0xa5a5a5a5);
    assert_int_equal(copy(queue, from, to, 40), 0);
    soft_queue_read(queue, got, to, sizeof got);
    assert_memory_equal(got, words, sizeof words);
    assert_int_equal(queue->queue.clear(&queue->queue, from, sizeof words), 0);
    assert_int_equal(copy(queue, from, to, 39), 0);
    soft_queue_read(queue, got, to, sizeof got);
    assert_int_equal(got[38], 0);
    assert_int_equal(got[39], 39 * 39);
    assert_int_equal(queue->launches, 2);
    soft_queue_close(queue);
}

/* what is wrong with a launch, and that nothing runs after it */
static void check_fault(size_t from_bytes, size_t to_bytes, size_t written, bool freed,
                        enum ptx_fault_kind kind)
{
    static const uint8_t zeros[256];
    struct soft_queue *queue = soft_queue_open("bn254", 2);
    queue->quiet = true;
    const gpu_pointer from = soft_queue_allocate(queue, from_bytes);
    const gpu_pointer to = soft_queue_allocate(queue, to_bytes);
    soft_queue_write(queue, from, zeros, written);
    if (freed)
        soft_queue_free(queue, to);
    assert_int_equal(copy(queue, from, to, 32), -EFAULT);
    assert_int_equal(queue->fault.kind, kind);
    assert_int_equal(strncmp(queue->fault.text, "copy: PTX line ", 15), 0);
    assert_int_equal(copy(queue, from, from, 1), -EFAULT);
    assert_int_equal(queue->queue.clear(&queue->queue, from, 4), -EFAULT);
    soft_queue_close(queue);
}

static void test_faults_are_kept(void **state)
{
    (void)state;
    check_fault(128, 124, 128, false, PTX_FAULT_ADDRESS);   /* a store behind the end */
    check_fault(124, 128, 124, false, PTX_FAULT_ADDRESS);   /* a load behind the end */
    check_fault(128, 128, 127, false, PTX_FAULT_UNWRITTEN); /* the last byte is missing */
    check_fault(128, 128, 128, true, PTX_FAULT_ADDRESS);    /* memory that was freed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launch_moves_what_was_written),
        cmocka_unit_test(test_faults_are_kept),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
