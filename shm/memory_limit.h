/*
 * How much memory this process may use with all that it starts: what the machine has, and what the
 * control groups that it is in allow, of either version, up to the root of what is mounted.
 *
 * Reads /proc and /sys below `root` ("" but in tests). Called at the start and by `pawl doctor`.
 */
#ifndef PAWL_SHM_MEMORY_LIMIT_H
#define PAWL_SHM_MEMORY_LIMIT_H

#include <stdint.h>

/* MemTotal; UINT64_MAX where it cannot be read. */
uint64_t memory_machine_bytes(const char *root);
/* The lowest limit of a control group that holds this process; UINT64_MAX: none. */
uint64_t memory_cgroup_bytes(const char *root);
/* The lesser of both. */
uint64_t memory_limit_bytes(const char *root);

#endif
