/*
 * Uploads over HTTP: POST /v1/uploads, PUT /v1/uploads/ID?offset=N, POST /v1/uploads/ID/finish,
 * DELETE /v1/uploads/ID. Called by the routing table; most answers come when the disk thread has
 * done its part. A SIGKILL loses uploads that no job has taken.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuit_names.h"
#include "coordinator/clock.h"
#include "coordinator/job_request.h"
#include "coordinator/json_writer.h"
#include "coordinator/service.h"
#include "coordinator/uploads.h"

static void send_upload(struct evhttp_request *request, int status, uint64_t id, uint64_t bytes)
{
    char text[17];
    struct json_writer json;
    struct evbuffer *body = http_begin_json(request, &json);
    if (!body)
        return;
    snprintf(text, sizeof(text), "%016" PRIx64, id);
    jsonw_open(&json, '{');
    jsonw_put_text(&json, "upload", text);
    jsonw_put_uint(&json, "bytes", bytes);
    jsonw_close(&json, '}');
    http_end_json(request, status, body);
}

/* 409 carries the right offset as a header too, for clients that read no body. */
static void send_offset(struct evhttp_request *request, uint64_t have)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, have);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Upload-Offset", text);
    http_send_problem(request, 409, "offset", "the upload has %" PRIu64 " bytes: go on there",
                      have);
}

/* Answers for an error of uploads_*; have: the bytes so far. */
static void send_error(struct evhttp_request *request, int error, uint64_t have)
{
    if (error == -ENOENT)
        http_send_problem(request, 404, NULL,
                          "there is no such upload: it was used, or idle for too long");
    else if (error == -EALREADY)
        http_send_problem(request, 409, NULL, "the upload is finished");
    else if (error == -ESTALE)
        send_offset(request, have);
    else if (error == -ERANGE)
        http_send_problem(request, 409, "bytes", "the upload has %" PRIu64 " bytes", have);
    else if (error == -EBADMSG)
        http_send_problem(request, 422, "sha256", "the bytes that came have another SHA-256");
    else if (error == -EAGAIN)
        http_send_problem(request, 409, NULL, "the upload is being written: wait for the answer");
    else if (error == -EMSGSIZE)
        http_send_problem(request, 413, NULL,
                          "larger than queued_bytes in [limits] allows altogether");
    else if (error == -EXFULL)
        http_send_later(request, "queued_bytes in [limits] are taken: try later");
    else if (error == -EBUSY)
        http_send_later(request, "the disk has too much to do: try later");
    else
        http_send_later(request, "the upload is lost: %s", strerror(-error));
}

static int parse_id(struct http_call *call, uint64_t *id)
{
    int error = job_id_parse(call->segment, id);
    if (error)
        send_error(call->request, -ENOENT, 0);
    return error;
}

/* ---- answers of the disk thread ---- */

/* A request that waits. */
struct waiting {
    const struct service *service;
    struct evhttp_request *request;
    int status; /* where all is well */
};

/* NULL: the answer has been sent. */
static struct waiting *wait_for_disk(struct http_call *call, int status)
{
    struct waiting *waiting = malloc(sizeof(*waiting));
    if (waiting)
        *waiting = (struct waiting){call->service, call->request, status};
    else
        http_send_later(call->request, "no memory");
    return waiting;
}

static void on_answer(void *arg, int error, uint64_t id, uint64_t have)
{
    struct waiting waiting = *(struct waiting *)arg;
    free(arg);
    if (error)
        send_error(waiting.request, error, have);
    else
        send_upload(waiting.request, waiting.status, id, have);
}

static void on_created(void *arg, int error, uint64_t id, uint64_t have)
{
    struct waiting waiting = *(struct waiting *)arg;
    free(arg);
    if (!error)
        send_upload(waiting.request, waiting.status, id, have);
    else if (error == -EXFULL)
        http_send_later(waiting.request, "%u uploads are open already", UPLOADS_MAX);
    else if (error == -EBUSY)
        send_error(waiting.request, error, 0);
    else
        http_send_later(waiting.request, "no upload can be opened: %s%s", strerror(-error),
                        error == -EMFILE ? " (raise RLIMIT_NOFILE)" : "");
}

/* ---- the handlers ---- */

void http_post_upload(struct http_call *call)
{
    struct waiting *waiting;
    if (call->service->draining) {
        http_send_later(call->request, "the coordinator is draining");
        return;
    }
    waiting = wait_for_disk(call, 201);
    if (waiting)
        uploads_create(call->service->uploads, clock_now_ns(), on_created, waiting);
}

void http_delete_upload(struct http_call *call)
{
    struct json_writer json;
    uint64_t id;
    if (parse_id(call, &id))
        return;
    int error = uploads_drop(call->service->uploads, id);
    if (error) {
        send_error(call->request, error, 0);
        return;
    }
    struct evbuffer *body = http_begin_json(call->request, &json);
    if (!body)
        return;
    jsonw_open(&json, '{');
    jsonw_close(&json, '}');
    http_end_json(call->request, 200, body);
}

void http_put_upload(struct http_call *call)
{
    struct evbuffer *part = evhttp_request_get_input_buffer(call->request);
    struct waiting *waiting;
    uint64_t id, offset;
    if (parse_id(call, &id))
        return;
    if (http_query_number(call, "offset", &offset)) {
        http_send_problem(call->request, 400, "offset", "must be the number of bytes sent so far");
        return;
    }
    if (evbuffer_get_length(part) > UPLOAD_PART_BYTES_MAX) {
        http_send_problem(call->request, 413, NULL, "a part has at most %" PRIu64 " bytes",
                          UPLOAD_PART_BYTES_MAX);
        return;
    }
    waiting = wait_for_disk(call, 200);
    if (waiting)
        uploads_append(call->service->uploads, id, offset, part, clock_now_ns(), on_answer,
                       waiting);
}

static int parse_finish(const char *text, uint64_t length, uint64_t *bytes, uint8_t *digest)
{
    json_t *root = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, NULL);
    json_t *number = json_object_get(root, "bytes");
    const char *hex = json_string_value(json_object_get(root, "sha256"));
    int legal = json_is_integer(number) && json_integer_value(number) >= 0 && hex &&
                circuit_hash_parse(hex, strlen(hex), digest) == 0;
    if (legal)
        *bytes = (uint64_t)json_integer_value(number);
    json_decref(root);
    return legal ? 0 : -EINVAL;
}

void http_finish_upload(struct http_call *call)
{
    uint8_t digest[UPLOAD_DIGEST_BYTES];
    struct waiting *waiting;
    uint64_t id, length, bytes;
    const char *text;
    if (parse_id(call, &id) || http_body(call, &text, &length))
        return;
    if (parse_finish(text, length, &bytes, digest)) {
        http_send_problem(call->request, 400, NULL,
                          "the body must be {\"bytes\": number, \"sha256\": 64 hex digits}");
        return;
    }
    waiting = wait_for_disk(call, 200);
    if (waiting)
        uploads_finish(call->service->uploads, id, bytes, digest, clock_now_ns(), on_answer,
                       waiting);
}
