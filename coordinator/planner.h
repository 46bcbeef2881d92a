/*
 * What the service's memory is spent on: decides whether a circuit is taken, and how large the
 * slabs are for the circuits that there are.
 *
 * Before a circuit serves, region, images, heaps, device scratch and spool are added up with it
 * (memory.h); what does not fit is refused. Lanes of `size = auto` are planned from what is left
 * (lane_plan.h), and where that is another plan than the one that stands, it is carried out while
 * the service runs (replan.h), and the circuit serves from then on.
 */
#ifndef PAWL_COORDINATOR_PLANNER_H
#define PAWL_COORDINATOR_PLANNER_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/memory.h"
#include "coordinator/replan.h"

struct circuit;
struct circuits;
struct config;

#define PLANNER_TEXT_BYTES 1024u

struct planner {
    const struct config *config;
    struct region *region;
    struct workers *workers;
    struct circuits *circuits;
    struct replan replan;
    uint64_t limit_bytes; /* of the machine and the control group */
    int is_ready;         /* everything stands: plans may be carried out */
};

/*
 * The region as far as it is known before any circuit is. All are borrowed. 0; -ENOSPC, -EINVAL or
 * another -errno of region_create, with what to do in why.
 */
int planner_make_region(struct planner *planner, const struct config *config, struct region *region,
                        char *why, size_t bytes);
/* Once engine, workers and the circuits' names stand: plans for the circuits that there are and
 * makes their slabs, blocking. 0 or -errno with why. */
int planner_start(struct planner *planner, struct event_base *base, struct clock_meter *meter,
                  struct workers *workers, struct engine *engine, struct circuits *circuits,
                  char *why, size_t bytes);
void planner_stop(struct planner *planner);
void planner_tick(struct planner *planner);

/* For the status: the terms as they are planned now. */
void planner_terms(const struct planner *planner, struct memory_terms *terms);
uint64_t planner_budget_bytes(const struct planner *planner);

#endif
