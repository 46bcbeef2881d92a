/*
 * Whether a worker's hello fits this coordinator.
 */
#ifndef PAWL_COORDINATOR_HELLO_H
#define PAWL_COORDINATOR_HELLO_H

#include <stdint.h>

#include "shm/wire.h"

struct refusal {
    uint32_t exit_code; /* what the worker exits with; enum program_exit */
    char why[WIRE_TEXT_BYTES];
};

/* Fills the refusal from a printf format. Returns -EACCES. */
int refuse(struct refusal *refusal, uint32_t exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Protocol, layouts, build id, role, device. 0, or -EACCES with the refusal filled. */
int hello_check(const struct wire_hello *hello, struct refusal *refusal);

#endif
