/*
 * Calls to the coordinator. Every command that needs a service opens one here; a SIGKILL closes its
 * socket, which cancels nothing: jobs that were accepted go on.
 */
#include "coordinator/client/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/client/interrupt.h"
#include "coordinator/client/options.h"
#include "coordinator/client/say.h"

/* ---- where it is ---- */

int service_open_path(struct service *service, const char *socket_path)
{
    char path[PAWL_SOCKET_BYTES + 8];
    *service = (struct service){0};
    snprintf(path, sizeof(path), "%s.http", socket_path);
    int error =
        strlen(socket_path) < PAWL_SOCKET_BYTES ? http_open(&service->http, path) : -ENAMETOOLONG;
    if (error == -ENAMETOOLONG)
        return say_error(EXIT_USAGE_ERROR,
                         "the socket's path is too long (with .http 107 bytes): %s", socket_path);
    if (error)
        return say_error(EXIT_MACHINE, "out of memory");
    if (interrupt_fd() >= 0)
        http_watch(&service->http, interrupt_fd());
    return 0;
}

static int http_socket_exists(const char *socket_path)
{
    char path[PAWL_SOCKET_BYTES + 8];
    snprintf(path, sizeof(path), "%s.http", socket_path);
    return access(path, F_OK) == 0;
}

/* The usual places, where nothing else says: the user's own first. */
static int usual_socket(char out[PAWL_SOCKET_BYTES])
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (folder && *folder) {
        int length = snprintf(out, PAWL_SOCKET_BYTES, "%s/pawl.sock", folder);
        if (length > 0 && length < PAWL_SOCKET_BYTES && http_socket_exists(out))
            return 0;
    }
    strcpy(out, "/run/pawl/pawl.sock");
    return 0;
}

int service_open(struct service *service, const struct arguments *arguments)
{
    char path[PAWL_SOCKET_BYTES];
    const char *why = NULL;
    const char *socket = options_value(arguments, "--socket");
    const char *config = options_value(arguments, "--config");
    const char *named = getenv("PAWL_SOCKET");
    int error = 0;
    if (socket || config || (named && *named))
        error = program_socket_path(path, socket, config, &why);
    else
        error = usual_socket(path);
    if (error)
        return say_error(EXIT_USAGE_ERROR, "%s", why ? why : strerror(-error));
    return service_open_path(service, path);
}

void service_close(struct service *service)
{
    http_close(&service->http);
}

/* ---- what its answers mean ---- */

static int say_gone(struct service *service, int error)
{
    int exit_code = EXIT_NO_COORDINATOR;
    const char *why = service->why_gone ? service->why_gone(service->why_gone_arg, &exit_code) : 0;
    if (error == -EINTR && interrupt_came())
        return say_error(EXIT_CANCELLED, "interrupted");
    if (why)
        return say_error(exit_code, "%s", why);
    switch (error) {
    case -ECONNREFUSED:
        return say_error(EXIT_NO_COORDINATOR,
                         "no coordinator at %s; start one, or name its socket with --socket",
                         service->http.socket);
    case -ETIMEDOUT:
        return say_error(EXIT_CAPACITY, "the coordinator at %s does not answer",
                         service->http.socket);
    case -EMSGSIZE:
    case -ENOMEM:
        return say_error(EXIT_MACHINE, "out of memory for the coordinator's answer");
    default:
        return say_error(EXIT_NO_COORDINATOR, "the coordinator at %s went away",
                         service->http.socket);
    }
}

static int exit_code_of(int status)
{
    if (status == 429 || status == 503 || status == 507)
        return EXIT_CAPACITY;
    return status >= 400 && status < 500 ? EXIT_INPUT : EXIT_INTERNAL;
}

/* Says an application/problem+json answer: its detail, else its title. */
static int say_refusal(const struct http_answer *answer)
{
    json_t *problem = json_loadb(answer->body, answer->bytes, 0, NULL);
    const char *text = service_text(problem, "detail");
    if (!*text)
        text = service_text(problem, "title");
    int code = exit_code_of(answer->status);
    if (*text)
        say_error(code, "%s", text);
    else
        say_error(code, "the coordinator answered with status %d", answer->status);
    json_decref(problem);
    return code;
}

int service_judge(const struct http_answer *answer)
{
    return answer->status >= 200 && answer->status < 300 ? 0 : say_refusal(answer);
}

int service_call_raw(struct service *service, const char *method, const char *path,
                     const void *body, size_t bytes, struct http_answer *answer)
{
    int error = http_call(&service->http, method, path, body, bytes, answer);
    if (error)
        return say_gone(service, error);
    int code = service_judge(answer);
    if (code)
        http_answer_free(answer);
    return code;
}

int service_ask(struct service *service, const char *method, const char *path, const json_t *body,
                struct http_answer *answer)
{
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    if (body && !text)
        return say_error(EXIT_MACHINE, "out of memory");
    int error = http_call(&service->http, method, path, text, text ? strlen(text) : 0, answer);
    free(text);
    return error ? say_gone(service, error) : 0;
}

int service_call(struct service *service, const char *method, const char *path, const json_t *body,
                 json_t **answer)
{
    struct http_answer raw;
    *answer = NULL;
    int code = service_ask(service, method, path, body, &raw);
    if (code)
        return code;
    code = service_judge(&raw);
    if (code) {
        http_answer_free(&raw);
        return code;
    }
    if (raw.bytes)
        *answer = json_loadb(raw.body, raw.bytes, 0, NULL);
    if (raw.bytes && !*answer)
        code =
            say_error(EXIT_INTERNAL, "the coordinator's answer to %s %s is not JSON", method, path);
    http_answer_free(&raw);
    return code;
}

/* ---- small things ---- */

static int is_unreserved(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("-._~", c));
}

int service_append_escaped(char *path, size_t bytes, const char *text)
{
    size_t at = strlen(path);
    for (; *text; text++) {
        if (at + 4 > bytes)
            return -ENAMETOOLONG;
        if (is_unreserved(*text))
            path[at++] = *text;
        else
            at += (size_t)sprintf(path + at, "%%%02X", (unsigned char)*text);
        path[at] = 0;
    }
    return 0;
}

const char *service_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

double service_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}
