/*
 * Opens a key that a client names by its path: any absolute path for root and for the coordinator's
 * own uid, for others only what lies below one of path_roots, resolved by the kernel (openat2), so
 * that no link and no `..` leads out and nothing can be exchanged between check and use.
 */
#ifndef PAWL_COORDINATOR_KEY_OPEN_H
#define PAWL_COORDINATOR_KEY_OPEN_H

#include <stddef.h>
#include <stdint.h>

struct config;

/* The fd of a regular file, or -errno with the reason in why. */
int key_open(const struct config *config, uint32_t uid, const char *path, char *why, size_t bytes);

#endif
