/*
 * Memory nodes; see the header. A SIGKILL leaves nothing but pages where they are.
 */
#include "shm/numa.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *take_number(const char *at, unsigned long *number)
{
    char *end;

    if (*at < '0' || *at > '9')
        return NULL;
    errno = 0;
    *number = strtoul(at, &end, 10);
    return errno || *number >= NUMA_NODES_MAX ? NULL : end;
}

uint64_t numa_parse_nodes(const char *text)
{
    uint64_t nodes = 0;
    unsigned long first, last;

    for (const char *at = text;; at++) {
        at = take_number(at, &first);
        last = first;
        if (at && *at == '-')
            at = take_number(at + 1, &last);
        if (!at || last < first)
            return 0;
        for (unsigned long node = first; node <= last; node++)
            nodes |= UINT64_C(1) << node;
        if (*at != ',')
            return *at == '\0' || *at == '\n' ? nodes : 0;
    }
}

uint64_t numa_nodes_online(const char *root)
{
    char path[4096], text[256] = "";

    snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(text, sizeof(text), file))
            text[0] = '\0';
        fclose(file);
    }
    uint64_t nodes = numa_parse_nodes(text);
    return nodes ? nodes : 1;
}

uint64_t numa_choose(uint64_t online, uint32_t numa)
{
    if ((online & (online - 1)) == 0)
        return 0;
    if (numa == NUMA_AUTO || numa > NUMA_NODES_MAX || !(online >> (numa - 1) & 1))
        return online;
    return UINT64_C(1) << (numa - 1);
}

void numa_place(void *memory, uint64_t bytes, uint32_t numa)
{
    unsigned long nodes = numa_choose(numa_nodes_online(""), numa);
    int is_one = (nodes & (nodes - 1)) == 0;

    if (nodes)
        (void)syscall(SYS_mbind, memory, bytes, is_one ? MPOL_PREFERRED : MPOL_INTERLEAVE, &nodes,
                      NUMA_NODES_MAX + 1, 0);
}
