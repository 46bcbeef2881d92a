/*
 * `pawl doctor`: runs the checks and prints what they found. Called by the command table. Leaves
 * nothing.
 */
#include "coordinator/client/doctor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/client/child.h"
#include "coordinator/client/commands.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

#define CONFIG_SLABS_BYTES "lanes.slabs_bytes" /* coordinator --get */

static const char *state_name(enum doctor_state state)
{
    static const char *const names[] = {"ok", "warn", "fail"};

    return names[state];
}

void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *mend,
                 const char *means, ...)
{
    va_list arguments;

    finding->state = state;
    finding->mend = mend;
    va_start(arguments, means);
    vsnprintf(finding->means, sizeof(finding->means), means, arguments);
    va_end(arguments);
    say_clean(finding->means);
}

static void print_line(const struct doctor_finding *finding)
{
    printf("%-4s  %-10s  %s\n", state_name(finding->state), finding->name, finding->means);
    if (finding->mend)
        printf("%18s%s\n", "-> ", finding->mend);
}

static json_t *to_json(const struct doctor_finding *finding)
{
    return json_pack("{s:s, s:s, s:s, s:s?}", "name", finding->name, "state",
                     state_name(finding->state), "means", finding->means, "mend", finding->mend);
}

/* Where nothing names one, and the user has no place of its own: the system's. */
static int find_socket(const struct arguments *arguments, char socket[PAWL_SOCKET_BYTES])
{
    const char *given = options_value(arguments, "--socket");
    const char *config = options_value(arguments, "--config"), *named = getenv("PAWL_SOCKET");
    const char *why;

    if (!program_socket_path(socket, given, config, &why))
        return 0;
    if (given || config || (named && *named))
        return say_error(EXIT_USAGE_ERROR, "%s", why);
    snprintf(socket, PAWL_SOCKET_BYTES, "/run/pawl/pawl.sock");
    return 0;
}

/* What the coordinator reads in the configuration; free_configured. */
struct configured {
    char *backing, *state_dir, *slabs_bytes;
};

/* One value; NULL where there is none, with the reason in the finding. free() */
static char *get_configured(const char *config, const char *name, struct doctor_finding *finding)
{
    char *words[] = {"--config", (char *)(uintptr_t)config, "--get", (char *)(uintptr_t)name, NULL};
    struct child_output output = {0};
    int error = child_run(&output, "coordinator", words, PATH_MAX, -1);

    if (!error && output.status == 0 && output.text) {
        output.text[strcspn(output.text, "\n")] = '\0';
        return output.text;
    }
    free(output.text);
    doctor_find(finding, DOCTOR_FAIL, "mend the file: conf/pawl.ini explains every key", "%s",
                error ? strerror(-error) : output.error);
    return NULL;
}

static void look_at_configuration(struct doctor_finding *finding, const char *config,
                                  struct configured *configured, struct doctor_place *place)
{
    configured->backing = get_configured(config, "pawl.backing", finding);
    if (configured->backing)
        configured->state_dir = get_configured(config, "pawl.state_dir", finding);
    if (configured->state_dir)
        configured->slabs_bytes = get_configured(config, CONFIG_SLABS_BYTES, finding);
    if (!configured->slabs_bytes)
        return;
    place->backing = configured->backing;
    place->state_dir = configured->state_dir;
    place->slabs_bytes = strtoull(configured->slabs_bytes, NULL, 10);
    doctor_find(finding, DOCTOR_OK, NULL, "%.300s can be used", config);
}

static void free_configured(struct configured *configured)
{
    free(configured->backing);
    free(configured->state_dir);
    free(configured->slabs_bytes);
}

static void report(const struct doctor_finding *finding, json_t *list, int *fails)
{
    *fails += finding->state == DOCTOR_FAIL;
    if (list)
        json_array_append_new(list, to_json(finding));
    else
        print_line(finding);
}

static void look_at_all(const char *config, const char *socket, json_t *list, int *fails)
{
    struct doctor_place place = {.root = "", .socket = socket};
    struct doctor_finding finding = {.name = "config"};
    struct configured configured = {0};

    if (config) {
        look_at_configuration(&finding, config, &configured, &place);
        report(&finding, list, fails);
    }
    for (const struct doctor_check *check = doctor_checks; check->name; check++) {
        finding = (struct doctor_finding){.name = check->name};
        check->look(&finding, &place);
        report(&finding, list, fails);
    }
    free_configured(&configured);
}

int command_doctor(const struct arguments *arguments)
{
    char socket[PAWL_SOCKET_BYTES];
    int fails = 0;
    int code = find_socket(arguments, socket);
    if (code)
        return code;
    json_t *list = options_value(arguments, "--json") ? json_array() : NULL;
    look_at_all(options_value(arguments, "--config"), socket, list, &fails);
    code = list ? say_json(list) : say_flush();
    json_decref(list);
    if (code)
        return code;
    return fails ? EXIT_MACHINE : 0;
}
