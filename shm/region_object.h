/*
 * One object of the region: shared memory that has no name any more, of a fixed size, reserved page
 * by page. What it is made of (the backing) is chosen by the configuration.
 *
 *   shm        shm_open(O_EXCL), opened once more read-only, shm_unlink at once: counts against
 *              /dev/shm
 *   memfd      sealed against shrinking and growing
 *   hugetlbfs  a memfd of huge pages of the machine's default size, sealed likewise
 *
 * Called by region.c alone. A SIGKILL leaves nothing; with shm an empty name if it comes between
 * the two system calls that make it and take it away.
 */
#ifndef PAWL_SHM_REGION_OBJECT_H
#define PAWL_SHM_REGION_OBJECT_H

#include <stdint.h>

enum region_backing { BACKING_SHM, BACKING_MEMFD, BACKING_HUGETLBFS };

/* "shm", "memfd", "hugetlbfs"; -EINVAL. */
int region_backing_parse(const char *name);
/* What sizes and offsets of slabs are multiples of: the page, or the huge page. 0: the machine has
 * no huge pages. */
uint64_t region_backing_unit(enum region_backing backing);

/* What the backing's own pool has left: free space of /dev/shm, free huge pages; UINT64_MAX where
 * memory alone counts. */
uint64_t region_backing_room(enum region_backing backing);

/* fds, O_CLOEXEC; -1 where there is none. */
struct region_object {
    int rw, ro;
};

/*
 * Makes an object of that size (a multiple of the backing's unit) without a single page; with memfd
 * and hugetlbfs it is sealed then. 0 or -errno (-ENOSPC: more than the machine has at all;
 * -EFBIG: RLIMIT_FSIZE; -EOPNOTSUPP: no huge pages here); on error both fds are -1.
 */
int region_object_open(struct region_object *object, enum region_backing backing, uint64_t bytes);
void region_object_close(struct region_object *object);

/*
 * Reserves and touches every page of a part through a mapping that it drops again, placed as
 * lane_spec's `numa` says. Offset and size are multiples of the unit. 0 or -errno (-ENOSPC: there
 * is no room for all of it).
 */
int region_object_fill(int fd, uint64_t offset, uint64_t bytes, uint32_t numa);

#endif
