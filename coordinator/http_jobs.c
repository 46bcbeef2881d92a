/*
 * Jobs over HTTP: show, wait for, cancel, list. Called by the routing table. A SIGKILL closes the
 * connections; jobs are the store's.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/job_request.h"
#include "coordinator/json_job.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/store.h"
#include "coordinator/waiters.h"

#define LIST_DEFAULT 100u
#define LIST_MAX 1000u
#define CANCEL_WAIT_S 10.0

/* ---- showing ---- */

/* A request that the store is to answer. */
struct asking {
    struct service *service;
    struct evhttp_request *request;
};

static struct asking *make_asking(struct service *service, struct evhttp_request *request)
{
    struct asking *asking = malloc(sizeof(*asking));
    if (asking)
        *asking = (struct asking){service, request};
    else
        http_send_later(request, "no memory");
    return asking;
}

static void send_body(struct asking *asking, const struct store_job *job)
{
    struct store *store = asking->service->store;
    uint64_t position = store->position(store, job->id, clock_now_ns());
    struct json_writer json;
    struct evbuffer *body = http_begin_json(asking->request, &json);
    if (!body)
        return;
    json_job(&json, job, position);
    http_end_json(asking->request, 200, body);
}

static void send_no_answer(struct evhttp_request *request, int error)
{
    if (error == -ENOENT)
        http_send_problem(request, 404, NULL, "there is no such job");
    else
        http_send_later(request, "the job store cannot be read now: %s", strerror(-error));
}

static void on_fetched(void *arg, int error, const struct store_job *job)
{
    struct asking *asking = arg;
    if (job)
        send_body(asking, job);
    else
        send_no_answer(asking->request, error);
    free(asking);
}

static void send_job(struct service *service, struct evhttp_request *request, uint64_t id)
{
    struct asking *asking = make_asking(service, request);
    if (asking)
        service->store->fetch(service->store, id, on_fetched, asking);
}

void http_answer_waiter(void *service, struct evhttp_request *request, uint64_t job)
{
    send_job(service, request, job);
}

static int is_final(const struct store_job *job)
{
    return job->state != JOB_QUEUED && job->state != JOB_RUNNING;
}

static int parse_id(struct http_call *call, uint64_t *id)
{
    int error = job_id_parse(call->segment, id);
    if (error)
        http_send_problem(call->request, 404, NULL, "there is no such job");
    return error;
}

/* Until the job is final, or at most that long. 0: it waits, and is answered then. */
static int wait_for_end(struct http_call *call, uint64_t id, double wait_s)
{
    struct store *store = call->service->store;
    const struct store_job *job = store->find(store, id);
    uint64_t until_ns = clock_now_ns() + (uint64_t)(wait_s * (double)NS_PER_S);
    if (!job || is_final(job))
        return -EALREADY;
    return waiters_add(call->service->waiters, call->request, id, until_ns);
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
    uint64_t id;
    double wait_s = parse_wait(call);
    if (parse_id(call, &id))
        return;
    if (wait_s < 0) {
        http_send_problem(call->request, 400, "wait", "must be a number of seconds");
        return;
    }
    if (wait_s > 0 && wait_for_end(call, id, wait_s) == 0)
        return;
    send_job(call->service, call->request, id);
}

void http_delete_job(struct http_call *call)
{
    struct store *store = call->service->store;
    uint64_t id;
    if (parse_id(call, &id))
        return;
    /* One that is final already stays what it is, and is shown so. */
    store->end(store, id, FAULT_CANCELLED, "cancelled by its client", clock_now_ns());
    if (wait_for_end(call, id, CANCEL_WAIT_S)) /* its commit */
        send_job(call->service, call->request, id);
}

/* ---- listing ---- */

struct listing {
    struct evhttp_request *request;
    struct evbuffer *body;
    struct json_writer json;
    uint64_t last_order;
};

static void free_listing(struct listing *listing)
{
    if (listing && listing->body)
        evbuffer_free(listing->body);
    free(listing);
}

static void list_one(void *arg, const struct store_job *job)
{
    struct listing *listing = arg;
    json_job_summary(&listing->json, job);
    listing->last_order = job->order;
}

static void end_list(void *arg, int error)
{
    struct listing *listing = arg;
    struct json_writer *json = &listing->json;
    jsonw_close(json, ']');
    jsonw_key(json, "next_before"); /* for the next page */
    if (listing->last_order > 1)
        jsonw_uint(json, listing->last_order);
    else
        jsonw_null(json);
    jsonw_close(json, '}');
    if (error)
        send_no_answer(listing->request, error);
    else
        http_send_json(listing->request, 200, listing->body);
    free_listing(listing);
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

static struct listing *make_listing(struct evhttp_request *request)
{
    struct listing *listing = calloc(1, sizeof(*listing));
    if (listing)
        listing->body = evbuffer_new();
    if (!listing || !listing->body) {
        free_listing(listing);
        return NULL;
    }
    listing->request = request;
    jsonw_start(&listing->json, listing->body);
    jsonw_open(&listing->json, '{');
    jsonw_put_open(&listing->json, "jobs", '[');
    return listing;
}

void http_list_jobs(struct http_call *call)
{
    struct store *store = call->service->store;
    uint64_t before = 0, limit = LIST_DEFAULT;
    if (parse_page(call, &before, &limit))
        return;
    struct listing *listing = make_listing(call->request);
    if (listing)
        store->list(store, before, (uint32_t)limit, list_one, end_list, listing);
    else
        http_send_later(call->request, "no memory");
}
