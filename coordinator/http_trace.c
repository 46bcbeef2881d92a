/*
 * GET /v1/trace: the ring in chunks, each sent when the one before has left, so that neither the
 * loop nor memory is taken up by a slow reader. Called by the routing table. A SIGKILL closes the
 * connection.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>

#include "coordinator/clock.h"
#include "coordinator/json_trace.h"
#include "coordinator/service.h"
#include "shm/region.h"

#define EVENTS_AT_ONCE 512u

struct trace_reply {
    struct service *service;
    struct evhttp_request *request;
    struct evbuffer *piece;
    struct json_trace trace;
    int has_more;
};

static void reply_free(struct trace_reply *reply)
{
    evbuffer_free(reply->piece);
    free(reply);
}

static void finish(struct trace_reply *reply)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(reply->request);
    evhttp_connection_set_closecb(connection, NULL, NULL);
    evhttp_send_reply_end(reply->request);
    reply_free(reply);
}

static void send_piece(struct evhttp_connection *connection, void *arg)
{
    struct trace_reply *reply = arg;
    uint64_t entered_ns = clock_enter();
    struct clock_meter *meter = reply->service->meter;
    (void)connection;
    if (reply->has_more) {
        /* An empty chunk would not be sent, and nothing would call us again. */
        do
            reply->has_more = json_trace_continue(&reply->trace, EVENTS_AT_ONCE);
        while (reply->has_more && evbuffer_get_length(reply->piece) == 0);
        evhttp_send_reply_chunk_with_cb(reply->request, reply->piece, send_piece, reply);
    } else {
        finish(reply);
    }
    clock_leave(meter, entered_ns);
}

/*
 * The client has gone. A request whose connection was lost while it was answered belongs to us from
 * then on; where the whole server ends, the connection has freed it already, which the service
 * says.
 */
static void on_close(struct evhttp_connection *connection, void *arg)
{
    struct trace_reply *reply = arg;
    (void)connection;
    if (!reply->service->stopping && !evhttp_request_get_connection(reply->request))
        evhttp_send_reply_end(reply->request); /* frees it */
    reply_free(reply);
}

static uint64_t parse_since(const struct http_call *call, int *error)
{
    uint64_t seconds = 0, now_ns = clock_now_ns();
    *error = http_query_number(call, "seconds", &seconds);
    if (*error || seconds > now_ns / NS_PER_S)
        return 0;
    return now_ns - seconds * NS_PER_S;
}

static struct trace_reply *make_reply(const struct http_call *call, uint64_t since_ns)
{
    struct trace_reply *reply = calloc(1, sizeof(*reply));
    if (!reply)
        return NULL;
    reply->service = call->service;
    reply->request = call->request;
    reply->has_more = 1;
    reply->piece = evbuffer_new();
    if (!reply->piece) {
        free(reply);
        return NULL;
    }
    json_trace_start(&reply->trace, reply->piece, &call->service->region->control,
                     call->service->workers, since_ns);
    return reply;
}

void http_get_trace(struct http_call *call)
{
    int error;
    uint64_t since_ns = parse_since(call, &error);
    if (error == -EINVAL) {
        http_send_problem(call->request, 400, "seconds", "must be a whole number");
        return;
    }
    struct trace_reply *reply = make_reply(call, since_ns);
    if (!reply) {
        http_send_later(call->request, "no memory");
        return;
    }
    struct evhttp_connection *connection = evhttp_request_get_connection(call->request);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(call->request);
    evhttp_add_header(headers, "Content-Type", "application/json");
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_connection_set_closecb(connection, on_close, reply);
    evhttp_send_reply_start(call->request, 200, "OK");
    send_piece(connection, reply);
}
