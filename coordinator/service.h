/*
 * What the HTTP face and the loop see of the running coordinator: its parts, by pointer.
 */
#ifndef PAWL_COORDINATOR_SERVICE_H
#define PAWL_COORDINATOR_SERVICE_H

#include <stdint.h>

struct attach;
struct circuits;
struct clock_meter;
struct config;
struct disk_thread;
struct dispatch;
struct engine;
struct planner;
struct event_base;
struct region;
struct spool;
struct store;
struct uploads;
struct waiters;
struct workers;

struct service {
    struct event_base *base;
    struct clock_meter *meter;
    const struct config *config;
    struct region *region;
    struct disk_thread *disk;
    struct store *store;
    struct dispatch *dispatch;
    struct engine *engine;
    struct workers *workers;
    struct attach *attach;
    struct circuits *circuits;
    struct planner *planner;
    struct spool *spool;
    struct uploads *uploads;
    struct waiters *waiters;
    uint64_t started_ns;
    uint32_t accepting; /* jobs that are posted and not answered */
    uint32_t arriving;  /* of these, the ones that the store has not been given yet */
    int draining;       /* no new work is taken */
    int stopping;       /* the server is being taken down */
};

#endif
