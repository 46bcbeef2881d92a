/*
 * Time as the coordinator uses it, and how long the loop was away.
 *
 * Every callback of the loop is enclosed in clock_enter and clock_leave; the longest one is
 * published as loop_max_ms, so that a callback that blocks is seen from outside.
 */
#ifndef PAWL_COORDINATOR_CLOCK_H
#define PAWL_COORDINATOR_CLOCK_H

#include <stdint.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

struct clock_meter {
    uint64_t longest_ns;
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_now_ns(void);
/* When a callback begins: what clock_leave wants back. */
uint64_t clock_enter(void);
void clock_leave(struct clock_meter *meter, uint64_t entered_ns);

#endif
