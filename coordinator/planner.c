/*
 * Memory and lanes; see the header. Called by the loop's start and tick, by circuits when one comes
 * or goes, and by the status. After a SIGKILL nothing of this is left: the next start plans anew.
 */
#include "coordinator/planner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/circuit_fit.h"
#include "coordinator/circuits.h"
#include "coordinator/config.h"
#include "coordinator/lane_plan.h"
#include "coordinator/workers.h"
#include "shm/memory_limit.h"
#include "shm/program.h"
#include "shm/region_object.h"

/* A plan with all that follows from it. */
struct draft {
    struct lane_spec lanes[LANES_MAX];
    struct memory_terms terms; /* with the lanes */
    uint64_t backing_room;     /* for slabs, in the backing's own pool */
};

static enum region_backing backing_of(const struct planner *planner)
{
    return (enum region_backing)region_backing_parse(planner->config->backing);
}

/* ---- texts ---- */

static const char *backing_hint(const struct planner *planner)
{
    switch (backing_of(planner)) {
    case BACKING_SHM:
        return "enlarge /dev/shm (mount -o remount,size=..., docker --shm-size) or set backing = "
               "memfd";
    case BACKING_HUGETLBFS:
        return "sysctl vm.nr_hugepages=N gives more huge pages, of which grep Huge /proc/meminfo "
               "shows size and number; or set backing = memfd";
    default:
        return "lower slabs or size of the lanes";
    }
}

static int explain(const struct planner *planner, const struct draft *draft, char *why,
                   size_t bytes)
{
    const struct config *config = planner->config;
    uint64_t slabs_bytes = control_slabs_bytes(draft->lanes, config->lane_count);

    if (slabs_bytes > draft->backing_room)
        snprintf(why, bytes,
                 "its slabs need %" PRIu64 " bytes and backing = %s has room for %" PRIu64 ": %s",
                 slabs_bytes, config->backing, draft->backing_room, backing_hint(planner));
    else
        memory_explain(why, bytes, &draft->terms, planner_budget_bytes(planner));
    return -ENOSPC;
}

/* ---- drafting ---- */

uint64_t planner_budget_bytes(const struct planner *planner)
{
    return memory_budget_bytes(planner->config, planner->limit_bytes);
}

static uint32_t count_synth(const struct planner *planner)
{
    return planner->workers ? workers_count_ready(planner->workers, ROLE_SYNTH) : 0;
}

static uint64_t control_bytes_of(const struct planner *planner, const struct lane_spec *lanes)
{
    const struct region *region = planner->region;

    if (region->control.header)
        return region->control_bytes;
    return control_bytes(lanes, planner->config->lane_count);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The slabs that there are go before others are made: their room counts. */
static uint64_t backing_room(const struct planner *planner)
{
    uint64_t room = region_backing_room(backing_of(planner));
    uint64_t own = planner->region->control.header ? planner->region->slabs_bytes : 0;

    return room > UINT64_MAX - own ? UINT64_MAX : room + own;
}

/* The slab table is as long as it was made at the start. */
static void keep_to_table(const struct planner *planner, struct lane_spec *lanes)
{
    const struct control *control = &planner->region->control;

    for (uint32_t i = 0; control->header && i < control->header->lane_count; i++)
        lanes[i].slab_count = (uint32_t)lesser(lanes[i].slab_count, control->lanes[i].slab_room);
}

/* candidate: a circuit besides those that there are, or NULL. 0; -ENOSPC: the draft is the least,
 * and does not fit. */
static int draft_plan(const struct planner *planner, const struct circuit *candidate,
                      struct draft *draft)
{
    const struct config *config = planner->config;
    struct lane_needs slabs = {0};
    struct memory_needs memory = {0};
    uint64_t unit = region_backing_unit(backing_of(planner));

    if (planner->circuits)
        circuits_needs(planner->circuits, candidate, &slabs, &memory);
    draft->backing_room = backing_room(planner);
    memory_terms_fill(&draft->terms, config, &memory, 0, count_synth(planner));
    uint64_t room = memory_room_bytes(&draft->terms, planner_budget_bytes(planner));
    int error =
        lane_plan(config, &slabs, unit ? unit : 1, lesser(room, draft->backing_room), draft->lanes);
    keep_to_table(planner, draft->lanes);
    uint64_t region_bytes = control_bytes_of(planner, draft->lanes) +
                            control_slabs_bytes(draft->lanes, config->lane_count);
    memory_terms_fill(&draft->terms, config, &memory, region_bytes, count_synth(planner));
    if (memory_terms_sum(&draft->terms) > planner_budget_bytes(planner))
        error = -ENOSPC;
    return error;
}

void planner_terms(const struct planner *planner, struct memory_terms *terms)
{
    struct memory_needs memory = {0};
    struct lane_needs slabs = {0};

    circuits_needs(planner->circuits, NULL, &slabs, &memory);
    memory_terms_fill(terms, planner->config, &memory,
                      planner->region->control_bytes + planner->region->slabs_bytes,
                      count_synth(planner));
}

/* ---- circuits that come and go ---- */

static int has_auto_lane(const struct config *config)
{
    for (uint32_t i = 0; i < config->lane_count; i++)
        if (!config->lanes[i].size_bytes)
            return 1;
    return 0;
}

/* See circuits.h. */
static int admit(void *arg, const struct circuit *circuit, char *why, size_t bytes)
{
    struct planner *planner = arg;
    struct draft draft;

    if (!has_auto_lane(planner->config) &&
        circuit_fit_check(&planner->region->control, circuit, why, bytes))
        return -EFBIG;
    if (draft_plan(planner, circuit, &draft))
        return explain(planner, &draft, why, bytes);
    if (!planner->is_ready)
        return 1;
    if (replan_is(&planner->replan, draft.lanes))
        return planner->replan.phase == REPLAN_IDLE ? 0 : 1;
    replan_start(&planner->replan, draft.lanes);
    return 1;
}

static void on_changed(void *arg)
{
    struct planner *planner = arg;
    struct draft draft;

    if (planner->is_ready && !draft_plan(planner, NULL, &draft) &&
        !replan_is(&planner->replan, draft.lanes))
        replan_start(&planner->replan, draft.lanes);
}

static void on_replanned(void *arg, int error)
{
    struct planner *planner = arg;
    char why[PLANNER_TEXT_BYTES] = "";

    if (error)
        snprintf(why, sizeof(why), "its slabs cannot be made: %s; %s", strerror(-error),
                 backing_hint(planner));
    circuits_planned(planner->circuits, error, why);
}

/* ---- start and end ---- */

static int cannot_create(const struct planner *planner, const struct draft *draft, int error,
                         const char *what, char *why, size_t bytes)
{
    const struct config *config = planner->config;

    if (error == -EINVAL)
        snprintf(why, bytes, "the region cannot be laid out: %s; see slabs and size of the lanes",
                 what);
    else if (error == -EFBIG)
        snprintf(why, bytes, "%s: %s: raise the limit of file sizes (ulimit -f)", what,
                 strerror(-error));
    else
        snprintf(why, bytes, "%s: %s: the region needs %" PRIu64 " bytes of %s; %s", what,
                 strerror(-error),
                 control_bytes_of(planner, draft->lanes) +
                     control_slabs_bytes(draft->lanes, config->lane_count),
                 backing_of(planner) == BACKING_SHM ? "/dev/shm" : config->backing,
                 backing_hint(planner));
    return error;
}

int planner_make_region(struct planner *planner, const struct config *config, struct region *region,
                        char *why, size_t bytes)
{
    struct draft draft;
    const char *what = "";

    *planner =
        (struct planner){.config = config, .region = region, .limit_bytes = memory_limit_bytes("")};
    region->control.header = NULL;
    if (draft_plan(planner, NULL, &draft))
        return explain(planner, &draft, why, bytes);
    int error = region_create(region, draft.lanes, config->lane_count, config->backing,
                              pawl_build_id, &what);
    if (error)
        return cannot_create(planner, &draft, error, what, why, bytes);
    memcpy(planner->replan.present, draft.lanes, sizeof(draft.lanes));
    return 0;
}

int planner_start(struct planner *planner, struct event_base *base, struct clock_meter *meter,
                  struct workers *workers, struct engine *engine, struct circuits *circuits,
                  char *why, size_t bytes)
{
    struct lane_spec present[LANES_MAX];
    struct draft draft;

    memcpy(present, planner->replan.present, sizeof(present));
    int error =
        replan_init(&planner->replan, base, meter, planner->region, workers, engine, present);
    if (error)
        return error;
    planner->workers = workers;
    planner->circuits = circuits;
    planner->replan.done = on_replanned;
    planner->replan.arg = planner;
    circuits->admit = admit;
    circuits->changed = on_changed;
    circuits->planner = planner;
    for (uint32_t i = 0; i < planner->config->lane_count; i++)
        circuits->auto_lanes |= (uint32_t)!planner->config->lanes[i].size_bytes << i;
    error = draft_plan(planner, NULL, &draft);
    if (error)
        return explain(planner, &draft, why, bytes);
    if (!replan_is(&planner->replan, draft.lanes))
        error = replan_now(&planner->replan, draft.lanes);
    if (error)
        return cannot_create(planner, &draft, error, "slabs", why, bytes);
    planner->is_ready = 1;
    circuits_planned(circuits, 0, "");
    return 0;
}

void planner_stop(struct planner *planner)
{
    replan_free(&planner->replan);
}

void planner_tick(struct planner *planner)
{
    replan_tick(&planner->replan);
}
