/*
 * See the header. The kernel module says which node belongs to the GPU at a place on the bus. Where
 * that is hidden: the driver has the node open, and where it has just one, that is it. (It may have
 * those of all GPUs open, CUDA_VISIBLE_DEVICES or not.)
 */
#include "gpu-worker/cuda_node.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GPUS "/proc/driver/nvidia/gpus"
#define NODE "/dev/nvidia"
#define NODE_BYTES 32

/* N of the node /dev/nvidiaN of the GPU at this place ("0000:0a:00.0"), or -1. */
static int read_minor(const char *folder, const char *place)
{
    char path[128], line[128];
    int minor = -1;
    snprintf(path, sizeof(path), "%s/%s/information", folder, place);
    FILE *file = fopen(path, "re");
    while (file && minor < 0 && fgets(line, sizeof(line), file))
        sscanf(line, "Device Minor: %d", &minor);
    if (file)
        fclose(file);
    return minor;
}

static int find_minor(const struct cuda_driver *driver, CUdevice device)
{
    char place[32] = "";
    if (driver->cuDeviceGetPCIBusId(place, sizeof(place), device) != CUDA_SUCCESS)
        return -1;
    for (char *at = place; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return read_minor(GPUS, place);
}

/* 1 with the path in `out` where the descriptor is a GPU's own node: a number behind the name. */
static int read_node(char out[NODE_BYTES], const char *descriptor)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%.20s", descriptor);
    ssize_t bytes = readlink(path, out, NODE_BYTES - 1);
    if (bytes <= (ssize_t)strlen(NODE) || bytes >= NODE_BYTES - 1)
        return 0;
    out[bytes] = '\0';
    const char *number = out + strlen(NODE);
    return strncmp(out, NODE, strlen(NODE)) == 0 && strspn(number, "0123456789") == strlen(number);
}

/* How many different ones are open; the last of them in `found`. */
static int count_nodes(char found[NODE_BYTES])
{
    char node[NODE_BYTES];
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    found[0] = '\0';
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!read_node(node, entry->d_name) || strcmp(node, found) == 0)
            continue;
        memcpy(found, node, NODE_BYTES);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

int cuda_node_open(const struct cuda_driver *driver, CUdevice device)
{
    char node[NODE_BYTES];
    int minor = find_minor(driver, device);
    if (minor >= 0) {
        snprintf(node, sizeof(node), NODE "%d", minor);
        return open(node, O_RDWR | O_CLOEXEC);
    }
    return count_nodes(node) == 1 ? open(node, O_RDWR | O_CLOEXEC) : -1;
}
