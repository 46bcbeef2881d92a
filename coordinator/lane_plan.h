/*
 * How large the slabs of each lane are and how many there are. Pure: configuration and needs in,
 * the lanes out.
 *
 * A lane with a fixed size and a fixed number has these. `size = auto` is what the largest circuit
 * needs; without circuits the lane has no slabs. `slabs = auto` is what can be worked on at once
 *
 *   synth + devices (2 + staged) + LANE_SLABS_SPARE
 *
 * (at least the lane's fixed credits; the spare ones are for synth-workers started by hand), and
 * fewer, down to one, where there is no room for all.
 */
#ifndef PAWL_COORDINATOR_LANE_PLAN_H
#define PAWL_COORDINATOR_LANE_PLAN_H

#include <stdint.h>

struct config;
struct config_lane;
struct lane_spec;

#define LANE_SLABS_SPARE 2u

/* The bytes of a slab for the largest of the circuits; 0 where there is none. */
struct lane_needs {
    uint64_t with_rows, without_rows;
};

/* How many slabs the lane has where there is room: its entries in the slab table. */
uint32_t lane_plan_slabs(const struct config *config, const struct config_lane *lane);

/*
 * Fills lanes[config->lane_count] for slabs that are multiples of unit_bytes and have room_bytes
 * together. 0; -ENOSPC: not even the fewest fit, and these are in lanes.
 */
int lane_plan(const struct config *config, const struct lane_needs *needs, uint64_t unit_bytes,
              uint64_t room_bytes, struct lane_spec *lanes);

#endif
