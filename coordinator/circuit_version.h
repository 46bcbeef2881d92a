/*
 * One version of a circuit: its image and, where it has one, its witness program, opened and
 * checked.
 */
#ifndef PAWL_COORDINATOR_CIRCUIT_VERSION_H
#define PAWL_COORDINATOR_CIRCUIT_VERSION_H

#include <stddef.h>
#include <stdint.h>

struct circuit;
struct circuit_names;
struct circuit_programs;

/* The image with that hash and the program ("": none), in no list yet; circuit_version_free. NULL
 * with the reason in why. */
struct circuit *circuit_version_open(const struct circuit_names *names,
                                     const struct circuit_programs *programs, const uint8_t *hash,
                                     const char *program, char *why, size_t bytes);
void circuit_version_free(struct circuit *circuit);
/* Whether it is the one with that image and that program. */
int circuit_version_is(const struct circuit *circuit, const uint8_t *hash, const char *program);

#endif
