/*
 * The status as JSON; see the header. Every number is read where it is kept: slab words and credit
 * counters in control, what a worker does from its seat page, the rest from their owners. Called by
 * http_status.c and http_circuits.c.
 */
#include "coordinator/json_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "coordinator/circuits.h"
#include "coordinator/clock.h"
#include "coordinator/dispatch.h"
#include "coordinator/json_writer.h"
#include "coordinator/planner.h"
#include "coordinator/service.h"
#include "coordinator/store.h"
#include "coordinator/uploads.h"
#include "coordinator/workers.h"
#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/region.h"
#include "shm/seat.h"

static double seconds_of(uint64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

/* ---- lanes ---- */

static void put_credits(struct json_writer *json, const struct credit_view *view)
{
    jsonw_put_open(json, "credits", '{');
    jsonw_put_uint(json, "limit", view->limit);
    jsonw_put_uint(json, "available", view->available);
    jsonw_put_uint(json, "taken_total", view->taken_total);
    jsonw_put_uint(json, "returned_total", view->returned_total);
    jsonw_close(json, '}');
}

static void put_lane(struct json_writer *json, const struct control *control, uint32_t lane)
{
    struct credit_view view;
    uint32_t counts[SLAB_STATES];
    credit_read(control, lane, &view);
    ledger_count(control, lane, counts);
    jsonw_open(json, '{');
    jsonw_put_text(json, "name", control->lanes[lane].name);
    jsonw_put_uint(json, "slab_bytes", control->lanes[lane].slab_bytes);
    jsonw_put_uint(json, "grants_total", view.grants_total);
    jsonw_put_uint(json, "starts_at_once_max", view.starts_at_once_max);
    put_credits(json, &view);
    jsonw_put_open(json, "slabs", '{');
    for (int state = 0; state < SLAB_STATES; state++)
        jsonw_put_uint(json, slab_state_name((enum slab_state)state), counts[state]);
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

static void put_lanes(struct json_writer *json, const struct control *control)
{
    jsonw_put_open(json, "lanes", '[');
    for (uint32_t lane = 0; lane < control->header->lane_count; lane++)
        put_lane(json, control, lane);
    jsonw_close(json, ']');
}

/* ---- workers ---- */

static void put_task(struct json_writer *json, const struct seat_view *view)
{
    char job[17];
    if (!view->assignment) {
        jsonw_put_text(json, "job", NULL);
        jsonw_put_text(json, "partition", NULL);
        return;
    }
    snprintf(job, sizeof(job), "%016" PRIx64, view->job);
    jsonw_put_text(json, "job", job);
    jsonw_put_uint(json, "partition", view->partition);
}

static void put_worker(struct json_writer *json, const struct worker *worker, int set_aside)
{
    struct seat_view view;
    seat_read(worker->page, &view);
    jsonw_open(json, '{');
    jsonw_put_uint(json, "seat", worker->seat);
    jsonw_put_text(json, "role", worker_role_name(worker));
    jsonw_put_uint(json, "pid", (uint64_t)worker->pid);
    jsonw_put_text(json, "device", worker->role == ROLE_GPU ? worker->device : NULL);
    jsonw_put_text(json, "stage", seat_stage_name(view.stage));
    put_task(json, &view);
    jsonw_put_uint(json, "incarnation", worker->incarnation);
    jsonw_put_uint(json, "done_total", view.done_total);
    jsonw_put_real(json, "busy_s", seconds_of(view.busy_ns));
    jsonw_put_real(json, "idle_s", seconds_of(view.idle_ns));
    jsonw_put_text(json, "pinned", seat_pinning_name(view.pinned));
    jsonw_put_bool(json, "fallback",
                   worker->role == ROLE_GPU &&
                       config_is_fallback(worker->workers->config, worker->device));
    jsonw_put_bool(json, "set_aside", set_aside);
    if (view.device_error)
        jsonw_put_uint(json, "device_error", view.device_error);
    jsonw_close(json, '}');
}

static void put_workers(struct json_writer *json, const struct service *service)
{
    const struct workers *workers = service->workers;
    jsonw_put_open(json, "workers", '[');
    for (uint32_t seat = 0; seat < SEATS_MAX; seat++)
        if (workers->seats[seat])
            put_worker(json, workers->seats[seat], dispatch_set_aside(service->dispatch, seat));
    jsonw_close(json, ']');
}

/* ---- counters ---- */

static void put_jobs(struct json_writer *json, const struct store_counts *counts)
{
    jsonw_put_open(json, "jobs", '{');
    jsonw_put_uint(json, "queued", counts->queued);
    jsonw_put_uint(json, "running", counts->running);
    jsonw_put_uint(json, "done_total", counts->done_total);
    jsonw_put_uint(json, "failed_total", counts->failed_total);
    jsonw_put_uint(json, "cancelled_total", counts->cancelled_total);
    jsonw_close(json, '}');
}

static void put_deaths(struct json_writer *json, const struct service *service)
{
    struct dispatch_counters counters;
    dispatch_counters(service->dispatch, &counters);
    jsonw_put_open(json, "deaths_total", '{');
    jsonw_put_uint(json, "synth", service->workers->deaths_total[ROLE_SYNTH]);
    jsonw_put_uint(json, "gpu", service->workers->deaths_total[ROLE_GPU]);
    jsonw_close(json, '}');
    jsonw_put_uint(json, "reclaims_total", counters.reclaims_total);
    jsonw_put_open(json, "retries_total", '{');
    jsonw_put_uint(json, "synth", counters.retries_synth_total);
    jsonw_put_uint(json, "prove", counters.retries_prove_total);
    jsonw_close(json, '}');
    jsonw_put_uint(json, "dropped_messages_total", counters.dropped_messages_total);
    jsonw_put_uint(json, "device_charges_total", counters.device_charges_total);
    jsonw_put_uint(json, "devices_set_aside_total", counters.set_aside_total);
}

/* ---- memory ---- */

static void put_region(struct json_writer *json, const struct service *service)
{
    const struct region *region = service->region;
    const struct control_header *header = region->control.header;
    struct workers_pinning pinning;
    workers_sum_pinning(service->workers, &pinning);
    jsonw_put_open(json, "region", '{');
    jsonw_put_uint(json, "bytes", region->control_bytes + region->slabs_bytes);
    jsonw_put_text(json, "backing", header->backing);
    jsonw_put_uint(json, "registered_bytes", pinning.registered_bytes);
    jsonw_put_uint(json, "registrations_total", pinning.registrations_total);
    jsonw_put_uint(json, "allocations_after_start",
                   control_allocations(&region->control) + pinning.allocations_after_start);
    jsonw_put_uint(json, "plans_total", service->planner->replan.plans_total);
    jsonw_close(json, '}');
}

static void put_device_keys(struct json_writer *json, const struct device_keys *keys)
{
    jsonw_put_open(json, "device_keys", '{');
    jsonw_put_uint(json, "kept", keys->count);
    jsonw_put_uint(json, "bytes", device_keys_bytes(keys));
    jsonw_put_uint(json, "kept_total", keys->kept_total);
    jsonw_put_uint(json, "handed_total", keys->handed_total);
    jsonw_put_uint(json, "refused_total", keys->refused_total);
    jsonw_close(json, '}');
}

static void put_memory(struct json_writer *json, const struct service *service)
{
    struct memory_terms terms;
    planner_terms(service->planner, &terms);
    jsonw_put_open(json, "memory", '{');
    jsonw_put_uint(json, "budget", planner_budget_bytes(service->planner));
    jsonw_put_open(json, "terms", '{');
    for (int i = 0; i < MEMORY_TERMS; i++)
        jsonw_put_uint(json, memory_term_name((enum memory_term)i), terms.bytes[i]);
    jsonw_close(json, '}');
    jsonw_close(json, '}');
}

/* ---- circuits ---- */

/* "BN254" and "BLS12-381" as circom's tools name them: "bn128", "bls12381". */
static const char *curve_name(unsigned curve)
{
    return curve == 1 ? "bn128" : curve == 2 ? "bls12381" : NULL;
}

static void put_circuit(struct json_writer *json, const struct circuit_name *name)
{
    static const struct circuit nothing;
    const struct circuit *circuit = name->current ? name->current : &nothing;
    char hash[CIRCUIT_HEX_BYTES] = "";
    if (name->current)
        circuit_hash_write(circuit->hash, hash);
    jsonw_open(json, '{');
    jsonw_put_text(json, "name", name->name);
    jsonw_put_text(json, "hash", hash);
    jsonw_put_text(json, "curve", name->current ? curve_name(circuit->curve) : "");
    jsonw_put_uint(json, "wires", circuit->wires);
    jsonw_put_uint(json, "public", circuit->public_count);
    jsonw_put_uint(json, "domain", circuit->domain);
    jsonw_put_uint(json, "bytes", circuit->bytes);
    jsonw_put_uint(json, "slab_bytes", circuit->slab_bytes);
    jsonw_put_text(json, "program", circuit->has_program ? circuit->program : NULL);
    jsonw_put_text(json, "state", circuit_state_name(name));
    jsonw_put_text(json, "error", name->error);
    jsonw_put_text(json, "error_class", name->error ? wire_fault_name(name->fault) : NULL);
    jsonw_close(json, '}');
}

void json_circuits(struct json_writer *json, const struct circuits *circuits)
{
    jsonw_open(json, '[');
    for (const struct circuit_name *at = circuits->first_name; at; at = at->next)
        put_circuit(json, at);
    jsonw_close(json, ']');
}

/* ---- the whole ---- */

void json_status(struct json_writer *json, const struct service *service)
{
    struct store_counts counts;
    service->store->counts(service->store, &counts);
    jsonw_open(json, '{');
    jsonw_put_text(json, "version", PAWL_VERSION);
    jsonw_put_uint(json, "pid", (uint64_t)getpid());
    jsonw_put_real(json, "uptime_s", seconds_of(clock_now_ns() - service->started_ns));
    jsonw_put_bool(json, "draining", service->draining);
    jsonw_put_real(json, "loop_max_ms", (double)service->meter->longest_ns / (double)NS_PER_MS);
    put_lanes(json, &service->region->control);
    put_workers(json, service);
    put_jobs(json, &counts);
    put_deaths(json, service);
    put_region(json, service);
    put_device_keys(json, &service->workers->device_keys);
    put_memory(json, service);
    jsonw_key(json, "circuits");
    json_circuits(json, service->circuits);
    jsonw_close(json, '}');
}
