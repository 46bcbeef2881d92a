/*
 * Status, health and metrics over HTTP. Called by the routing table. A SIGKILL ends them all, which
 * is what /healthz is for.
 */
#include "coordinator/http.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/json_status.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/store.h"
#include "coordinator/workers.h"
#include "shm/credit.h"
#include "shm/ledger.h"
#include "shm/region.h"

void http_get_status(struct http_call *call)
{
    struct json_writer json;
    struct evbuffer *body = http_begin_json(call->request, &json);
    if (!body)
        return;
    json_status(&json, call->service);
    http_end_json(call->request, 200, body);
}

void http_get_healthz(struct http_call *call)
{
    http_send_text(call->request, 200, "ok\n");
}

void http_get_readyz(struct http_call *call)
{
    const struct service *service = call->service;
    char trouble[512];
    if (service->store->trouble(service->store, trouble, sizeof(trouble) - 1))
        http_send_text(call->request, 503, strcat(trouble, "\n"));
    else if (service->draining)
        http_send_text(call->request, 503, "draining\n");
    else if (!workers_count_ready(service->workers, ROLE_SYNTH))
        http_send_text(call->request, 503, "no synth-worker is ready\n");
    else if (!workers_count_ready(service->workers, ROLE_GPU))
        http_send_text(call->request, 503, "no gpu-worker is ready\n");
    else
        http_send_text(call->request, 200, "ready\n");
}

/* ---- metrics ---- */

static void put_type(struct evbuffer *out, const char *name, const char *type, const char *help)
{
    evbuffer_add_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_one(struct evbuffer *out, const char *name, const char *label, const char *value,
                    uint64_t number)
{
    evbuffer_add_printf(out, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, value, number);
}

static void put_jobs(struct evbuffer *out, struct store *store)
{
    struct store_counts counts;
    store->counts(store, &counts);
    put_type(out, "pawl_jobs_total", "counter", "Jobs that ended, by result.");
    put_one(out, "pawl_jobs_total", "result", "done", counts.done_total);
    put_one(out, "pawl_jobs_total", "result", "failed", counts.failed_total);
    put_one(out, "pawl_jobs_total", "result", "cancelled", counts.cancelled_total);
}

static int compare_times(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void put_commit_time(struct evbuffer *out, const uint64_t *sorted_ns, size_t count,
                            double quantile)
{
    size_t at = (size_t)(quantile * (double)count);
    at = at < count ? at : count - 1;
    evbuffer_add_printf(out, "pawl_store_commit_seconds{quantile=\"%g\"} %.6f\n", quantile,
                        (double)sorted_ns[at] / (double)NS_PER_S);
}

static void put_commits(struct evbuffer *out, struct store *store)
{
    const struct store_commits *commits = store->commits(store);
    uint64_t sorted_ns[STORE_COMMITS_KEPT];
    struct store_counts counts;
    if (!commits)
        return;
    size_t count = commits->total < STORE_COMMITS_KEPT ? commits->total : STORE_COMMITS_KEPT;
    memcpy(sorted_ns, commits->ns, count * sizeof(*sorted_ns));
    qsort(sorted_ns, count, sizeof(*sorted_ns), compare_times);
    put_type(out, "pawl_store_commit_seconds", "summary", "Time of the last commits.");
    if (count) {
        put_commit_time(out, sorted_ns, count, 0.5);
        put_commit_time(out, sorted_ns, count, 0.99);
    }
    evbuffer_add_printf(out, "pawl_store_commit_seconds_count %" PRIu64 "\n", commits->total);
    put_type(out, "pawl_store_failed_commits_total", "counter", "Commits that failed.");
    evbuffer_add_printf(out, "pawl_store_failed_commits_total %" PRIu64 "\n",
                        commits->failed_total);
    store->counts(store, &counts);
    put_type(out, "pawl_store_uncommitted", "gauge", "Changes that wait for their commit.");
    evbuffer_add_printf(out, "pawl_store_uncommitted %" PRIu64 "\n", counts.uncommitted);
}

static void put_slabs(struct evbuffer *out, const struct control *control)
{
    put_type(out, "pawl_slabs", "gauge", "Slabs, by lane and state.");
    for (uint32_t lane = 0; lane < control->header->lane_count; lane++) {
        uint32_t counts[SLAB_STATES];
        ledger_count(control, lane, counts);
        for (int state = 0; state < SLAB_STATES; state++)
            evbuffer_add_printf(out, "pawl_slabs{lane=\"%s\",state=\"%s\"} %" PRIu32 "\n",
                                control->lanes[lane].name, slab_state_name((enum slab_state)state),
                                counts[state]);
    }
}

static void put_credits(struct evbuffer *out, const struct control *control)
{
    put_type(out, "pawl_credits_available", "gauge", "Syntheses that may start now, by lane.");
    for (uint32_t lane = 0; lane < control->header->lane_count; lane++)
        put_one(out, "pawl_credits_available", "lane", control->lanes[lane].name,
                credit_available(control, lane));
}

static void put_workers(struct evbuffer *out, const struct workers *workers)
{
    put_type(out, "pawl_workers", "gauge", "Workers that are ready, by role.");
    put_one(out, "pawl_workers", "role", "synth", workers_count_ready(workers, ROLE_SYNTH));
    put_one(out, "pawl_workers", "role", "gpu", workers_count_ready(workers, ROLE_GPU));
    put_type(out, "pawl_worker_deaths_total", "counter", "Workers that died, by role.");
    put_one(out, "pawl_worker_deaths_total", "role", "synth", workers->deaths_total[ROLE_SYNTH]);
    put_one(out, "pawl_worker_deaths_total", "role", "gpu", workers->deaths_total[ROLE_GPU]);
}

static void put_number(struct evbuffer *out, const char *name, const char *type, const char *help,
                       uint64_t number)
{
    put_type(out, name, type, help);
    evbuffer_add_printf(out, "%s %" PRIu64 "\n", name, number);
}

static void put_devices(struct evbuffer *out, const struct workers *workers)
{
    struct workers_pinning pinning;
    workers_sum_pinning(workers, &pinning);
    put_number(out, "pawl_registered_bytes", "gauge",
               "Bytes of slabs registered with devices' drivers.", pinning.registered_bytes);
    put_number(out, "pawl_registrations_total", "counter", "Slabs registered with a driver.",
               pinning.registrations_total);
    put_number(out, "pawl_pinned_allocations_after_start_total", "counter",
               "Pinned memory made after a worker's start.", pinning.allocations_after_start);
    put_number(out, "pawl_device_keys", "gauge", "Proving keys kept in devices' memory.",
               workers->device_keys.count);
    put_number(out, "pawl_device_keys_bytes", "gauge", "What they take there.",
               device_keys_bytes(&workers->device_keys));
    put_number(out, "pawl_device_keys_handed_total", "counter",
               "Kept keys handed to a new gpu-worker.", workers->device_keys.handed_total);
}

void http_get_metrics(struct http_call *call)
{
    const struct service *service = call->service;
    struct evbuffer *body = evbuffer_new();
    if (!body) {
        http_send_later(call->request, "no memory");
        return;
    }
    put_jobs(body, service->store);
    put_commits(body, service->store);
    put_slabs(body, &service->region->control);
    put_credits(body, &service->region->control);
    put_workers(body, service->workers);
    put_devices(body, service->workers);
    evbuffer_add(body, "", 1); /* a text for http_send_text */
    http_send_text(call->request, 200, (const char *)evbuffer_pullup(body, -1));
    evbuffer_free(body);
}
