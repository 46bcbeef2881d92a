/*
 * See the header. The driver has the node open: its name is among this process's descriptors.
 */
#include "gpu-worker/cuda_node.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NODE "/dev/nvidia"
#define NODE_BYTES 32

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

int cuda_node_open(void)
{
    char node[NODE_BYTES];
    return count_nodes(node) == 1 ? open(node, O_RDWR | O_CLOEXEC) : -1;
}
