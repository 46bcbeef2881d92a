/*
 * Images that were damaged on disk. No image is read whole while all goes well. Where partitions of
 * a version fail by our own fault, its image is suspect: the next compile for a name that leads to
 * it (`pawl circuit add` with the same key) has the child hold the image against its checksum and
 * make it again, and what it made takes the damaged one's place in every version and worker.
 */
#ifndef PAWL_COORDINATOR_CIRCUIT_MEND_H
#define PAWL_COORDINATOR_CIRCUIT_MEND_H

#include <stdint.h>

struct circuit_name;
struct circuits;

/* A partition of the version with that number failed, and the fault is ours. */
void circuit_mend_suspect(struct circuits *circuits, uint32_t number);
/* Whether the next compile for the name is to read an image that is there: where the name has no
 * version yet (one was removed for the damage, perhaps), or a suspect one. */
int circuit_mend_wants_check(const struct circuit_name *name);
/* A child has found the image with that hash whole, or has made it: then versions that have an
 * older file of that hash open get this one, and workers are sent it before its next use. */
void circuit_mend_made(struct circuits *circuits, const uint8_t *hash, int made);

#endif
