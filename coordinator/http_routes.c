/*
 * The routing table; see http.h. Pure.
 */
#include "coordinator/http.h"

#include <event2/http.h>
#include <string.h>

static const struct http_route routes[] = {
    {EVHTTP_REQ_POST, "/v1/jobs", http_post_job},
    {EVHTTP_REQ_GET, "/v1/jobs", http_list_jobs},
    {EVHTTP_REQ_GET, "/v1/jobs/*", http_get_job},
    {EVHTTP_REQ_DELETE, "/v1/jobs/*", http_delete_job},
    {EVHTTP_REQ_POST, "/v1/uploads", http_post_upload},
    {EVHTTP_REQ_PUT, "/v1/uploads/*", http_put_upload},
    {EVHTTP_REQ_DELETE, "/v1/uploads/*", http_delete_upload},
    {EVHTTP_REQ_POST, "/v1/uploads/*/finish", http_finish_upload},
    {EVHTTP_REQ_GET, "/v1/circuits", http_list_circuits},
    {EVHTTP_REQ_PUT, "/v1/circuits/*", http_put_circuit},
    {EVHTTP_REQ_DELETE, "/v1/circuits/*", http_delete_circuit},
    {EVHTTP_REQ_GET, "/v1/status", http_get_status},
    {EVHTTP_REQ_GET, "/v1/trace", http_get_trace},
    {EVHTTP_REQ_GET, "/metrics", http_get_metrics},
    {EVHTTP_REQ_GET, "/healthz", http_get_healthz},
    {EVHTTP_REQ_GET, "/readyz", http_get_readyz},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

/* 1: path is of that form; segment is what stood for the `*`. */
static int matches(const char *form, const char *path, char segment[HTTP_SEGMENT_BYTES])
{
    const char *star = strchr(form, '*');
    segment[0] = 0;
    if (!star)
        return strcmp(form, path) == 0;
    size_t before = (size_t)(star - form);
    if (strncmp(form, path, before) != 0)
        return 0;
    size_t length = strcspn(path + before, "/");
    if (length == 0 || length >= HTTP_SEGMENT_BYTES)
        return 0;
    if (strcmp(star + 1, path + before + length) != 0)
        return 0;
    memcpy(segment, path + before, length);
    segment[length] = 0;
    return 1;
}

const struct http_route *http_find_route(int method, const char *path,
                                         char segment[HTTP_SEGMENT_BYTES], unsigned *allowed)
{
    *allowed = 0;
    for (size_t i = 0; i < ROUTES; i++) {
        if (!matches(routes[i].path, path, segment))
            continue;
        if (routes[i].method == method)
            return &routes[i];
        *allowed |= (unsigned)routes[i].method;
    }
    return NULL;
}
