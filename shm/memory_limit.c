/*
 * The machine's and the control groups' memory; see the header. Keeps nothing.
 */
#include "shm/memory_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 1 says "no limit" by a number of this size. */
#define NO_LIMIT_FROM (UINT64_C(1) << 60)

static FILE *open_below(const char *root, const char *path)
{
    char whole[PATH_MAX];

    if ((size_t)snprintf(whole, sizeof(whole), "%s%s", root, path) >= sizeof(whole))
        return NULL;
    return fopen(whole, "re");
}

uint64_t memory_machine_bytes(const char *root)
{
    FILE *file = open_below(root, "/proc/meminfo");
    char line[256];
    uint64_t kib = 0;

    while (file && !kib && fgets(line, sizeof(line), file))
        if (sscanf(line, "MemTotal: %" SCNu64 " kB", &kib) != 1)
            kib = 0;
    if (file)
        fclose(file);
    return kib ? kib * 1024 : UINT64_MAX;
}

/* The number in a file such as memory.max; UINT64_MAX for "max", nonsense, and no file. */
static uint64_t read_limit(const char *root, const char *folder, const char *name)
{
    char path[PATH_MAX], text[64] = "", *end;
    uint64_t bytes;

    if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
        return UINT64_MAX;
    FILE *file = open_below(root, path);
    if (!file)
        return UINT64_MAX;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    if (text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    errno = 0;
    bytes = strtoull(text, &end, 10);
    return errno || (*end && *end != '\n') || bytes >= NO_LIMIT_FROM ? UINT64_MAX : bytes;
}

/* The lowest limit from the group up to the mount. A group that cannot be seen from here (its path
 * belongs to another namespace) leaves the mount's own. */
static uint64_t lowest_limit(const char *root, const char *mount, const char *group,
                             const char *name)
{
    char folder[PATH_MAX];
    uint64_t lowest = UINT64_MAX;
    size_t mount_length = strlen(mount);

    if (strstr(group, ".."))
        group = "";
    if ((size_t)snprintf(folder, sizeof(folder), "%s%s", mount, group) >= sizeof(folder))
        return UINT64_MAX;
    for (;;) {
        uint64_t bytes = read_limit(root, folder, name);

        if (bytes < lowest)
            lowest = bytes;
        if (strlen(folder) <= mount_length)
            return lowest;
        *strrchr(folder, '/') = '\0';
    }
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int names_memory(const char *controllers)
{
    for (const char *at = controllers; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == 6 && strncmp(at, "memory", 6) == 0)
            return 1;
    return 0;
}

/* A line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':'), *group;

    line[strcspn(line, "\n")] = '\0';
    group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return UINT64_MAX;
    *group++ = '\0';
    if (strcmp(line, "0:") == 0)
        return lesser(lowest_limit(root, "/sys/fs/cgroup", group, "memory.max"),
                      lowest_limit(root, "/sys/fs/cgroup/unified", group, "memory.max"));
    if (!names_memory(controllers + 1))
        return UINT64_MAX;
    return lowest_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

uint64_t memory_cgroup_bytes(const char *root)
{
    FILE *file = open_below(root, "/proc/self/cgroup");
    char line[PATH_MAX];
    uint64_t bytes = UINT64_MAX;

    while (file && fgets(line, sizeof(line), file))
        bytes = lesser(bytes, limit_of_line(root, line));
    if (file)
        fclose(file);
    return bytes;
}

uint64_t memory_limit_bytes(const char *root)
{
    return lesser(memory_machine_bytes(root), memory_cgroup_bytes(root));
}
