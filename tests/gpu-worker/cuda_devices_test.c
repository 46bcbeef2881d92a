/*
 * Devices by name, and why one is unfit, on a driver that the test plays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/cuda_devices.h"
#include "tests/gpu-worker/fatbin_text.h"

#define UUID_0 "GPU-00112233-4455-6677-8899-aabbccddeeff"
#define UUID_1 "GPU-00112233-4455-6677-8899-aabbccddeefe"

enum { DEVICES = 2 };

/* What the played driver says of each device. */
static struct played {
    const char *model;
    int major, minor, mode, mps;
    CUresult failure; /* of every call about it */
} played[DEVICES];

static CUresult play_get(CUdevice *device, int ordinal)
{
    assert_in_range(ordinal, 0, DEVICES - 1);
    *device = ordinal + 10; /* a handle is no ordinal */
    return played[ordinal].failure;
}

static CUresult play_name(char *name, int bytes, CUdevice device)
{
    snprintf(name, (size_t)bytes, "%s", played[device - 10].model);
    return CUDA_SUCCESS;
}

static CUresult play_uuid(struct cuda_uuid *uuid, CUdevice device)
{
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (unsigned char)(i * 0x11);
    uuid->bytes[15] = (unsigned char)(0xff - (device - 10));
    return CUDA_SUCCESS;
}

static CUresult play_attribute(int *value, int attribute, CUdevice device)
{
    const struct played *one = &played[device - 10];
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = one->major;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = one->minor;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *value = one->mode;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
        *value = one->mps;
        return one->mps < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult play_memory(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)141 << 30;
    return CUDA_SUCCESS;
}

static const struct cuda_driver driver = {.version = 13000,
                                          .devices = DEVICES,
                                          .cuDeviceGet = play_get,
                                          .cuDeviceGetName = play_name,
                                          .cuDeviceGetUuid = play_uuid,
                                          .cuDeviceGetAttribute = play_attribute,
                                          .cuDeviceTotalMem = play_memory};

static struct fatbin_made built;
static struct cuda_code code;
static struct cuda_facts facts;
static char why[CUDA_WHY_BYTES];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < DEVICES; i++)
        played[i] = (struct played){.model = "NVIDIA H200", .major = 9};
    fatbin_begin(&built);
    fatbin_add_code(&built, 90);
    code = (struct cuda_code){built.bytes, built.size};
    memset(&facts, 0, sizeof(facts));
    why[0] = 0;
    return unsetenv("CUDA_VISIBLE_DEVICES");
}

static int find(const char *name)
{
    return cuda_devices_find(&driver, name, &code, &facts, why, sizeof(why));
}

/* ---- */

static void test_facts(void **state)
{
    (void)state;
    played[1].model = "NVIDIA\tH200";
    played[1].mps = 1;
    assert_int_equal(cuda_devices_read(&driver, 1, &code, &facts), CUDA_SUCCESS);
    assert_int_equal(facts.device, 11);
    assert_int_equal(facts.ordinal, 1);
    assert_string_equal(facts.uuid, UUID_1);
    assert_string_equal(facts.model, "NVIDIA?H200");
    assert_int_equal(facts.capability, 90);
    assert_int_equal(facts.multiprocessors, 132);
    assert_int_equal(facts.memory_bytes, (uint64_t)141 << 30);
    assert_int_equal(facts.shared_by_mps, 1);
    assert_string_equal(facts.why, "");
    played[1].mps = -1; /* a driver that does not know the attribute */
    assert_int_equal(cuda_devices_read(&driver, 1, &code, &facts), CUDA_SUCCESS);
    assert_int_equal(facts.shared_by_mps, 0);
}

static void test_all_names_of_a_device(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda:1", UUID_1,
                                        "gpu-00112233-4455-6677-8899-AABBCCDDEEFE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        memset(&facts, 0, sizeof(facts));
        assert_int_equal(find(names[i]), 0);
        assert_int_equal(facts.ordinal, 1);
        assert_string_equal(facts.uuid, UUID_1);
        assert_true(cuda_devices_is_name(names[i]));
    }
    assert_false(cuda_devices_is_name("cpu"));
    assert_false(cuda_devices_is_name("cuda"));
}

static void test_names_of_none(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda:2",  "cuda:",   "cuda:-1",
                                        "cuda:0x", "cuda: 0", "cuda:99999999999999999999",
                                        "cpu",     "",        "GPU-11112222"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(find(names[i]), -ENODEV);
        assert_non_null(strstr(why, "no such device"));
    }
    assert_int_equal(find("GPU-0011"), -ENODEV); /* the beginning of both */
    assert_non_null(strstr(why, "more than one"));
}

/* A part of a GPU is told by its model's name, or by who chose it. */
static void test_parts_of_a_gpu(void **state)
{
    (void)state;
    played[0].model = "NVIDIA H200 MIG 1g.18gb";
    assert_int_equal(find("cuda:0"), 0);
    assert_string_equal(facts.uuid, "MIG-00112233-4455-6677-8899-aabbccddeeff");
    assert_int_equal(find("MIG-00112233-4455"), 0);
    assert_int_equal(facts.ordinal, 0);
    played[0].model = "NVIDIA H200";
    setenv("CUDA_VISIBLE_DEVICES", "MIG-00112233-4455-6677-8899-aabbccddeeff", 1);
    assert_int_equal(find("cuda:0"), 0);
    assert_memory_equal(facts.uuid, "MIG-", 4);
}

static void expect_unfit(const char *text)
{
    assert_int_equal(find("cuda:0"), -EOPNOTSUPP);
    assert_string_equal(facts.uuid, UUID_0);
    if (!strstr(why, text))
        assert_string_equal(why, text);
    assert_string_equal(why, facts.why);
    assert_int_equal(find("cuda:1"), 0); /* the other one is as it was */
}

static void test_unfit_devices(void **state)
{
    (void)state;
    played[0].major = 7;
    played[0].minor = 5;
    expect_unfit("compute capability is 7.5 and 8.0 is wanted");
    played[0].major = 10;
    played[0].minor = 0;
    expect_unfit("CUDA_ARCHS=100");
    played[0].major = 9;
    played[0].mode = CU_COMPUTEMODE_PROHIBITED;
    expect_unfit("nvidia-smi -i " UUID_0 " -c DEFAULT");
    played[0].mode = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
    assert_int_equal(find("cuda:0"), 0);
}

static void test_no_kernels(void **state)
{
    (void)state;
    code = (struct cuda_code){0};
    assert_int_equal(find("cuda:0"), -EOPNOTSUPP);
    assert_non_null(strstr(why, "built without CUDA kernels"));
    assert_string_equal(facts.model, "NVIDIA H200");
}

/* A device that fell off the bus hides no other. */
static void test_a_device_that_does_not_answer(void **state)
{
    (void)state;
    played[0].failure = CUDA_ERROR_UNKNOWN;
    assert_int_equal(find("cuda:0"), -EIO);
    assert_non_null(strstr(why, "CUDA_ERROR_UNKNOWN, 999"));
    assert_int_equal(find(UUID_1), 0);
    assert_int_equal(facts.ordinal, 1);
    assert_int_equal(find(UUID_0), -ENODEV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_facts, setup),
        cmocka_unit_test_setup(test_all_names_of_a_device, setup),
        cmocka_unit_test_setup(test_names_of_none, setup),
        cmocka_unit_test_setup(test_parts_of_a_gpu, setup),
        cmocka_unit_test_setup(test_unfit_devices, setup),
        cmocka_unit_test_setup(test_no_kernels, setup),
        cmocka_unit_test_setup(test_a_device_that_does_not_answer, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
