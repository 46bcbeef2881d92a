/*
 * The running service as commands see it: where its socket is, calls that answer JSON, and what its
 * refusals mean for the exit code.
 */
#ifndef PAWL_CLIENT_SERVICE_H
#define PAWL_CLIENT_SERVICE_H

#include <jansson.h>
#include <stddef.h>

#include "coordinator/client/http.h"

struct arguments;

struct service {
    struct http http;
    const char *(*why_gone)(void *arg, int *exit_code); /* a private instance's own explanation */
    void *why_gone_arg;
};

/* For the tables of commands that talk to a running service. */
#define SERVICE_OPTIONS                                                                            \
    {"--socket", OPTION_VALUE, "PATH", "the coordinator's socket"},                                \
    {                                                                                              \
        "--config", OPTION_VALUE, "FILE", "take the socket from this configuration file"           \
    }

/*
 * Finds the HTTP socket: --socket, else `socket` of --config, else $PAWL_SOCKET, else the usual
 * places, the user's own first. 0, or an exit code having said why.
 */
int service_open(struct service *service, const struct arguments *arguments);
/* The same for a worker socket's path that is known. */
int service_open_path(struct service *service, const char *socket_path);
void service_close(struct service *service);

/*
 * A call with a JSON body (borrowed; NULL: none). On success *answer is the parsed body, owned by
 * the caller (NULL where it is empty). 0, or an exit code having said why.
 */
int service_call(struct service *service, const char *method, const char *path, const json_t *body,
                 json_t **answer);
/* The same, but a refusal is an answer as well: 0 with its status and text. http_answer_free. */
int service_ask(struct service *service, const char *method, const char *path, const json_t *body,
                struct http_answer *answer);
/* 0 where the answer is none of refusal; else what it means as an exit code, having said why. */
int service_judge(const struct http_answer *answer);
/* As service_call with bytes as they are, and the answer's text as it is. http_answer_free. */
int service_call_raw(struct service *service, const char *method, const char *path,
                     const void *body, size_t bytes, struct http_answer *answer);

/* Appends text to path with everything but unreserved characters escaped. 0 or -ENAMETOOLONG. */
int service_append_escaped(char *path, size_t bytes, const char *text);

/* A string member of an object, or "" where it is absent or no string. Borrowed. */
const char *service_text(const json_t *object, const char *name);
/* A number member, or 0. */
double service_number(const json_t *object, const char *name);

#endif
