/*
 * Answers over HTTP; see http.h.
 */
#include "coordinator/http.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/json_writer.h"

#define DETAIL_BYTES 2048

static const struct {
    int status;
    const char *reason;
} reasons[] = {{200, "OK"},
               {201, "Created"},
               {202, "Accepted"},
               {400, "Bad Request"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {409, "Conflict"},
               {413, "Content Too Large"},
               {422, "Unprocessable Content"},
               {503, "Service Unavailable"}};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

static const char *reason_of(int status)
{
    for (size_t i = 0; i < REASONS; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}

static void send_as(struct evhttp_request *request, int status, const char *type,
                    struct evbuffer *body)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_send_reply(request, status, reason_of(status), body);
}

void http_send_json(struct evhttp_request *request, int status, struct evbuffer *body)
{
    evbuffer_add(body, "\n", 1);
    send_as(request, status, "application/json", body);
}

struct evbuffer *http_begin_json(struct evhttp_request *request, struct json_writer *json)
{
    struct evbuffer *body = evbuffer_new();
    if (body)
        jsonw_start(json, body);
    else
        http_send_later(request, "no memory");
    return body;
}

void http_end_json(struct evhttp_request *request, int status, struct evbuffer *body)
{
    http_send_json(request, status, body);
    evbuffer_free(body);
}

void http_send_text(struct evhttp_request *request, int status, const char *text)
{
    struct evbuffer *body = evbuffer_new();
    if (body)
        evbuffer_add(body, text, strlen(text));
    send_as(request, status, "text/plain; charset=utf-8", body);
    if (body)
        evbuffer_free(body);
}

static void write_problem(struct evbuffer *body, int status, const char *field, const char *detail)
{
    struct json_writer json;
    jsonw_start(&json, body);
    jsonw_open(&json, '{');
    jsonw_put_text(&json, "type", "about:blank");
    jsonw_put_text(&json, "title", reason_of(status));
    jsonw_put_uint(&json, "status", (uint64_t)status);
    jsonw_put_text(&json, "detail", detail);
    if (field && field[0])
        jsonw_put_text(&json, "field", field);
    jsonw_close(&json, '}');
    evbuffer_add(body, "\n", 1);
}

static void send_detail(struct evhttp_request *request, int status, const char *field,
                        const char *detail)
{
    struct evbuffer *body = evbuffer_new();
    if (body)
        write_problem(body, status, field, detail);
    send_as(request, status, "application/problem+json", body);
    if (body)
        evbuffer_free(body);
}

void http_send_problem(struct evhttp_request *request, int status, const char *field,
                       const char *format, ...)
{
    char detail[DETAIL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof(detail), format, arguments);
    va_end(arguments);
    send_detail(request, status, field, detail);
}

void http_send_later(struct evhttp_request *request, const char *format, ...)
{
    char detail[DETAIL_BYTES], seconds[16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof(detail), format, arguments);
    va_end(arguments);
    snprintf(seconds, sizeof(seconds), "%u", HTTP_RETRY_S);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Retry-After", seconds);
    send_detail(request, 503, NULL, detail);
}
