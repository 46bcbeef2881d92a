/*
 * Circuits over HTTP: PUT, GET, DELETE. Called by the routing table. A SIGKILL leaves what
 * circuits.c says.
 */
#include "coordinator/http.h"

#include <errno.h>
#include <event2/http.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/circuits.h"
#include "coordinator/config.h"
#include "coordinator/json_status.h"
#include "coordinator/json_writer.h"
#include "coordinator/key_open.h"
#include "coordinator/service.h"

struct circuit_request {
    const char *zkey_path; /* the document's */
    const char *r1cs_path; /* likewise; NULL: none is given */
    const char *program_path;
    int check_subgroups;
};

/* ---- PUT ---- */

static int refuse_field(struct http_call *call, const char *key, const char *why)
{
    http_send_problem(call->request, 422, key, "%s", why);
    return -EINVAL;
}

static int parse_field(struct http_call *call, struct circuit_request *request, const char *key,
                       const json_t *value)
{
    if (strcmp(key, "zkey_path") == 0) {
        request->zkey_path = json_string_value(value);
        return request->zkey_path ? 0 : refuse_field(call, key, "must be a path");
    }
    if (strcmp(key, "check_subgroups") == 0) {
        request->check_subgroups = json_is_true(value);
        return json_is_boolean(value) ? 0 : refuse_field(call, key, "must be true or false");
    }
    if (json_is_null(value))
        return 0;
    if (strcmp(key, "r1cs_path") == 0) {
        request->r1cs_path = json_string_value(value);
        return request->r1cs_path ? 0 : refuse_field(call, key, "must be a path");
    }
    if (strcmp(key, "program_path") == 0) {
        request->program_path = json_string_value(value);
        return request->program_path ? 0 : refuse_field(call, key, "must be a path");
    }
    return refuse_field(call, key, "is no field of a circuit");
}

static int parse_fields(struct http_call *call, json_t *root, struct circuit_request *request)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root)) {
        http_send_problem(call->request, 400, NULL, "the body must be a JSON object");
        return -EINVAL;
    }
    json_object_foreach(root, key, value)
    {
        if (parse_field(call, request, key, value))
            return -EINVAL;
    }
    return request->zkey_path ? 0 : refuse_field(call, "zkey_path", "is missing");
}

static void send_accepted(struct http_call *call)
{
    struct json_writer json;
    struct evbuffer *body = http_begin_json(call->request, &json);
    if (!body)
        return;
    jsonw_open(&json, '{');
    jsonw_put_text(&json, "name", call->segment);
    jsonw_put_text(&json, "state", "compiling");
    jsonw_close(&json, '}');
    http_end_json(call->request, 202, body);
}

/* A fd, or -1 with the problem sent. */
static int open_as(struct http_call *call, uint32_t uid, const char *field, const char *path)
{
    char why[1024];
    int fd = key_open(call->service->config, uid, path, why, sizeof(why));
    if (fd < 0)
        http_send_problem(call->request, 422, field, "%s", why);
    return fd < 0 ? -1 : fd;
}

static int open_named(struct http_call *call, const char *field, const char *path)
{
    return open_as(call, http_client_uid(call), field, path);
}

static void close_files(const struct circuit_files *files)
{
    const int fds[] = {files->key_fd, files->r1cs_fd, files->program_fd, files->program_data_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* What lies beside a program, PROGRAM.dat; there may be nothing. 0, or -1 with the problem sent. */
static int open_program_data(struct http_call *call, uint32_t uid, const char *program_path,
                             int *fd)
{
    char path[PATH_MAX], why[1024];
    if (snprintf(path, sizeof(path), "%s.dat", program_path) >= (int)sizeof(path))
        return 0;
    *fd = key_open(call->service->config, uid, path, why, sizeof(why));
    if (*fd >= 0 || *fd == -ENOENT)
        return 0;
    http_send_problem(call->request, 422, "program_path", "%s", why);
    return -1;
}

/* What [circuit NAME] says; NULL: nothing. */
static const char *configured_program(const struct http_call *call)
{
    const struct config *config = call->service->config;
    for (uint32_t i = 0; i < config->circuit_count; i++)
        if (strcmp(config->circuits[i].name, call->segment) == 0 && config->circuits[i].program[0])
            return config->circuits[i].program;
    return NULL;
}

/* The request's, as its client may; else the configured one, as we may. 0, or -1 with the problem
 * sent. */
static int open_program(struct http_call *call, const struct circuit_request *request,
                        struct circuit_files *files)
{
    uint32_t uid = request->program_path ? http_client_uid(call) : geteuid();
    files->program_path = request->program_path ? request->program_path : configured_program(call);
    if (!files->program_path)
        return 0;
    files->program_fd = open_as(call, uid, "program_path", files->program_path);
    if (files->program_fd < 0)
        return -1;
    return open_program_data(call, uid, files->program_path, &files->program_data_fd);
}

static int open_files(struct http_call *call, const struct circuit_request *request,
                      struct circuit_files *files)
{
    *files = (struct circuit_files){.key_fd = -1,
                                    .r1cs_fd = -1,
                                    .program_fd = -1,
                                    .program_data_fd = -1,
                                    .key_path = request->zkey_path,
                                    .r1cs_path = request->r1cs_path};
    files->key_fd = open_named(call, "zkey_path", request->zkey_path);
    if (files->key_fd < 0)
        return -EINVAL;
    if (request->r1cs_path)
        files->r1cs_fd = open_named(call, "r1cs_path", request->r1cs_path);
    if ((!request->r1cs_path || files->r1cs_fd >= 0) && !open_program(call, request, files))
        return 0;
    close_files(files);
    return -EINVAL;
}

static void add(struct http_call *call, const struct circuit_request *request)
{
    struct circuit_files files;
    uint32_t uid = http_client_uid(call);
    /* Only who could write the image cache as well may have a key's subgroups taken on trust. */
    int check = request->check_subgroups || (uid != 0 && uid != geteuid());
    if (open_files(call, request, &files))
        return;
    int error = circuits_add(call->service->circuits, call->segment, &files, check);
    if (!error) {
        send_accepted(call);
        return;
    }
    close_files(&files);
    http_send_later(call->request, "%s",
                    error == -ENOSPC ? "there are too many circuits: remove one" : "no memory");
}

void http_put_circuit(struct http_call *call)
{
    struct circuit_request request = {.check_subgroups = 1};
    const char *text;
    uint64_t bytes;
    if (!circuit_name_is_valid(call->segment)) {
        http_send_problem(call->request, 422, "name",
                          "a circuit's name is [A-Za-z0-9][A-Za-z0-9._-]{0,63}");
        return;
    }
    if (call->service->draining) {
        http_send_later(call->request, "the coordinator is draining");
        return;
    }
    if (http_body(call, &text, &bytes))
        return;
    json_t *root = json_loadb(text ? text : "", bytes, JSON_REJECT_DUPLICATES, NULL);
    if (!parse_fields(call, root, &request))
        add(call, &request);
    json_decref(root);
}

/* ---- GET, DELETE ---- */

void http_list_circuits(struct http_call *call)
{
    struct json_writer json;
    struct evbuffer *body = http_begin_json(call->request, &json);
    if (!body)
        return;
    json_circuits(&json, call->service->circuits);
    http_end_json(call->request, 200, body);
}

void http_delete_circuit(struct http_call *call)
{
    char force[8];
    int forced = http_query(call, "force", force, sizeof(force)) && strcmp(force, "1") == 0;
    int error = circuits_remove(call->service->circuits, call->segment, forced);
    if (!error)
        http_list_circuits(call);
    else if (error == -EBUSY)
        http_send_problem(call->request, 409, NULL,
                          "jobs wait for circuit %s: ?force=1 removes its name, and they still run",
                          call->segment);
    else
        http_send_problem(call->request, 404, NULL, "there is no such circuit");
}
