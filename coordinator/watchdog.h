/*
 * Ends workers that hang: whose progress counter stands still past the deadline of their stage, or
 * who do not end although their socket has. SIGTERM, then SIGKILL, through the pidfd; death is
 * what follows, never what is assumed. A gpu-worker that does not die of SIGKILL (its driver hangs)
 * is lost with its device: it can only read slabs, so they are taken from it although it lives.
 */
#ifndef PAWL_COORDINATOR_WATCHDOG_H
#define PAWL_COORDINATOR_WATCHDOG_H

#include <stdint.h>

struct worker;
struct workers;

/* Looks at every worker; called at each tick. */
void watchdog_tick(struct workers *workers, uint64_t now_ns);
/* The worker should end by itself now; the watchdog ends it if it does not. */
void watchdog_expect_end(struct worker *worker, uint64_t now_ns);

#endif
