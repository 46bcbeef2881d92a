/*
 * Devices by name. This build has one, the CPU.
 */
#include "gpu-worker/device.h"

#include <string.h>

int device_is_known(const char *name, const char **why)
{
    if (strcmp(name, "cpu") == 0)
        return 1;
    *why = "no such device: this gpu-worker was built without CUDA kernels; use --device cpu";
    return 0;
}

struct device *device_open(const char *name, const struct device_settings *settings,
                           const char **why)
{
    return device_is_known(name, why) ? device_cpu_open(settings, why) : NULL;
}
