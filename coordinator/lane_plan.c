/*
 * The plan of the lanes; see the header. Called at the start and when circuits come and go.
 */
#include "coordinator/lane_plan.h"

#include <errno.h>
#include <string.h>

#include "coordinator/config.h"
#include "shm/control.h"
#include "shm/slab.h"
#include "shm/wire.h"

uint32_t lane_plan_slabs(const struct config *config, const struct config_lane *lane)
{
    uint32_t devices = config->device_count ? config->device_count : 1;
    uint32_t slabs = config->synth + devices * (2 + config->staged) + LANE_SLABS_SPARE;

    if (lane->slabs)
        return lane->slabs;
    return slabs > lane->credits ? slabs : lane->credits;
}

static uint64_t size_of(const struct config_lane *lane, const struct lane_needs *needs,
                        uint64_t unit_bytes)
{
    uint64_t bytes = lane->rows == ROWS_DEVICE ? needs->without_rows : needs->with_rows;

    if (lane->size_bytes)
        bytes = lane->size_bytes;
    return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

static void fill_lane(const struct config *config, const struct config_lane *from,
                      const struct lane_needs *needs, uint64_t unit_bytes, struct lane_spec *lane)
{
    uint32_t slabs = lane_plan_slabs(config, from);

    memset(lane, 0, sizeof(*lane));
    memcpy(lane->name, from->name, sizeof(lane->name));
    lane->slab_room = slabs;
    lane->slab_bytes = size_of(from, needs, unit_bytes);
    lane->slab_count = lane->slab_bytes ? slabs : 0;
    lane->credits = from->credits ? from->credits : slabs;
    lane->priorities = from->priorities;
    lane->rows = from->rows;
    lane->numa = from->numa;
}

/* The lane that can give a slab up and holds the most; -1: none can. */
static int find_richest(const struct config *config, const struct lane_spec *lanes)
{
    uint64_t most = 0;
    int richest = -1;

    for (uint32_t i = 0; i < config->lane_count; i++) {
        uint64_t bytes = lanes[i].slab_count * lanes[i].slab_bytes;

        if (config->lanes[i].slabs || lanes[i].slab_count < 2 || bytes <= most)
            continue;
        most = bytes;
        richest = (int)i;
    }
    return richest;
}

int lane_plan(const struct config *config, const struct lane_needs *needs, uint64_t unit_bytes,
              uint64_t room_bytes, struct lane_spec *lanes)
{
    for (uint32_t i = 0; i < config->lane_count; i++)
        fill_lane(config, &config->lanes[i], needs, unit_bytes, &lanes[i]);
    if (!control_bytes(lanes, config->lane_count))
        return -ENOSPC;
    while (control_slabs_bytes(lanes, config->lane_count) > room_bytes) {
        int richest = find_richest(config, lanes);

        if (richest < 0)
            return -ENOSPC;
        lanes[richest].slab_count--;
    }
    return 0;
}
