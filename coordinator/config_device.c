/*
 * What the configuration says of single devices: [device NAME], and what devices = auto stands for.
 * Called by the reader of the file, the command line and dispatch's feeder. A SIGKILL leaves
 * nothing.
 */
#include "coordinator/config_internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct config_device *find(const struct config *config, const char *name)
{
    for (uint32_t i = 0; i < config->device_use_count; i++)
        if (strcmp(config->device_uses[i].name, name) == 0)
            return (struct config_device *)(uintptr_t)&config->device_uses[i];
    return NULL;
}

struct config_device *config_device_enter(struct config *config, const char *name)
{
    struct config_device *device = find(config, name);

    if (device || config->device_use_count == CONFIG_DEVICES_MAX)
        return device;
    device = &config->device_uses[config->device_use_count++];
    config_set_defaults("device", device);
    snprintf(device->name, sizeof(device->name), "%s", name);
    return device;
}

int config_is_fallback(const struct config *config, const char *device)
{
    const struct config_device *known = find(config, device);

    if (known && known->use != DEVICE_USE_AUTO)
        return known->use == DEVICE_USE_FALLBACK;
    return strcmp(device, "cpu") == 0;
}

int config_settle_devices(struct config *config, const char *list)
{
    const struct config_key *key = config_key_find("workers", "devices");

    if (config->device_count != 1 || strcmp(config->devices[0], "auto") != 0)
        return 0;
    key->kind->clear(config);
    int error = key->kind->set(key, config, list);
    return error || config->device_count ? error : -EINVAL;
}
