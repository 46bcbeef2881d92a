/*
 * What every worker does the same way once it has its welcome: the settings that the coordinator
 * handed out, and last words at a crash.
 *
 * Called by the daemons' start, before they make threads (nice and cpus are inherited by them). A
 * SIGKILL leaves the seat page as it was.
 */
#ifndef PAWL_SHM_WORKER_START_H
#define PAWL_SHM_WORKER_START_H

#include <sched.h>
#include <stdint.h>

struct seat_page;
struct wire_welcome;

/*
 * Applies dumpable, nice and cpus of the welcome to the calling thread, and so to every thread made
 * after. 0, or -errno with *what naming the setting at fault ("dumpable", "nice", "cpus"): the rest
 * is applied all the same, and the caller logs it and goes on.
 */
int worker_settings_apply(const struct wire_welcome *welcome, const char **what);

/* Reads a cpu list such as "0-3,8" (numbers below CPU_SETSIZE, at least one). 0 or -EINVAL. */
int worker_parse_cpus(const char *text, cpu_set_t *cpus);

/* How many CPUs the calling thread may run on; at least 1. */
unsigned worker_count_cpus(void);

/*
 * From now on a fatal signal (SEGV, BUS, FPE, ILL, SYS, ABRT) or a failed assert of this process
 * leaves its last words in the page and then ends the process as it would have ended. `page` stays
 * mapped for the process's life; NULL stops it.
 */
void worker_crash_watch(struct seat_page *page);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t worker_now_ns(void);

#endif
