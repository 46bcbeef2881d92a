/*
 * POST /v1/jobs: the request is checked for form, what it names is looked up, its inputs are
 * brought into the spool, and the store accepts it. The answer comes when the store says that the
 * job is durable; a full queue is said at once. Called by the routing table. A SIGKILL before the
 * answer leaves a job that its client does not know of, or none: an idempotency key tells which.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuits.h"
#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/engine.h"
#include "coordinator/inputs.h"
#include "coordinator/job_request.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/store.h"

/* ---- the answer ---- */

/* A request that waits for its job. */
struct acceptance {
    struct service *service;
    struct evhttp_request *request;
};

static void send_accepted(struct evhttp_request *request, uint64_t job)
{
    char id[17];
    struct json_writer json;
    struct evbuffer *body = evbuffer_new();
    snprintf(id, sizeof(id), "%016" PRIx64, job);
    if (!body) {
        http_send_later(request, "job %s is accepted, and memory is short", id);
        return;
    }
    jsonw_start(&json, body);
    jsonw_open(&json, '{');
    jsonw_put_text(&json, "id", id);
    jsonw_close(&json, '}');
    http_end_json(request, 202, body);
}

static void send_full(struct evhttp_request *request)
{
    http_send_later(request, "the queue is full (queued_jobs and queued_bytes in [limits]): try "
                             "later");
}

static void send_not_stored(struct evhttp_request *request, const struct service *service,
                            int error)
{
    char why[256];
    if (service->store->trouble(service->store, why, sizeof(why)))
        http_send_later(request, "the job cannot be stored: %s", why);
    else
        http_send_later(request, "the job cannot be stored: %s", strerror(-error));
}

static void on_accepted(void *arg, int error, uint64_t job)
{
    struct acceptance acceptance = *(struct acceptance *)arg;
    free(arg);
    acceptance.service->accepting--;
    if (!error) {
        send_accepted(acceptance.request, job);
        engine_claim(acceptance.service->engine);
    } else if (error == -EEXIST) {
        http_send_problem(acceptance.request, 409, "idempotency_key",
                          "job %016" PRIx64 " has this key and other inputs, or another circuit",
                          job);
    } else if (error == -ENOSPC) {
        send_full(acceptance.request);
    } else {
        send_not_stored(acceptance.request, acceptance.service, error);
    }
}

/* ---- looking up ---- */

static const struct circuit *find_circuit(const struct service *service,
                                          const struct job_request *job,
                                          struct job_request_error *problem)
{
    const struct circuit_name *name = circuits_find(service->circuits, job->circuit);
    *problem = (struct job_request_error){.field = "circuit"};
    if (!name) {
        problem->status = 404;
        snprintf(problem->detail, sizeof(problem->detail), "there is no circuit %s", job->circuit);
        return NULL;
    }
    if (!name->current) {
        problem->status = 409;
        snprintf(problem->detail, sizeof(problem->detail), "circuit %s is %s%s%s", job->circuit,
                 circuit_state_name(name), name->error ? ": " : "", name->error ? name->error : "");
    }
    return name->current;
}

/* The lane, or negative with the problem filled. */
static int find_lane(const struct service *service, const struct job_request *job,
                     const struct circuit *circuit, struct job_request_error *problem)
{
    char why[256];
    const char *name = job->lane[0] ? job->lane : NULL;
    int lane =
        circuits_choose_lane(service->circuits, circuit, name, job->priority, why, sizeof(why));
    if (lane >= 0)
        return lane;
    problem->status = 422;
    snprintf(problem->field, sizeof(problem->field), "%s", name ? "lane" : "priority");
    snprintf(problem->detail, sizeof(problem->detail), "%s", why);
    return lane;
}

static void send_problem(struct evhttp_request *request, const struct job_request_error *problem)
{
    if (problem->status == 503)
        http_send_later(request, "%s", problem->detail);
    else
        http_send_problem(request, problem->status, problem->field, "%s", problem->detail);
}

/* ---- the store ---- */

static void fill_spec(struct store_spec *spec, const struct job_request *job,
                      const struct circuit *circuit, int lane)
{
    memset(spec, 0, sizeof(*spec));
    memcpy(spec->circuit, job->circuit, sizeof(spec->circuit));
    memcpy(spec->hash, circuit->hash, sizeof(spec->hash));
    memcpy(spec->program, circuit->program, sizeof(spec->program));
    memcpy(spec->lane_name, job->lane, sizeof(spec->lane_name));
    memcpy(spec->key, job->key, sizeof(spec->key));
    spec->circuit_number = circuit->number;
    spec->lane = (uint32_t)lane;
    spec->priority = job->priority;
    spec->now_ns = clock_now_ns();
    spec->partition_count = job->partition_count;
    if (job->deadline_s > 0)
        spec->deadline_ns = spec->now_ns + (uint64_t)(job->deadline_s * (double)NS_PER_S);
}

/* A job can have inputs only where the circuit's witness program makes witnesses of them. */
static int check_kinds(const struct inputs *inputs, const struct circuit *circuit,
                       struct job_request_error *problem)
{
    const struct job_request *job = &inputs->request;
    uint32_t index = 0;
    while (index < job->partition_count && !inputs_is_json(inputs, index))
        index++;
    if (circuit->has_program || index == job->partition_count)
        return 0;
    *problem = (struct job_request_error){.status = 422};
    job_request_field(problem->field, index, job->partitions[index].source);
    snprintf(problem->detail, sizeof(problem->detail),
             "%s: circuit %s has no witness program to make a witness of an input: give a witness "
             "(.wtns), or add the circuit with its program",
             job->partitions[index].label, job->circuit);
    return -EINVAL;
}

/* 0, or -errno with the problem filled; acceptance is the store's on success. */
static int hand_over(struct acceptance *acceptance, struct inputs *inputs,
                     struct job_request_error *problem)
{
    struct store_spec spec;
    struct store *store = acceptance->service->store;
    const struct job_request *job = &inputs->request;
    /* Once more: it may have changed while inputs were copied, and new jobs get the new one. */
    const struct circuit *circuit = find_circuit(acceptance->service, job, problem);
    int lane = circuit ? find_lane(acceptance->service, job, circuit, problem) : -1;
    if (lane < 0 || check_kinds(inputs, circuit, problem))
        return -EINVAL;
    struct store_spec_partition *partitions = calloc(job->partition_count, sizeof(*partitions));
    if (!partitions) {
        *problem = (struct job_request_error){.status = 503, .detail = "no memory"};
        return -ENOMEM;
    }
    fill_spec(&spec, job, circuit, lane);
    inputs_hand_over(inputs, partitions);
    spec.partitions = partitions;
    store->accept(store, &spec, on_accepted, acceptance);
    free(partitions);
    return 0;
}

/* The inputs are in the spool, or there is a problem. */
static void on_inputs(void *arg, struct inputs *inputs, const struct job_request_error *problem)
{
    struct acceptance *acceptance = arg;
    struct job_request_error ours;
    acceptance->service->arriving--;
    if (!problem && hand_over(acceptance, inputs, &ours))
        problem = &ours;
    if (inputs)
        inputs_free(inputs);
    if (!problem)
        return;
    send_problem(acceptance->request, problem);
    acceptance->service->accepting--;
    free(acceptance);
}

/* ---- the request ---- */

/* A queue that is full says so before a byte is copied. A key may belong to a job that is there
 * already, which the store alone knows. */
static int is_full(const struct service *service, const struct job_request *job)
{
    struct store_counts counts;
    service->store->counts(service->store, &counts);
    return !job->key[0] &&
           counts.queued + counts.running + service->arriving >= service->config->queued_jobs;
}

static int may_use_paths(const struct http_call *call, const struct job_request *job,
                         struct job_request_error *problem)
{
    uint32_t index = 0;
    while (index < job->partition_count && job->partitions[index].source != SOURCE_PATH)
        index++;
    if (index == job->partition_count || http_client_uid(call) != UINT32_MAX)
        return 1;
    *problem = (struct job_request_error){.status = 422};
    job_request_field(problem->field, index, SOURCE_PATH);
    snprintf(problem->detail, sizeof(problem->detail),
             "paths are taken on the unix socket alone: upload the file");
    return 0;
}

static void accept_request(struct http_call *call, struct job_request *job)
{
    struct job_request_error problem;
    struct service *service = call->service;
    const struct circuit *circuit = find_circuit(service, job, &problem);
    if (!circuit || find_lane(service, job, circuit, &problem) < 0 ||
        !may_use_paths(call, job, &problem)) {
        send_problem(call->request, &problem);
        return;
    }
    struct acceptance *acceptance = malloc(sizeof(*acceptance));
    if (!acceptance) {
        http_send_later(call->request, "no memory");
        return;
    }
    *acceptance = (struct acceptance){service, call->request};
    service->accepting++;
    service->arriving++;
    inputs_start(service, job, on_inputs, acceptance);
}

void http_post_job(struct http_call *call)
{
    struct job_request job;
    struct job_request_error error = {0};
    char why[256];
    const char *text;
    uint64_t bytes;
    struct store *store = call->service->store;
    if (call->service->draining) {
        http_send_later(call->request, "the coordinator is draining");
        return;
    }
    if (http_body(call, &text, &bytes))
        return;
    if (job_request_parse(&job, text, bytes, &error)) {
        send_problem(call->request, &error);
        return;
    }
    http_drop_body(call);
    if (store->trouble(store, why, sizeof(why)))
        http_send_later(call->request, "no job can be stored: %s", why);
    else if (is_full(call->service, &job))
        send_full(call->request);
    else
        accept_request(call, &job);
    job_request_free(&job);
}
