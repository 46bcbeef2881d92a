/*
 * Files that clients name by path, below path_roots in [pawl].
 */
#ifndef PAWL_COORDINATOR_PATH_ROOTS_H
#define PAWL_COORDINATOR_PATH_ROOTS_H

#include <stdint.h>

struct config;

/*
 * The root that an absolute path lies below, by its text alone, and in *rest what of the path
 * follows it (of path's memory). NULL: below none. Pure.
 */
const char *path_roots_find(const struct config *config, const char *path, const char **rest);
/*
 * Opens `rest` below the folder `root` for reading. resolve: flags of openat2 besides those that
 * keep it below the root and out of /proc's magic links. It does not wait for a FIFO's writer, but
 * may wait for the disk. A fd, the caller's; -EINVAL where it is no regular file, -errno.
 */
int path_roots_open(const char *root, const char *rest, uint64_t resolve);

#endif
