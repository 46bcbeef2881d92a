/*
 * Which node belongs to a GPU, by the folder of NVIDIA's kernel module.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu-worker/cuda_node.c"
#include "tests/support/scratch.h"

/* As driver 580 writes it. */
static const char whole[] = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 312\n"
                            "GPU UUID: \t GPU-8c0f0a4e-0001-0203-0405-060708090aff\n"
                            "Bus Location: \t 0000:0a:00.0\nDevice Minor: \t 5\n"
                            "GPU Firmware: \t 580.65.06\nGPU Excluded:\t No\n";

static void test_minor(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH_BYTES];
    assert_int_equal(scratch_make(folder, "node"), 0);
    scratch_put(folder, "/0000:0a:00.0/information", whole);
    scratch_put(folder, "/0000:0b:00.0/information", "Device Minor: \t -7\n");
    scratch_put(folder, "/0000:0c:00.0/information", "");
    assert_int_equal(read_minor(folder, "0000:0a:00.0"), 5);
    assert_true(read_minor(folder, "0000:0b:00.0") < 0);
    assert_true(read_minor(folder, "0000:0c:00.0") < 0);
    assert_true(read_minor(folder, "0000:0d:00.0") < 0);
    assert_int_equal(scratch_remove(folder), 0);
}

static char asked[32];

static CUresult tell_place(char *id, int bytes, CUdevice device)
{
    snprintf(id, (size_t)bytes, "FFFF:%02X:00.0", 0xa0 + device);
    snprintf(asked, sizeof(asked), "%s", id);
    return CUDA_SUCCESS;
}

static CUresult tell_nothing(char *id, int bytes, CUdevice device)
{
    (void)id, (void)bytes, (void)device;
    return CUDA_ERROR_INVALID_DEVICE;
}

/* A GPU that is not there, and no node that is open. */
static void test_no_node(void **state)
{
    (void)state;
    struct cuda_driver driver = {.cuDeviceGetPCIBusId = tell_place};
    assert_int_equal(cuda_node_open(&driver, 1), -1);
    assert_string_equal(asked, "FFFF:A1:00.0");
    driver.cuDeviceGetPCIBusId = tell_nothing;
    assert_int_equal(cuda_node_open(&driver, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minor),
        cmocka_unit_test(test_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
