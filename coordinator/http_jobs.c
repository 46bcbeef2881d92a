/*
 * Jobs over HTTP: show, wait for, cancel, list. Called by the routing table. A SIGKILL closes the
 * connections; jobs are the store's.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>

#include "coordinator/clock.h"
#include "coordinator/job_request.h"
#include "coordinator/json_job.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/store.h"
#include "coordinator/waiters.h"

#define LIST_DEFAULT 100u
#define LIST_MAX 1000u

/* ---- showing ---- */

static void send_job(struct service *service, struct evhttp_request *request, uint64_t id)
{
    struct store *store = service->store;
    uint64_t position = store->position(store, id, clock_now_ns());
    const struct store_job *job = store->find(store, id);
    struct evbuffer *body = evbuffer_new();
    struct json_writer json;
    if (!job) {
        http_send_problem(request, 404, NULL, "there is no such job");
    } else if (!body) {
        http_send_later(request, "no memory");
    } else {
        jsonw_start(&json, body);
        json_job(&json, job, position);
        http_send_json(request, 200, body);
    }
    if (body)
        evbuffer_free(body);
}

void http_answer_waiter(void *service, struct evhttp_request *request, uint64_t job)
{
    send_job(service, request, job);
}

static int is_final(const struct store_job *job)
{
    return job->state != JOB_QUEUED && job->state != JOB_RUNNING;
}

static const struct store_job *find_job(struct http_call *call, uint64_t *id)
{
    struct store *store = call->service->store;
    const struct store_job *job = job_id_parse(call->segment, id) ? NULL : store->find(store, *id);
    if (!job)
        http_send_problem(call->request, 404, NULL, "there is no such job");
    return job;
}

/* The seconds to wait, 0 where none are asked for; -1: not a number. */
static double parse_wait(const struct http_call *call)
{
    char text[32], *end;
    if (!http_query(call, "wait", text, sizeof(text)))
        return 0;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0))
        return -1;
    return seconds < WAIT_S_MAX ? seconds : WAIT_S_MAX;
}

void http_get_job(struct http_call *call)
{
    struct service *service = call->service;
    uint64_t id;
    const struct store_job *job = find_job(call, &id);
    double wait_s = parse_wait(call);
    if (!job)
        return;
    if (wait_s < 0) {
        http_send_problem(call->request, 400, "wait", "must be a number of seconds");
        return;
    }
    uint64_t until_ns = clock_now_ns() + (uint64_t)(wait_s * (double)NS_PER_S);
    if (wait_s > 0 && !is_final(job) &&
        waiters_add(service->waiters, call->request, id, until_ns) == 0)
        return;
    send_job(service, call->request, id);
}

void http_delete_job(struct http_call *call)
{
    struct store *store = call->service->store;
    uint64_t id;
    if (!find_job(call, &id))
        return;
    /* One that is final already stays what it is, and is shown so. */
    store->end(store, id, FAULT_CANCELLED, "cancelled by its client", clock_now_ns());
    send_job(call->service, call->request, id);
}

/* ---- listing ---- */

struct listing {
    struct json_writer json;
    uint64_t last_order;
};

static void list_one(void *arg, const struct store_job *job)
{
    struct listing *listing = arg;
    json_job_summary(&listing->json, job);
    listing->last_order = job->order;
}

static int parse_page(struct http_call *call, uint64_t *before, uint64_t *limit)
{
    int before_error = http_query_number(call, "before", before);
    int limit_error = http_query_number(call, "limit", limit);
    if (before_error != -EINVAL && limit_error != -EINVAL && *limit > 0 && *limit <= LIST_MAX)
        return 0;
    http_send_problem(call->request, 400, before_error == -EINVAL ? "before" : "limit",
                      "before and limit must be numbers, limit from 1 to %u", LIST_MAX);
    return -EINVAL;
}

static void write_list(struct evbuffer *body, struct store *store, uint64_t before, uint32_t limit)
{
    struct listing listing = {0};
    struct json_writer *json = &listing.json;
    jsonw_start(json, body);
    jsonw_open(json, '{');
    jsonw_put_open(json, "jobs", '[');
    store->list(store, before, limit, list_one, &listing);
    jsonw_close(json, ']');
    jsonw_key(json, "next_before"); /* for the next page */
    if (listing.last_order > 1)
        jsonw_uint(json, listing.last_order);
    else
        jsonw_null(json);
    jsonw_close(json, '}');
}

void http_list_jobs(struct http_call *call)
{
    uint64_t before = 0, limit = LIST_DEFAULT;
    if (parse_page(call, &before, &limit))
        return;
    struct evbuffer *body = evbuffer_new();
    if (!body) {
        http_send_later(call->request, "no memory");
        return;
    }
    write_list(body, call->service->store, before, (uint32_t)limit);
    http_send_json(call->request, 200, body);
    evbuffer_free(body);
}
