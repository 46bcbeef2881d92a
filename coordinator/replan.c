/*
 * Carrying out a plan of the lanes; see the header. Called by planner.c and the tick.
 */
#include "coordinator/replan.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/dispatch.h"
#include "coordinator/engine_act.h"
#include "coordinator/workers.h"
#include "shm/ledger.h"
#include "shm/program.h"

#define PART_BYTES (UINT64_C(16) << 20)
#define RETRY_NS (5 * NS_PER_S)

static void go_on(struct replan *replan);

static uint32_t lane_count(const struct replan *replan)
{
    return replan->region->control.header->lane_count;
}

static size_t lanes_bytes(const struct replan *replan)
{
    return lane_count(replan) * sizeof(struct lane_spec);
}

static void tell_dispatch(struct replan *replan, enum event_type type)
{
    struct dispatch_event event = {.type = type, .now_ns = clock_now_ns()};
    engine_queue(replan->engine, &event);
}

/* ---- the old slabs go ---- */

/* An object with no slab takes the place of the one that there is. 0 or -errno. */
static int empty_region(struct replan *replan)
{
    struct lane_spec none[LANES_MAX];
    struct region_slabs slabs;
    memcpy(none, replan->present, lanes_bytes(replan));
    for (uint32_t i = 0; i < lane_count(replan); i++)
        none[i].slab_count = 0;
    int error = region_slabs_begin(&slabs, none, lane_count(replan), replan->region->backing);
    if (!error)
        error = region_slabs_make(&slabs, PART_BYTES);
    if (error) {
        region_slabs_drop(&slabs);
        return error;
    }
    region_slabs_adopt(replan->region, &slabs);
    workers_send_region(replan->workers);
    return 0;
}

static int has_slabs(const struct replan *replan)
{
    for (uint32_t i = 0; i < lane_count(replan); i++)
        if (replan->region->control.lanes[i].slab_count)
            return 1;
    return 0;
}

static void drain(struct replan *replan)
{
    if (!ledger_all_free(&replan->region->control))
        return;
    int error = has_slabs(replan) ? empty_region(replan) : 0;
    if (error) {
        replan->retry_ns = clock_now_ns() + RETRY_NS;
        log_event("error", "replan_stuck", "what=\"an object without slabs\" error=\"%s\"",
                  strerror(-error));
        return;
    }
    replan->phase = REPLAN_LETTING_GO;
    go_on(replan);
}

/* ---- the new ones are made ---- */

static void end(struct replan *replan)
{
    int failure = replan->failure;
    replan->phase = REPLAN_IDLE;
    replan->failure = 0;
    memcpy(replan->present, replan->wanted, lanes_bytes(replan));
    replan->plans_total++;
    log_event("info", "replanned", "slabs_bytes=%" PRIu64 " generation=%" PRIu64,
              replan->region->slabs_bytes, replan->region->generation);
    tell_dispatch(replan, EVENT_REPLANNED);
    workers_send_region(replan->workers);
    replan->done(replan->arg, failure);
}

/* The plan before is made again; where not even that can be had, after a while once more. */
static void fail(struct replan *replan, int error)
{
    region_slabs_drop(&replan->slabs);
    log_event("error", "replan_failed", "error=\"%s\" again=%d", strerror(-error),
              replan->failure != 0);
    if (replan->failure)
        replan->retry_ns = clock_now_ns() + RETRY_NS;
    else
        memcpy(replan->wanted, replan->present, lanes_bytes(replan));
    replan->failure = error;
}

static void make_part(struct replan *replan)
{
    struct region_slabs *slabs = &replan->slabs;
    int more = 0;
    if (slabs->fd < 0)
        more =
            region_slabs_begin(slabs, replan->wanted, lane_count(replan), replan->region->backing);
    if (more == 0)
        more = region_slabs_make(slabs, PART_BYTES);
    if (more < 0) {
        fail(replan, more);
    } else if (more == 0) {
        region_slabs_adopt(replan->region, slabs);
        end(replan);
    }
}

/* ---- the course of it ---- */

static void go_on(struct replan *replan)
{
    const struct timeval at_once = {0};
    if (replan->phase == REPLAN_DRAINING)
        drain(replan);
    if (replan->phase == REPLAN_LETTING_GO && workers_have_region(replan->workers))
        replan->phase = REPLAN_MAKING;
    if (replan->phase == REPLAN_MAKING && clock_now_ns() >= replan->retry_ns)
        event_add(replan->part_event, &at_once);
}

static void on_part(evutil_socket_t fd, short what, void *arg)
{
    struct replan *replan = arg;
    uint64_t entered_ns = clock_enter();
    (void)fd, (void)what;
    make_part(replan);
    go_on(replan);
    clock_leave(replan->meter, entered_ns);
}

void replan_tick(struct replan *replan)
{
    if (replan->phase != REPLAN_IDLE && clock_now_ns() >= replan->retry_ns)
        go_on(replan);
}

static int same_plan(const struct lane_spec *a, const struct lane_spec *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].slab_count != b[i].slab_count ||
            (a[i].slab_count && a[i].slab_bytes != b[i].slab_bytes))
            return 0;
    return 1;
}

int replan_is(const struct replan *replan, const struct lane_spec *lanes)
{
    const struct lane_spec *aim = replan->phase == REPLAN_IDLE ? replan->present : replan->wanted;
    return same_plan(aim, lanes, lane_count(replan));
}

void replan_start(struct replan *replan, const struct lane_spec *lanes)
{
    memcpy(replan->wanted, lanes, lanes_bytes(replan));
    replan->failure = 0;
    replan->retry_ns = 0;
    region_slabs_drop(&replan->slabs);
    if (replan->phase == REPLAN_IDLE) {
        replan->phase = REPLAN_DRAINING;
        tell_dispatch(replan, EVENT_HOLD);
    }
    go_on(replan);
}

int replan_now(struct replan *replan, const struct lane_spec *lanes)
{
    int more;
    memcpy(replan->wanted, lanes, lanes_bytes(replan));
    int error =
        region_slabs_begin(&replan->slabs, lanes, lane_count(replan), replan->region->backing);
    if (error)
        return error;
    do
        more = region_slabs_make(&replan->slabs, PART_BYTES);
    while (more > 0);
    if (more < 0) {
        region_slabs_drop(&replan->slabs);
        return more;
    }
    region_slabs_adopt(replan->region, &replan->slabs);
    memcpy(replan->present, lanes, lanes_bytes(replan));
    tell_dispatch(replan, EVENT_REPLANNED);
    return 0;
}

int replan_init(struct replan *replan, struct event_base *base, struct clock_meter *meter,
                struct region *region, struct workers *workers, struct engine *engine,
                const struct lane_spec *present)
{
    *replan =
        (struct replan){.region = region, .workers = workers, .engine = engine, .meter = meter};
    replan->slabs.fd = -1;
    memcpy(replan->present, present, lanes_bytes(replan));
    replan->part_event = event_new(base, -1, 0, on_part, replan);
    return replan->part_event ? 0 : -ENOMEM;
}

void replan_free(struct replan *replan)
{
    if (!replan->part_event)
        return;
    region_slabs_drop(&replan->slabs);
    event_free(replan->part_event);
    replan->part_event = NULL;
}
