/*
 * The HTTP server; see the header. Called by the loop's start and end. A SIGKILL closes all
 * connections.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/fd_share.h"
#include "coordinator/peer.h"
#include "coordinator/service.h"
#include "coordinator/uploads.h"
#include "shm/program.h"

#define HEADER_BYTES_MAX 16384
#define IDLE_S 120

static const struct {
    int method;
    const char *name;
} methods[] = {{EVHTTP_REQ_GET, "GET"},
               {EVHTTP_REQ_POST, "POST"},
               {EVHTTP_REQ_PUT, "PUT"},
               {EVHTTP_REQ_DELETE, "DELETE"}};
#define METHODS (sizeof(methods) / sizeof(methods[0]))

/* ---- what handlers ask ---- */

static int find_query(const struct http_call *call, const char *key, struct evkeyvalq *values,
                      const char **value)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(call->request);
    const char *query = uri ? evhttp_uri_get_query(uri) : NULL;
    if (!query || evhttp_parse_query_str(query, values))
        return -ENOENT;
    *value = evhttp_find_header(values, key);
    if (*value)
        return 0;
    evhttp_clear_headers(values);
    return -ENOENT;
}

int http_query(const struct http_call *call, const char *key, char *out, uint64_t bytes)
{
    struct evkeyvalq values;
    const char *value;
    if (find_query(call, key, &values, &value))
        return 0;
    size_t length = strlen(value);
    if (length < bytes)
        memcpy(out, value, length + 1);
    evhttp_clear_headers(&values);
    return length < bytes;
}

int http_query_number(const struct http_call *call, const char *key, uint64_t *value)
{
    struct evkeyvalq values;
    const char *text;
    if (find_query(call, key, &values, &text))
        return -ENOENT;
    size_t length = strlen(text);
    int legal = length > 0 && length < 20 && strspn(text, "0123456789") == length;
    if (legal)
        *value = strtoull(text, NULL, 10);
    evhttp_clear_headers(&values);
    return legal ? 0 : -EINVAL;
}

uint32_t http_client_uid(const struct http_call *call)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(call->request);
    uint32_t uid;
    int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    return peer_read_uid(fd, &uid) ? UINT32_MAX : uid;
}

int http_body(const struct http_call *call, const char **text, uint64_t *bytes)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(call->request);
    uint64_t most = call->service->config->max_body_bytes;
    *bytes = evbuffer_get_length(body);
    if (*bytes > most) {
        http_send_problem(call->request, 413, NULL,
                          "the body has %" PRIu64 " bytes and max_body in [http] allows %" PRIu64,
                          *bytes, most);
        return -EFBIG;
    }
    *text = (const char *)evbuffer_pullup(body, -1);
    return 0;
}

void http_drop_body(const struct http_call *call)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(call->request);
    evbuffer_drain(body, evbuffer_get_length(body));
}

/* ---- requests ---- */

static void send_no_route(struct evhttp_request *request, unsigned allowed)
{
    char list[64] = "";
    if (!allowed) {
        http_send_problem(request, 404, NULL, "there is nothing at this path");
        return;
    }
    for (size_t i = 0; i < METHODS; i++) {
        size_t length = strlen(list);
        if (allowed & (unsigned)methods[i].method)
            snprintf(list + length, sizeof(list) - length, "%s%s", length ? ", " : "",
                     methods[i].name);
    }
    evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", list);
    http_send_problem(request, 405, NULL, "this path takes %s", list);
}

static void take_request(struct service *service, struct evhttp_request *request)
{
    char segment[HTTP_SEGMENT_BYTES];
    unsigned allowed = 0;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    int method = (int)evhttp_request_get_command(request);
    const struct http_route *route = http_find_route(method, path ? path : "", segment, &allowed);
    struct http_call call = {.service = service, .request = request, .segment = segment};
    if (route)
        route->handler(&call);
    else
        send_no_route(request, allowed);
}

static void on_request(struct evhttp_request *request, void *arg)
{
    struct http *http = arg;
    uint64_t entered_ns = clock_enter();
    take_request(http->service, request);
    clock_leave(http->service->meter, entered_ns);
}

/* Clients wait in the backlog until others have gone: http_tick accepts again. */
static void pause_when_full(struct http *http)
{
    if (fd_share_has_room(FD_SHARE_CONNECTION, evconnlistener_get_fd(http->listener)))
        return;
    evconnlistener_disable(http->listener);
    log_event("warn", "clients_wait", "why=\"too many connections: raise RLIMIT_NOFILE\"");
}

/* At each connection, where evhttp asks for a bufferevent; NULL: it makes one itself. */
static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
    (void)base;
    pause_when_full(arg);
    return NULL;
}

/* No fd is left, as a rule: http_tick tries again. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    (void)arg;
    evconnlistener_disable(listener);
}

void http_set_limits(struct http *http)
{
    uint64_t body = http->service->config->max_body_bytes;
    if (body < UPLOAD_PART_BYTES_MAX)
        body = UPLOAD_PART_BYTES_MAX;
    evhttp_set_max_body_size(http->evhttp, (ssize_t)body);
}

static void configure(struct http *http)
{
    http_set_limits(http);
    evhttp_set_max_headers_size(http->evhttp, HEADER_BYTES_MAX);
    evhttp_set_timeout(http->evhttp, IDLE_S);
    evhttp_set_allowed_methods(http->evhttp, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                                 EVHTTP_REQ_DELETE);
    evhttp_set_bevcb(http->evhttp, on_connection, http);
    evhttp_set_gencb(http->evhttp, on_request, http);
}

int http_start(struct http *http, struct service *service, int socket)
{
    *http = (struct http){.service = service};
    http->evhttp = evhttp_new(service->base);
    if (!http->evhttp)
        return -ENOMEM;
    configure(http);
    http->listener = evconnlistener_new(service->base, NULL, NULL,
                                        LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, socket);
    if (!http->listener || !evhttp_bind_listener(http->evhttp, http->listener))
        return -ENOMEM;
    evconnlistener_set_error_cb(http->listener, on_accept_error);
    return 0;
}

void http_stop(struct http *http)
{
    if (http->evhttp)
        evhttp_free(http->evhttp); /* and the listener with it */
    http->evhttp = NULL;
    http->listener = NULL;
}

void http_tick(struct http *http)
{
    if (fd_share_has_room(FD_SHARE_CONNECTION, evconnlistener_get_fd(http->listener)))
        evconnlistener_enable(http->listener);
}
