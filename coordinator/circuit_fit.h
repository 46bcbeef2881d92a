/*
 * Whether a circuit fits the slabs that there are.
 */
#ifndef PAWL_COORDINATOR_CIRCUIT_FIT_H
#define PAWL_COORDINATOR_CIRCUIT_FIT_H

#include <stddef.h>

struct circuit;
struct control;

/* 0, or -EFBIG with the bytes that it needs and the key to change in why. */
int circuit_fit_check(const struct control *control, const struct circuit *circuit, char *why,
                      size_t bytes);

#endif
