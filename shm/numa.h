/*
 * On which memory node pages are to lie. A layer over one system call and one file of /sys: no
 * library, for a machine with one node, which most are, has nothing to gain from one.
 *
 * Called where the region is populated, and by whoever shows the machine. Keeps nothing.
 */
#ifndef PAWL_SHM_NUMA_H
#define PAWL_SHM_NUMA_H

#include <stdint.h>

#define NUMA_NODES_MAX 64u

/* `numa` of a lane: auto is 0, node N is N + 1. */
#define NUMA_AUTO 0u

/*
 * The nodes that are online, bit n for node n, as `root`/sys/devices/system/node/online lists them
 * ("0-1,4"). root: "" but in tests. 1 (node 0 alone) where that cannot be read or makes no sense.
 */
uint64_t numa_nodes_online(const char *root);
/* Reads such a list; 0 where it is none. */
uint64_t numa_parse_nodes(const char *text);

/*
 * The nodes on which a lane's pages go: with auto all of them in turn, so that no device is far
 * from all of its slabs; else the one named, or auto where that one is not online. 0: nothing is to
 * be done, for there is but one node.
 */
uint64_t numa_choose(uint64_t online, uint32_t numa);

/* Places pages that are not there yet; on a machine with one node nothing happens. Best effort: a
 * kernel that refuses leaves them where they fall. */
void numa_place(void *memory, uint64_t bytes, uint32_t numa);

#endif
