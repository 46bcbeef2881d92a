/*
 * The region among the coordinator's parts: made before everything that stands on it, planned for
 * the circuits once they are known; see loop.h. Failures are said by the caller.
 */
#include "coordinator/loop.h"

#include <errno.h>

#include "coordinator/planner.h"
#include "shm/program.h"

int loop_make_region(struct loop *loop, char *why, size_t bytes)
{
    int error = planner_make_region(&loop->planner, &loop->config, &loop->region, why, bytes);
    if (error)
        loop->region.control.header = NULL;
    return error == -EINVAL ? EXIT_CONFIG : error ? EXIT_MACHINE : 0;
}

int loop_plan_slabs(struct loop *loop, char *why, size_t bytes)
{
    int error = planner_start(&loop->planner, loop->service.base, &loop->meter, &loop->workers,
                              &loop->engine, &loop->circuits, why, bytes);
    return error ? EXIT_MACHINE : 0;
}
