/*
 * Devices: their names and properties. Which devices there are: `devices=` of PAWL_SOFTCUDA, then
 * CUDA_VISIBLE_DEVICES as the real driver reads it (indexes or UUIDs; what stands behind the first
 * that is none does not count). A SIGKILL leaves nothing.
 */
#include "tests/softcuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same for each index in every process, for workers are told devices by it. */
static struct cuda_uuid uuid_of_index(unsigned index)
{
    struct cuda_uuid uuid = {{'p', 'a', 'w', 'l', 's', 'o', 0x4f, 't', 0x8c, 'u', 'd', 'a'}};

    uuid.bytes[15] = (unsigned char)index;
    return uuid;
}

struct cuda_uuid soft_device_uuid(CUdevice device)
{
    return uuid_of_index(soft.visible[device]);
}

static void uuid_text(char *text, const char *prefix, const struct cuda_uuid *uuid)
{
    for (unsigned i = 0; i < sizeof(uuid->bytes); i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        text += sprintf(text, "%s%s%02x", i ? "" : prefix, dash ? "-" : "", uuid->bytes[i]);
    }
}

/* An index, or the beginning of "GPU-..." (as the real one allows). -1: none. */
static int index_of_word(const char *word)
{
    char text[CUDA_UUID_TEXT_BYTES], *end;
    unsigned long number = strtoul(word, &end, 10);

    if (end != word && !*end)
        return number < soft.options.devices ? (int)number : -1;
    for (unsigned i = 0; i < soft.options.devices; i++) {
        struct cuda_uuid uuid = uuid_of_index(i);
        uuid_text(text, soft.options.mig ? "MIG-" : "GPU-", &uuid);
        if (strlen(word) > 4 && !strncmp(word, text, strlen(word)))
            return (int)i;
    }
    return -1;
}

static void choose_from(char *list)
{
    char *word;

    while ((word = strsep(&list, ",")) && soft.visible_count < SOFT_DEVICES_MOST) {
        int index = index_of_word(word);
        if (index < 0)
            return;
        soft.visible[soft.visible_count++] = (unsigned)index;
    }
}

void soft_devices_choose(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");

    soft.visible_count = 0;
    if (list) {
        char copy[1024];
        snprintf(copy, sizeof(copy), "%s", list);
        choose_from(copy);
        return;
    }
    for (unsigned i = 0; i < soft.options.devices; i++)
        soft.visible[soft.visible_count++] = i;
}

static bool is_device(CUdevice device)
{
    return device >= 0 && (unsigned)device < soft.visible_count;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult code = soft_begin();

    if (code)
        return code;
    *count = (int)soft.visible_count;
    return soft_end(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult code = soft_begin();

    if (code)
        return code;
    if (!is_device(ordinal))
        return soft_end(CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return soft_end(CUDA_SUCCESS);
}

CUresult soft_begin_device(CUdevice device)
{
    CUresult code = soft_begin();

    if (code)
        return code;
    return is_device(device) ? CUDA_SUCCESS : soft_end(CUDA_ERROR_INVALID_DEVICE);
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    if (bytes < 1)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)bytes, "Pawl software device%s", soft.options.mig ? " MIG 1g.1gb" : "");
    return soft_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid_v2(struct cuda_uuid *uuid, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    *uuid = soft_device_uuid(device);
    return soft_end(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    *bytes = soft.options.memory_bytes;
    return soft_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    if (bytes < 13)
        return soft_end(CUDA_ERROR_INVALID_VALUE);
    snprintf(id, (size_t)bytes, "FFFF:%02X:00.0", soft.visible[device]);
    return soft_end(CUDA_SUCCESS);
}

struct attribute {
    int number, value;
};

static const struct attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SOFT_SHARED_BYTES},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0xffff},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1}, /* `noregister`: only the call fails */
};

/* -1: no such attribute is known here. */
static int constant_attribute(int number)
{
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (attributes[i].number == number)
            return attributes[i].value;
    return -1;
}

/* From the table of compute capabilities in NVIDIA's programming guide. */
int soft_shared_optin_bytes(void)
{
    switch (soft.options.capability) {
    case 86:
    case 89:
    case 120:
    case 121:
        return 99 << 10;
    case 80:
    case 87:
        return 163 << 10;
    default:
        return 227 << 10;
    }
}

static int attribute_of(int number, CUdevice device)
{
    const struct soft_options *o = &soft.options;

    switch (number) {
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return soft_shared_optin_bytes();
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return soft_shared_optin_bytes() + 1024;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return (int)soft.visible[device];
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
        return o->roregister;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        return o->prohibited ? CU_COMPUTEMODE_PROHIBITED : CU_COMPUTEMODE_DEFAULT;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return o->capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return o->capability % 10;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        return !o->novmm;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
        return o->mps;
    default:
        return constant_attribute(number);
    }
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    CUresult code = soft_begin_device(device);

    if (code)
        return code;
    *value = attribute_of(attribute, device);
    return soft_end(*value < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}
