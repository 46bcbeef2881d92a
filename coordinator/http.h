/*
 * The HTTP face on its unix socket: evhttp, the routing table, errors as application/problem+json.
 *
 * Handlers stand in http_jobs.c, http_post_job.c, http_uploads.c, http_circuits.c, http_status.c
 * and http_trace.c. Who may connect is decided by the socket's mode.
 */
#ifndef PAWL_COORDINATOR_HTTP_H
#define PAWL_COORDINATOR_HTTP_H

#include <stdint.h>

#define HTTP_SEGMENT_BYTES 128
#define HTTP_RETRY_S 1u /* what Retry-After says */

struct evbuffer;
struct evhttp;
struct evhttp_request;
struct evconnlistener;
struct json_writer;
struct service;

struct http {
    struct service *service;
    struct evhttp *evhttp;
    struct evconnlistener *listener; /* evhttp's */
};

/* Takes the listening socket over. 0 or -ENOMEM. */
int http_start(struct http *http, struct service *service, int socket);
void http_stop(struct http *http);
/* After the configuration has changed. */
void http_set_limits(struct http *http);
/* Accepts again after a pause for want of fds, once there are some; called at each tick. */
void http_tick(struct http *http);

/* One request on its way to a handler. */
struct http_call {
    struct service *service;
    struct evhttp_request *request;
    const char *segment; /* what stood for the `*` of the route */
};
typedef void http_handler(struct http_call *call);

struct http_route {
    int method;       /* enum evhttp_cmd_type */
    const char *path; /* at most one `*`, which stands for one segment */
    http_handler *handler;
};
/* NULL where there is none; *allowed are the methods that the path has (bits). */
const struct http_route *http_find_route(int method, const char *path,
                                         char segment[HTTP_SEGMENT_BYTES], unsigned *allowed);

/* A value of the query, copied out. 1 where it is there and fits. */
int http_query(const struct http_call *call, const char *key, char *out, uint64_t bytes);
/* A whole number of the query; 0 where it is there and legal, -ENOENT, -EINVAL. */
int http_query_number(const struct http_call *call, const char *key, uint64_t *value);
/* The uid of the client; UINT32_MAX where it is not known. */
uint32_t http_client_uid(const struct http_call *call);
/* The body in one piece (NULL, 0: empty). -EFBIG beyond max_body: the answer has been sent. */
int http_body(const struct http_call *call, const char **text, uint64_t *bytes);
/* The body is not needed any more while the answer is awaited. */
void http_drop_body(const struct http_call *call);

/* The body of a JSON answer, for http_end_json. NULL where memory is short: the answer has been
 * sent. */
struct evbuffer *http_begin_json(struct evhttp_request *request, struct json_writer *json);
/* Sends the body and frees it. */
void http_end_json(struct evhttp_request *request, int status, struct evbuffer *body);
/* Answers. body is borrowed and emptied. */
void http_send_json(struct evhttp_request *request, int status, struct evbuffer *body);
void http_send_text(struct evhttp_request *request, int status, const char *text);
/* field: NULL or "" where no field is at fault. */
void http_send_problem(struct evhttp_request *request, int status, const char *field,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with 503 and Retry-After. */
void http_send_later(struct evhttp_request *request, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The handlers. */
http_handler http_post_job, http_get_job, http_delete_job, http_list_jobs;
http_handler http_post_upload, http_put_upload, http_finish_upload, http_delete_upload;
http_handler http_put_circuit, http_list_circuits, http_delete_circuit;
http_handler http_get_status, http_get_trace, http_get_metrics, http_get_healthz, http_get_readyz;

/* Answers a waiting GET /v1/jobs/ID: waiters.h's callback. */
void http_answer_waiter(void *service, struct evhttp_request *request, uint64_t job);

#endif
