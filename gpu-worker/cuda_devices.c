/*
 * See the header.
 */
#include "gpu-worker/cuda_devices.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpu-worker/cuda_fatbin.h"
#include "gpu-worker/cuda_modules.h"

struct cuda_code cuda_devices_own_code(void)
{
    struct cuda_code code = {0};
    if (cuda_modules_count() > 0) {
        code.image = cuda_modules_at(0)->image;
        code.bytes = cuda_modules_at(0)->bytes;
    }
    return code;
}

/* ---- what a device is ---- */

static CUresult read_number(const struct cuda_driver *driver, CUdevice device, int attribute,
                            int *value)
{
    *value = 0;
    return driver->cuDeviceGetAttribute(value, attribute, device);
}

/* An attribute that an older driver may not know: then 0. */
static int read_optional(const struct cuda_driver *driver, CUdevice device, int attribute)
{
    int value;
    return read_number(driver, device, attribute, &value) == CUDA_SUCCESS ? value : 0;
}

static CUresult read_capability(const struct cuda_driver *driver, struct cuda_facts *facts)
{
    int major, minor;
    CUresult code =
        read_number(driver, facts->device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    if (code == CUDA_SUCCESS)
        code = read_number(driver, facts->device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                           &minor);
    if (code == CUDA_SUCCESS)
        facts->capability = major * 10 + minor;
    return code;
}

static CUresult read_model(const struct cuda_driver *driver, struct cuda_facts *facts)
{
    CUresult code = driver->cuDeviceGetName(facts->model, CUDA_MODEL_BYTES, facts->device);
    facts->model[CUDA_MODEL_BYTES - 1] = 0;
    for (char *at = facts->model; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
            *at = '?';
    return code;
}

/* No call says that a device is a part of a GPU (MIG); its model's name does, and who chose it. */
static const char *uuid_prefix(const struct cuda_facts *facts)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int part = strstr(facts->model, " MIG ") || (visible && strncmp(visible, "MIG-", 4) == 0);
    return part ? "MIG-" : "GPU-";
}

static CUresult read_uuid(const struct cuda_driver *driver, struct cuda_facts *facts)
{
    struct cuda_uuid uuid;
    CUresult code = driver->cuDeviceGetUuid(&uuid, facts->device);
    if (code == CUDA_SUCCESS)
        cuda_uuid_format(facts->uuid, uuid_prefix(facts), &uuid);
    return code;
}

static CUresult read_memory(const struct cuda_driver *driver, struct cuda_facts *facts)
{
    size_t bytes = 0;
    CUresult code = driver->cuDeviceTotalMem(&bytes, facts->device);
    facts->memory_bytes = bytes;
    return code;
}

static CUresult read_facts(const struct cuda_driver *driver, struct cuda_facts *facts)
{
    CUresult code = driver->cuDeviceGet(&facts->device, facts->ordinal);
    if (code == CUDA_SUCCESS)
        code = read_model(driver, facts);
    if (code == CUDA_SUCCESS)
        code = read_uuid(driver, facts);
    if (code == CUDA_SUCCESS)
        code = read_capability(driver, facts);
    if (code == CUDA_SUCCESS)
        code = read_memory(driver, facts);
    if (code == CUDA_SUCCESS)
        code = read_number(driver, facts->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                           &facts->multiprocessors);
    facts->shared_by_mps = read_optional(driver, facts->device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    return code;
}

/* ---- whether it will do ---- */

static void judge_code(const struct cuda_driver *driver, const struct cuda_code *code,
                       struct cuda_facts *facts)
{
    char text[CUDA_WHY_BYTES / 2];
    enum fatbin_fit fit = cuda_fatbin_fits(code->image, code->bytes, facts->capability,
                                           driver->version, text, sizeof(text));
    facts->compiles = fit == FATBIN_PTX;
    if (fit == FATBIN_UNFIT)
        snprintf(facts->why, CUDA_WHY_BYTES, "no code for its compute capability %d.%d; %s",
                 facts->capability / 10, facts->capability % 10, text);
}

static void judge(const struct cuda_driver *driver, const struct cuda_code *code,
                  struct cuda_facts *facts)
{
    int mode = read_optional(driver, facts->device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    if (!code->image)
        snprintf(facts->why, CUDA_WHY_BYTES,
                 "built without CUDA kernels: build with nvcc (make CUDA=1)");
    else if (facts->capability < CUDA_CAPABILITY_LEAST)
        snprintf(facts->why, CUDA_WHY_BYTES,
                 "too old: its compute capability is %d.%d and %d.%d is wanted",
                 facts->capability / 10, facts->capability % 10, CUDA_CAPABILITY_LEAST / 10,
                 CUDA_CAPABILITY_LEAST % 10);
    else if (mode == CU_COMPUTEMODE_PROHIBITED)
        snprintf(facts->why, CUDA_WHY_BYTES,
                 "its compute mode prohibits it: nvidia-smi -i %s -c DEFAULT", facts->uuid);
    else
        judge_code(driver, code, facts);
}

CUresult cuda_devices_read(const struct cuda_driver *driver, int ordinal,
                           const struct cuda_code *code, struct cuda_facts *facts)
{
    memset(facts, 0, sizeof(*facts));
    facts->ordinal = ordinal;
    CUresult result = read_facts(driver, facts);
    if (result == CUDA_SUCCESS)
        judge(driver, code, facts);
    else
        snprintf(facts->why, CUDA_WHY_BYTES,
                 "the driver does not describe it (%s, %d): see nvidia-smi and the kernel log",
                 cuda_driver_error_name(driver, result), result);
    return result;
}

/* ---- by name ---- */

static int is_uuid_name(const char *name)
{
    return strncasecmp(name, "GPU-", 4) == 0 || strncasecmp(name, "MIG-", 4) == 0;
}

int cuda_devices_is_name(const char *name)
{
    return strncmp(name, "cuda:", 5) == 0 || is_uuid_name(name);
}

/* N of "cuda:N", or -1. */
static long read_ordinal(const char *name)
{
    const char *digits = name + 5;
    char *end;
    if (strncmp(name, "cuda:", 5) != 0 || !isdigit((unsigned char)*digits))
        return -1;
    errno = 0;
    long ordinal = strtol(digits, &end, 10);
    return *end || errno ? -1 : ordinal;
}

static int find_uuid(const struct cuda_driver *driver, const char *name,
                     const struct cuda_code *code, struct cuda_facts *facts)
{
    struct cuda_facts one;
    int found = 0;
    for (int i = 0; i < driver->devices; i++) {
        if (cuda_devices_read(driver, i, code, &one) != CUDA_SUCCESS && !one.uuid[0])
            continue;
        if (strncasecmp(one.uuid, name, strlen(name)) != 0)
            continue;
        *facts = one;
        found++;
    }
    return found;
}

int cuda_devices_find(const struct cuda_driver *driver, const char *name,
                      const struct cuda_code *code, struct cuda_facts *facts, char *why,
                      size_t why_bytes)
{
    long ordinal = read_ordinal(name);
    int found = 0;
    if (ordinal >= 0 && ordinal < driver->devices) {
        found = 1;
        if (cuda_devices_read(driver, (int)ordinal, code, facts) != CUDA_SUCCESS) {
            snprintf(why, why_bytes, "%s", facts->why);
            return -EIO;
        }
    } else if (is_uuid_name(name)) {
        found = find_uuid(driver, name, code, facts);
    }
    if (found != 1) {
        snprintf(why, why_bytes,
                 "%s device of this name among the %d that the driver shows (CUDA_VISIBLE_DEVICES "
                 "counts): see gpu-worker --list-devices",
                 found ? "more than one" : "no such", driver->devices);
        return -ENODEV;
    }
    snprintf(why, why_bytes, "%s", facts->why);
    return facts->why[0] ? -EOPNOTSUPP : 0;
}
