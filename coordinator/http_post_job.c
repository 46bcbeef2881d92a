/*
 * POST /v1/jobs: the request is decoded, what it names is looked up, its uploads are taken over,
 * and the store accepts it. The answer comes when the store says that the job is durable.
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
#include "coordinator/engine.h"
#include "coordinator/job_request.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/uploads.h"

/* ---- the answer ---- */

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
    http_send_json(request, 202, body);
    evbuffer_free(body);
}

static void on_accepted(void *arg, int error, uint64_t job)
{
    struct acceptance acceptance = *(struct acceptance *)arg;
    free(arg);
    if (!error) {
        send_accepted(acceptance.request, job);
        engine_claim(acceptance.service->engine);
    } else if (error == -ENOSPC) {
        http_send_later(acceptance.request,
                        "the queue is full (queued_jobs and queued_bytes in [limits]): try later");
    } else {
        http_send_later(acceptance.request, "the job cannot be stored: %s", strerror(-error));
    }
}

/* ---- looking up ---- */

static const struct circuit *find_circuit(struct http_call *call, const struct job_request *request)
{
    const struct circuit_name *name = circuits_find(call->service->circuits, request->circuit);
    if (!name) {
        http_send_problem(call->request, 404, "circuit", "there is no circuit %s",
                          request->circuit);
        return NULL;
    }
    if (!name->current)
        http_send_problem(call->request, 409, "circuit", "circuit %s is %s%s%s", request->circuit,
                          circuit_state_name(name), name->error ? ": " : "",
                          name->error ? name->error : "");
    return name->current;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* An upload is consumed by its partition, so no two can have the same. 1: two have (or memory is
 * short); 0. */
static int has_twins(const struct job_request *request)
{
    uint64_t *ids = malloc(request->partition_count * sizeof(*ids));
    int twins = 0;
    if (!ids)
        return 1;
    for (uint32_t i = 0; i < request->partition_count; i++)
        ids[i] = request->partitions[i].upload;
    qsort(ids, request->partition_count, sizeof(*ids), compare_ids);
    for (uint32_t i = 1; i < request->partition_count; i++)
        twins |= ids[i] == ids[i - 1];
    free(ids);
    return twins;
}

static int check_upload(struct http_call *call, uint64_t upload, uint32_t index)
{
    char field[64];
    uint64_t bytes;
    int error = uploads_check(call->service->uploads, upload, &bytes);
    snprintf(field, sizeof(field), "partitions[%" PRIu32 "]", index);
    if (error == -ENOENT)
        http_send_problem(call->request, 404, field,
                          "there is no such upload: it was used, or idle for too long");
    else if (error)
        http_send_problem(call->request, 409, field, "the upload is not finished");
    return error;
}

static int check_uploads(struct http_call *call, const struct job_request *request)
{
    for (uint32_t i = 0; i < request->partition_count; i++) {
        int error = check_upload(call, request->partitions[i].upload, i);
        if (error)
            return error;
    }
    if (!has_twins(request))
        return 0;
    http_send_problem(call->request, 422, "partitions", "two partitions name the same upload");
    return -EINVAL;
}

/* ---- handing over ---- */

static void take_uploads(struct service *service, const struct job_request *request,
                         struct store_spec_partition *partitions)
{
    for (uint32_t i = 0; i < request->partition_count; i++) {
        const struct job_request_partition *from = &request->partitions[i];
        uploads_check(service->uploads, from->upload, &partitions[i].bytes);
        partitions[i].witness_fd = uploads_take(service->uploads, from->upload);
        memcpy(partitions[i].label, from->label, sizeof(partitions[i].label));
    }
}

static void fill_spec(struct store_spec *spec, const struct job_request *request,
                      const struct circuit *circuit, int lane)
{
    memset(spec, 0, sizeof(*spec));
    memcpy(spec->circuit, request->circuit, sizeof(spec->circuit));
    memcpy(spec->hash, circuit->hash, sizeof(spec->hash));
    spec->circuit_number = circuit->number;
    spec->lane = (uint32_t)lane;
    spec->priority = request->priority;
    spec->now_ns = clock_now_ns();
    spec->partition_count = request->partition_count;
    if (request->deadline_s > 0)
        spec->deadline_ns = spec->now_ns + (uint64_t)(request->deadline_s * (double)NS_PER_S);
}

static void hand_over(struct http_call *call, const struct job_request *request,
                      const struct circuit *circuit, int lane)
{
    struct service *service = call->service;
    struct store_spec spec;
    struct acceptance *acceptance = malloc(sizeof(*acceptance));
    struct store_spec_partition *partitions = calloc(request->partition_count, sizeof(*partitions));
    if (acceptance && partitions) {
        *acceptance = (struct acceptance){service, call->request};
        fill_spec(&spec, request, circuit, lane);
        take_uploads(service, request, partitions);
        spec.partitions = partitions;
        service->store->accept(service->store, &spec, on_accepted, acceptance);
    } else {
        http_send_later(call->request, "no memory");
        free(acceptance);
    }
    free(partitions);
}

static void accept_request(struct http_call *call, const struct job_request *request)
{
    char why[256];
    const char *lane_name = request->lane[0] ? request->lane : NULL;
    const struct circuit *circuit = find_circuit(call, request);
    if (!circuit || check_uploads(call, request))
        return;
    int lane = circuits_choose_lane(call->service->circuits, circuit, lane_name, request->priority,
                                    why, sizeof(why));
    if (lane < 0)
        http_send_problem(call->request, 422, lane_name ? "lane" : "priority", "%s", why);
    else
        hand_over(call, request, circuit, lane);
}

void http_post_job(struct http_call *call)
{
    struct job_request request;
    struct job_request_error error = {0};
    const char *text;
    uint64_t bytes;
    if (call->service->draining) {
        http_send_later(call->request, "the coordinator is draining");
        return;
    }
    if (http_body(call, &text, &bytes))
        return;
    if (job_request_parse(&request, text, bytes, &error)) {
        http_send_problem(call->request, error.status, error.field, "%s", error.detail);
        return;
    }
    accept_request(call, &request);
    job_request_free(&request);
}
