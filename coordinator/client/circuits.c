/*
 * pawl circuit add, list, remove. A SIGKILL while waiting leaves the compilation to the service,
 * which ends it.
 */
#include "coordinator/client/circuits.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/options.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "shm/program.h"

#define PAUSE_MS_MAX 200

static int circuit_path(char *path, size_t bytes, const char *name)
{
    snprintf(path, bytes, "/v1/circuits/");
    if (*name && !service_append_escaped(path, bytes - 32, name))
        return 0;
    return say_error(EXIT_USAGE_ERROR, "not a circuit's name: %s", name);
}

/* The list itself, whether it stands alone or in an object. Borrowed. */
static const json_t *list_of(const json_t *answer)
{
    return json_is_array(answer) ? answer : json_object_get(answer, "circuits");
}

static json_t *find(const json_t *answer, const char *name)
{
    const json_t *list = list_of(answer);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *entry = json_array_get(list, i);
        if (!strcmp(service_text(entry, "name"), name))
            return entry;
    }
    return NULL;
}

/* The body's field with the file's full path, which the service opens itself. 0 or an exit code. */
static int add_path(json_t *body, const char *field, const char *file)
{
    char full[PATH_MAX];
    if (!realpath(file, full))
        return say_error(EXIT_INPUT, "cannot read %s: %s", file, strerror(errno));
    if (json_object_set_new(body, field, json_string(full)))
        return say_error(EXIT_USAGE_ERROR, "the file's name is not UTF-8: %s", full);
    return 0;
}

static int put(struct service *service, const char *name, const char *key_path,
               const char *r1cs_path, const char *program_path)
{
    char path[512];
    json_t *answer = NULL, *body = json_object();
    int code = circuit_path(path, sizeof(path), name);
    if (!code)
        code = add_path(body, "zkey_path", key_path);
    if (!code && r1cs_path)
        code = add_path(body, "r1cs_path", r1cs_path);
    if (!code && program_path)
        code = add_path(body, "program_path", program_path);
    if (!code)
        code = service_call(service, "PUT", path, body, &answer);
    json_decref(body);
    json_decref(answer);
    return code;
}

/* 1 after the pause, 0 where a signal came. */
static int pause_ms(int ms)
{
    struct pollfd wait = {interrupt_fd(), POLLIN, 0};
    return poll(&wait, 1, ms) <= 0;
}

/* A full disk or a killed compiler is no fault of the key. */
static int exit_code_of(const json_t *failed)
{
    return strcmp(service_text(failed, "error_class"), "internal") ? EXIT_INPUT : EXIT_INTERNAL;
}

/* One look at the list. 0 to look again, 1 where it is ready, else an exit code (negative). */
static int look(struct service *service, const char *name, json_t **circuit)
{
    json_t *answer;
    int code = service_call(service, "GET", "/v1/circuits", NULL, &answer);
    json_t *entry = find(answer, name);
    const char *state = service_text(entry, "state");
    if (code)
        code = -code;
    else if (!entry)
        code = -say_error(EXIT_INPUT, "the circuit %s was removed", name);
    else if (!strcmp(state, "failed"))
        code = -say_error(exit_code_of(entry), "%s", service_text(entry, "error"));
    else
        code = !strcmp(state, "ready");
    if (code == 1 && circuit)
        *circuit = json_incref(entry);
    json_decref(answer);
    return code;
}

int circuits_add(struct service *service, const char *name, const char *key_path,
                 const char *r1cs_path, const char *program_path, json_t **circuit)
{
    int code = put(service, name, key_path, r1cs_path, program_path);
    if (code)
        return code;
    for (int ms = 2;; ms = ms * 2 < PAUSE_MS_MAX ? ms * 2 : PAUSE_MS_MAX) {
        code = look(service, name, circuit);
        if (code)
            return code > 0 ? 0 : -code;
        progress_show("compiling the key");
        if (!pause_ms(ms))
            return say_error(EXIT_CANCELLED, "interrupted; the service goes on compiling");
    }
}

int command_circuit_add(const struct arguments *arguments)
{
    struct service service;
    json_t *circuit = NULL;
    int code = service_open(&service, arguments);
    if (code)
        return code;
    code = circuits_add(&service, arguments->positional[0], arguments->positional[1],
                        options_value(arguments, "--r1cs"), options_value(arguments, "--program"),
                        &circuit);
    progress_clear();
    if (!code && options_value(arguments, "--json"))
        code = say_json(circuit);
    json_decref(circuit);
    service_close(&service);
    return code;
}

static void print_circuit(const json_t *entry)
{
    const char *error = service_text(entry, "error");
    printf("%-20s  %-9s  %-8s  %9.0f wires  domain %.0f  %.12s%s%s\n", service_text(entry, "name"),
           service_text(entry, "state"), service_text(entry, "curve"),
           service_number(entry, "wires"), service_number(entry, "domain"),
           service_text(entry, "hash"), *error ? "  " : "", error);
}

static int print_circuits(const json_t *answer)
{
    const json_t *list = list_of(answer);
    for (size_t i = 0; i < json_array_size(list); i++)
        print_circuit(json_array_get(list, i));
    return say_flush();
}

int command_circuit_list(const struct arguments *arguments)
{
    struct service service;
    json_t *answer;
    int code = service_open(&service, arguments);
    if (code)
        return code;
    code = service_call(&service, "GET", "/v1/circuits", NULL, &answer);
    if (!code)
        code = options_value(arguments, "--json") ? say_json(answer) : print_circuits(answer);
    json_decref(answer);
    service_close(&service);
    return code;
}

int command_circuit_remove(const struct arguments *arguments)
{
    struct service service;
    json_t *answer = NULL;
    char path[512];
    int code = circuit_path(path, sizeof(path), arguments->positional[0]);
    if (!code)
        code = service_open(&service, arguments);
    if (code)
        return code;
    if (options_value(arguments, "--force"))
        strcat(path, "?force=1");
    code = service_call(&service, "DELETE", path, NULL, &answer);
    if (!code && options_value(arguments, "--json")) {
        json_t *removed = json_pack("{s:s}", "removed", arguments->positional[0]);
        code = say_json(removed);
        json_decref(removed);
    }
    json_decref(answer);
    service_close(&service);
    return code;
}
