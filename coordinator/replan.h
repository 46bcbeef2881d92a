/*
 * Other slabs for the lanes while the service runs: what lane_plan.h decided is carried out here.
 *
 *               no slab is granted                    all workers have mapped
 *               until all are FREE                    an object without slabs
 *      IDLE ──────────────────────> DRAINING ───────────────────────────────> LETTING_GO
 *       ▲                               │ there were no slabs                      │ the old memory
 * is free │   the new object is whole     ▼                                          │
 *       └─────────────────────────── MAKING <──────────────────────────────────────┘
 *
 * The old object goes before the new one is made, for there may not be memory for both. Making it
 * is cut into parts of PART_BYTES, each a callback of its own, so that the loop serves meanwhile.
 * Where the machine refuses memory after all, the plan before is made again, and what was wanted
 * has failed.
 *
 * A worker that is dead or lost is not waited for; one that hangs is the watchdog's. After a
 * SIGKILL of the coordinator nothing of this is left.
 */
#ifndef PAWL_COORDINATOR_REPLAN_H
#define PAWL_COORDINATOR_REPLAN_H

#include <stdint.h>

#include "shm/region.h"

struct clock_meter;
struct engine;
struct event;
struct event_base;
struct workers;

enum replan_phase { REPLAN_IDLE, REPLAN_DRAINING, REPLAN_LETTING_GO, REPLAN_MAKING };

struct replan {
    struct region *region;
    struct workers *workers;
    struct engine *engine;
    struct clock_meter *meter;
    /* The plan has been carried out (0), or could not be and the one before stands again (-errno).
     * Set by the owner. */
    void (*done)(void *arg, int error);
    void *arg;
    enum replan_phase phase;
    struct lane_spec present[LANES_MAX], wanted[LANES_MAX];
    struct region_slabs slabs; /* in the making */
    int failure;               /* of the plan that was wanted; the one before is made */
    uint64_t retry_ns;         /* not before */
    uint64_t plans_total;
    struct event *part_event;
};

/* present: what the region was created with. 0 or -ENOMEM. All are borrowed. */
int replan_init(struct replan *replan, struct event_base *base, struct clock_meter *meter,
                struct region *region, struct workers *workers, struct engine *engine,
                const struct lane_spec *present);
void replan_free(struct replan *replan);
/* Whether the plan that stands, or the one that is being carried out, is this one. */
int replan_is(const struct replan *replan, const struct lane_spec *lanes);
/* Begins, or turns what is under way to another aim. `done` follows, once. */
void replan_start(struct replan *replan, const struct lane_spec *lanes);
/* Goes on where it can. */
void replan_tick(struct replan *replan);
/* The whole at once, blocking: at the start, while there are no workers. 0 or -errno, with the
 * region without slabs then. */
int replan_now(struct replan *replan, const struct lane_spec *lanes);

#endif
