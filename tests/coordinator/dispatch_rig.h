/*
 * A dispatch over plain memory, for its tests: one call for each event, and a look at the actions
 * of the last step. After every step the credit counters are compared with the slab words. No
 * process, no clock, no socket.
 */
#ifndef PAWL_TESTS_DISPATCH_RIG_H
#define PAWL_TESTS_DISPATCH_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/dispatch.h"
#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/trace.h"

#define MS UINT64_C(1000000)

struct rig {
    void *memory;
    struct control control;
    struct dispatch *dispatch;
    struct dispatch_limits limits;
    struct actions actions; /* of the last step */
    uint64_t now_ns;
};

static const struct dispatch_limits rig_limits = {
    .staged = 1,
    .attempts = 3,
    .deaths = 2,
    .uncommitted_results = 64,
    .device_charges = 2,
    .fixed_credits = {4, 4, 4, 4},
    .ageing_ns = 1000 * MS,
};

static inline void rig_open(struct rig *rig, uint32_t lanes, uint32_t slabs,
                            const struct dispatch_limits *limits)
{
    struct lane_spec specs[LANES_MAX] = {{.slab_bytes = 0}};
    uint64_t bytes;

    for (uint32_t i = 0; i < lanes; i++) {
        snprintf(specs[i].name, sizeof(specs[i].name), "lane%u", i);
        specs[i].slab_bytes = 4096;
        specs[i].slab_count = slabs;
        specs[i].credits = slabs;
        specs[i].priorities = 15;
    }
    bytes = control_bytes(specs, lanes);
    rig->memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    assert_non_null(rig->memory);
    memset(rig->memory, 0, bytes);
    control_lay_out(rig->memory, specs, lanes, "test", "test");
    assert_int_equal(control_view(&rig->control, rig->memory, bytes), 0);
    rig->limits = *limits;
    rig->dispatch = dispatch_create(&rig->control, limits);
    assert_non_null(rig->dispatch);
    rig->actions = (struct actions){0};
    rig->now_ns = 1000 * MS;
}

static inline void rig_close(struct rig *rig)
{
    dispatch_destroy(rig->dispatch);
    actions_free(&rig->actions);
    free(rig->memory);
}

static inline void rig_step(struct rig *rig, struct dispatch_event event)
{
    actions_clear(&rig->actions);
    rig->now_ns += MS;
    event.now_ns = rig->now_ns;
    dispatch_step(rig->dispatch, &event, &rig->actions);
    for (uint32_t lane = 0; lane < rig->control.header->lane_count; lane++)
        credit_check(&rig->control, lane);
}

static inline void rig_claim(struct rig *rig, uint64_t job, uint32_t partition, uint32_t lane,
                             enum priority priority)
{
    struct dispatch_event event = {.type = EVENT_CLAIMED};

    event.claimed.job = job;
    event.claimed.partition = partition;
    event.claimed.lane = lane;
    event.claimed.circuit = 7;
    event.claimed.priority = priority;
    rig_step(rig, event);
}

static inline void rig_attach(struct rig *rig, uint32_t seat, enum worker_role role)
{
    rig_step(rig, (struct dispatch_event){.type = EVENT_ATTACHED,
                                          .seat = seat,
                                          .attached = {.role = role, .device = seat}});
    rig_step(rig, (struct dispatch_event){.type = EVENT_READY, .seat = seat});
}

/* A gpu-worker of that device; it is READY only where the test says so. */
static inline void rig_attach_device(struct rig *rig, uint32_t seat, uint32_t device, int fallback)
{
    rig_step(rig, (struct dispatch_event){.type = EVENT_ATTACHED,
                                          .seat = seat,
                                          .attached = {ROLE_GPU, device, fallback}});
}

/* DIED, LEAVING */
static inline void rig_seat(struct rig *rig, enum event_type type, uint32_t seat)
{
    rig_step(rig,
             (struct dispatch_event){.type = type, .seat = seat, .died = {.obituary = "signal 9"}});
}

/* JOB_ENDED, COMMITTED */
static inline void rig_job(struct rig *rig, enum event_type type, uint64_t job, uint32_t partition)
{
    struct dispatch_event event = {.type = type};

    event.job.job = job;
    event.job.partition = partition;
    rig_step(rig, event);
}

static inline void rig_tick(struct rig *rig)
{
    rig_step(rig, (struct dispatch_event){.type = EVENT_TICK});
}

/* ---- what workers say of an action; tests change a field and step it themselves ---- */

static inline struct dispatch_event rig_filling(const struct rig *rig, const struct action *fill)
{
    struct dispatch_event event = {.type = EVENT_FILLED, .seat = fill->seat};

    event.filled.assignment = fill->assignment;
    event.filled.slab = fill->slab;
    event.filled.generation = fill->generation;
    event.filled.start_ns = rig->now_ns;
    event.filled.witness_ns = MS / 4;
    event.filled.rows_ns = MS / 4;
    memset(event.filled.digest, (int)(fill->slab * 31 + fill->generation), HASH_BYTES);
    return event;
}

static inline struct dispatch_event rig_proof(const struct rig *rig, const struct action *prove)
{
    struct dispatch_event event = {.type = EVENT_PROVED, .seat = prove->seat};

    event.proved.assignment = prove->assignment;
    event.proved.slab = prove->slab;
    event.proved.generation = prove->generation;
    memcpy(event.proved.digest, prove->digest, HASH_BYTES);
    event.proved.times.start_ns = rig->now_ns - MS;
    event.proved.times.upload_ns = MS / 10;
    event.proved.times.prove_ns = MS / 2;
    event.proved.times.finalize_start_ns = rig->now_ns;
    event.proved.times.finalize_ns = MS / 2;
    event.proved.times.verify_ns = MS / 4;
    return event;
}

/* STARTED, COMPUTED, RELEASED */
static inline struct dispatch_event rig_word(enum event_type type, const struct action *action)
{
    struct dispatch_event event = {.type = type, .seat = action->seat};

    event.step.assignment = action->assignment;
    event.step.slab = action->slab;
    event.step.generation = action->generation;
    return event;
}

static inline struct dispatch_event rig_failure(const struct action *action, enum wire_fault fault,
                                                uint32_t charged)
{
    struct dispatch_event event = {.type = EVENT_FAILED, .seat = action->seat};

    event.failed.assignment = action->assignment;
    event.failed.slab = action->slab;
    event.failed.generation = action->generation;
    event.failed.fault = fault;
    event.failed.device_charged = charged;
    strcpy(event.failed.why, "because");
    return event;
}

static inline void rig_filled(struct rig *rig, const struct action *fill)
{
    rig_step(rig, rig_filling(rig, fill));
}

static inline void rig_proved(struct rig *rig, const struct action *prove)
{
    rig_step(rig, rig_proof(rig, prove));
}

static inline void rig_say(struct rig *rig, enum event_type type, const struct action *action)
{
    rig_step(rig, rig_word(type, action));
}

static inline void rig_failed(struct rig *rig, const struct action *action, enum wire_fault fault,
                              uint32_t charged)
{
    rig_step(rig, rig_failure(action, fault, charged));
}

/* ---- looking ---- */

static inline uint32_t rig_count(const struct rig *rig, enum action_type type)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rig->actions.count; i++)
        count += rig->actions.list[i].type == type;
    return count;
}

/* The first action of that type in the last step, and it must be the only one but for STATE. */
static inline struct action rig_take(const struct rig *rig, enum action_type type)
{
    uint32_t i = 0;

    assert_true(type == ACTION_STATE ? rig_count(rig, type) >= 1 : rig_count(rig, type) == 1);
    while (rig->actions.list[i].type != type)
        i++;
    return rig->actions.list[i];
}

static inline enum slab_state rig_state(const struct rig *rig, uint32_t slab)
{
    return slab_word_load(&rig->control, slab).state;
}

static inline uint32_t rig_slabs(const struct rig *rig, uint32_t lane, enum slab_state state)
{
    uint32_t counts[SLAB_STATES];

    ledger_count(&rig->control, lane, counts);
    return counts[state];
}

static inline struct dispatch_counters rig_counters(const struct rig *rig)
{
    struct dispatch_counters counters;

    dispatch_counters(rig->dispatch, &counters);
    return counters;
}

static inline uint64_t rig_dropped(const struct rig *rig)
{
    return rig_counters(rig).dropped_messages_total;
}

/* ---- what most scenarios begin with ---- */

enum { SYNTH = 1, SYNTH2 = 2, GPU = 3, GPU2 = 4 }; /* seats */

/* One synth-worker, one gpu-worker, one lane of four slabs. */
static inline void rig_open_pair(struct rig *rig)
{
    rig_open(rig, 1, 4, &rig_limits);
    rig_attach(rig, SYNTH, ROLE_SYNTH);
    rig_attach(rig, GPU, ROLE_GPU);
}

/* Claims a partition and has it filled; the PROVE that comes, or an action of job 0. */
static inline struct action rig_make_partition(struct rig *rig, uint64_t job, uint32_t partition)
{
    struct action fill;

    rig_claim(rig, job, partition, 0, PRIORITY_NORMAL);
    fill = rig_take(rig, ACTION_FILL);
    rig_filled(rig, &fill);
    return rig_count(rig, ACTION_PROVE) ? rig_take(rig, ACTION_PROVE) : (struct action){0};
}

static inline struct action rig_make_ready(struct rig *rig, uint64_t job)
{
    return rig_make_partition(rig, job, 0);
}

static inline void rig_compute(struct rig *rig, const struct action *prove)
{
    rig_say(rig, EVENT_STARTED, prove);
    rig_say(rig, EVENT_COMPUTED, prove);
}

#endif
