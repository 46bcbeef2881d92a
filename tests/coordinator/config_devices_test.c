/*
 * The configuration of devices: which there are to be, what auto stands for, which are fallbacks.
 */
#include "tests/coordinator/config_rig.h"

#include <errno.h>

static void test_devices(void **state)
{
    char many[2048] = "", value[256];

    (void)state;
    load_well("");
    assert_true(config_is_fallback(&loaded, "cpu"));
    assert_false(config_is_fallback(&loaded, "GPU-1"));
    load_well("[device cpu]\nuse = always\n[device GPU-1]\nuse = fallback\n[device GPU-2]\n"
              "[device GPU-3]\nuse = auto\n[device cpu]\n");
    assert_int_equal(loaded.device_use_count, 4);
    assert_false(config_is_fallback(&loaded, "cpu"));
    assert_true(config_is_fallback(&loaded, "GPU-1"));
    assert_false(config_is_fallback(&loaded, "GPU-2"));
    assert_false(config_is_fallback(&loaded, "GPU-3"));
    assert_false(config_is_fallback(&loaded, "GPU-4"));
    refuse("[device cpu]\nuse = never\n", ":2: use = never: auto, always or fallback is wanted");
    refuse("[device cuda:0]\nuse = always\n",
           ":1: [device cuda:0]: cuda:N can be another device at each start; name it by its UUID, "
           "which `gpu-worker --list-devices` prints");
    refuse("[device 0123456789012345678901234567890123456789012345678901234567890123]\n",
           ":1: [device 0123456789012345678901234567890123456789012345678901234567890123]: "
           "a device's name has at most 63 characters");
    for (int i = 0; i < CONFIG_DEVICES_MAX + 1; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), "[device GPU-%d]\n", i);
    refuse(many, ":17: [device GPU-16]: more than 16 devices");
    refuse("[workers]\ndevices = cpu auto\n", ":2: devices = cpu auto: auto, or a list of at "
                                              "most 16 devices (cpu, cuda:N, a UUID) is wanted");
    refuse("[workers]\ndevices = auto\n cuda:0\n", ":3: devices = cuda:0: auto, or a list of at "
                                                   "most 16 devices (cpu, cuda:N, a UUID) is "
                                                   "wanted");

    load_well("[workers]\ndevices = auto\n"); /* what it stands for comes from outside */
    assert_int_equal(config_settle_devices(&loaded, ""), -EINVAL);
    load_well("");
    assert_int_equal(config_settle_devices(&loaded, "GPU-1 cpu"), 0);
    assert_int_equal(config_get(&loaded, "workers.devices", value, sizeof(value)), 0);
    assert_string_equal(value, "GPU-1 cpu");
    assert_int_equal(config_settle_devices(&loaded, "GPU-2"), 0); /* named by now */
    assert_int_equal(loaded.device_count, 2);
    load_well("");
    assert_int_equal(config_settle_devices(&loaded, "not/a/device"), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices)};

    return cmocka_run_group_tests_name("config_devices", tests, set_up, tear_down);
}
