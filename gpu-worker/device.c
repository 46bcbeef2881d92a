/*
 * Devices by name: the CPU, and GPUs where this build has kernels for them.
 */
#include "gpu-worker/device.h"

#include <string.h>

#include "gpu-worker/cuda_devices.h"
#include "gpu-worker/cuda_modules.h"

int device_is_known(const char *name, const char **why)
{
    if (strcmp(name, "cpu") == 0)
        return 1;
    if (!cuda_devices_is_name(name))
        *why = "no such device: use cpu, cuda:N, or a UUID as gpu-worker --list-devices shows it";
    else if (cuda_modules_count() == 0)
        *why = "this gpu-worker was built without CUDA kernels: use --device cpu, or build it on a "
               "machine with nvcc (make CUDA=1)";
    else
        return 1;
    return 0;
}

struct device *device_open(const char *name, const struct device_settings *settings,
                           const char **why)
{
    if (!device_is_known(name, why))
        return NULL;
    return strcmp(name, "cpu") == 0 ? device_cpu_open(settings, why)
                                    : device_cuda_open(name, settings, why);
}
