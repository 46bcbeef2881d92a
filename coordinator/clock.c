/*
 * Time and the longest callback; see the header. Called by everything that the loop calls. A
 * SIGKILL leaves nothing.
 */
#include "coordinator/clock.h"

#include <time.h>

uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_enter(void)
{
    return clock_now_ns();
}

void clock_leave(struct clock_meter *meter, uint64_t entered_ns)
{
    uint64_t spent_ns = clock_now_ns() - entered_ns;
    if (spent_ns > meter->longest_ns)
        meter->longest_ns = spent_ns;
}
