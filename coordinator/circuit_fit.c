/*
 * Which lane a circuit fits; see circuits.h. Pure.
 */
#include "coordinator/circuits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/circuit_fit.h"
#include "coordinator/store.h"
#include "shm/control.h"

static uint64_t bytes_needed(const struct circuit *circuit, const struct control_lane *lane)
{
    return lane->rows == ROWS_DEVICE ? circuit->slab_bytes_without_rows : circuit->slab_bytes;
}

static int fits(const struct circuit *circuit, const struct control_lane *lane)
{
    return lane->slab_count && bytes_needed(circuit, lane) <= lane->slab_bytes;
}

/* The smallest lane that fits and serves one of the priorities; -1: none. Lanes of auto_lanes fit
 * whatever serves, also while their slabs are being made. */
static int find_smallest(const struct control *control, uint32_t auto_lanes,
                         const struct circuit *circuit, uint32_t priorities)
{
    uint64_t least = UINT64_MAX;
    int best = -1;
    for (uint32_t i = 0; i < control->header->lane_count; i++) {
        const struct control_lane *lane = &control->lanes[i];
        uint64_t bytes = lane->slab_bytes;
        if (auto_lanes >> i & 1u && !fits(circuit, lane))
            bytes = bytes_needed(circuit, lane);
        else if (!fits(circuit, lane))
            continue;
        if (!(lane->priorities & priorities) || bytes >= least)
            continue;
        least = bytes;
        best = (int)i;
    }
    return best;
}

int circuit_fit_check(const struct control *control, const struct circuit *circuit, char *why,
                      size_t bytes)
{
    const struct control_lane *largest = &control->lanes[0];
    if (find_smallest(control, 0, circuit, UINT32_MAX) >= 0)
        return 0;
    for (uint32_t i = 1; i < control->header->lane_count; i++)
        if (control->lanes[i].slab_bytes > largest->slab_bytes)
            largest = &control->lanes[i];
    snprintf(why, bytes,
             "needs slabs of %" PRIu64 " bytes and the largest lane has %" PRIu64
             ": set size = %" PRIu64 " or more in [lane %s] and restart the coordinator",
             bytes_needed(circuit, largest), largest->slab_bytes, bytes_needed(circuit, largest),
             largest->name);
    return -EFBIG;
}

static int check_named(const struct circuits *circuits, uint32_t lane,
                       const struct circuit *circuit, enum priority priority, char *why,
                       size_t bytes)
{
    const struct control_lane *named = &circuits->control->lanes[lane];
    if (!(circuits->auto_lanes >> lane & 1u) && !fits(circuit, named))
        snprintf(why, bytes, "the circuit needs %" PRIu64 " bytes, a slab of lane %s has %" PRIu64,
                 bytes_needed(circuit, named), named->name, named->slab_bytes);
    else if (!(named->priorities >> priority & 1u))
        snprintf(why, bytes, "lane %s does not serve priority %s", named->name,
                 priority_name(priority));
    else
        return (int)lane;
    return -EINVAL;
}

int circuits_choose_lane(const struct circuits *circuits, const struct circuit *circuit,
                         const char *lane, enum priority priority, char *why, size_t bytes)
{
    const struct control *control = circuits->control;
    if (!lane) {
        int found = find_smallest(control, circuits->auto_lanes, circuit, 1u << priority);
        if (found < 0)
            snprintf(why, bytes, "no lane that fits the circuit serves priority %s",
                     priority_name(priority));
        return found < 0 ? -EINVAL : found;
    }
    for (uint32_t i = 0; i < control->header->lane_count; i++)
        if (strcmp(control->lanes[i].name, lane) == 0)
            return check_named(circuits, i, circuit, priority, why, bytes);
    snprintf(why, bytes, "there is no lane of that name");
    return -EINVAL;
}
