/*
 * From which wires a generator takes its operands: those that wait for a first use, then any that
 * were used before. So all wires meant for a side appear on it, and no others do: that sets the
 * share of points at infinity.
 */
#ifndef PAWL_TESTS_TESTKEY_OPERANDS_H
#define PAWL_TESTS_TESTKEY_OPERANDS_H

#include <stddef.h>
#include <stdint.h>

struct operands {
    uint32_t *wire; /* the first `used` were taken before; the others wait, in order */
    size_t used, count, capacity;
};

/* A wire that must be taken. */
void operands_add(struct operands *operands, uint32_t wire);
/* A wire that may be taken. */
void operands_add_used(struct operands *operands, uint32_t wire);
/* Takes up to `count` different wires into out; returns how many there were. */
size_t operands_take(struct operands *operands, uint32_t *out, size_t count, uint64_t *state);

#endif
