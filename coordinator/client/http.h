/*
 * HTTP over the coordinator's unix socket, one call at a time. A call ends early when one of the
 * watched fds becomes readable: a signal that ends the command, a process that has died.
 */
#ifndef PAWL_CLIENT_HTTP_H
#define PAWL_CLIENT_HTTP_H

#include <stddef.h>

#include "shm/program.h"

#define HTTP_WATCHED_MAX 4

struct http {
    void *easy, *multi; /* libcurl's */
    char socket[PAWL_SOCKET_BYTES];
    int watched[HTTP_WATCHED_MAX]; /* borrowed */
    int watched_count;
    long timeout_ms; /* of one call; 0: none */
};

struct http_answer {
    int status; /* as in 200 */
    char *body; /* NUL-terminated, never NULL; http_answer_free */
    size_t bytes, room;
};

/* Connects to nothing yet. 0, or -ENAMETOOLONG, -ENOMEM. */
int http_open(struct http *http, const char *socket_path);
void http_close(struct http *http);
/* Adds an fd to the watched ones. At most HTTP_WATCHED_MAX. */
void http_watch(struct http *http, int fd);

/*
 * One request: method, path (from the slash on, already escaped), a JSON or binary body or NULL.
 * 0 with *answer filled, whatever its status; -ECONNREFUSED where nobody listens, -ECONNRESET where
 * the other side went away, -ETIMEDOUT, -EINTR where a watched fd became readable, -EMSGSIZE for an
 * answer beyond 2 GiB, -ENOMEM.
 */
int http_call(struct http *http, const char *method, const char *path, const void *body,
              size_t bytes, struct http_answer *answer);
void http_answer_free(struct http_answer *answer);

#endif
