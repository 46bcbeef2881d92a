/*
 * `pawl doctor`: runs the checks and prints what they found. Called by the command table. Leaves
 * nothing.
 */
#include "coordinator/client/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/say.h"
#include "shm/program.h"

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

int command_doctor(const struct arguments *arguments)
{
    char socket[PAWL_SOCKET_BYTES];
    const struct doctor_place place = {.root = "", .socket = socket};
    int is_json = options_value(arguments, "--json") != NULL, fails = 0;
    int code = find_socket(arguments, socket);
    if (code)
        return code;
    json_t *list = json_array();
    for (const struct doctor_check *check = doctor_checks; check->name; check++) {
        struct doctor_finding finding = {.name = check->name};
        check->look(&finding, &place);
        fails += finding.state == DOCTOR_FAIL;
        if (is_json)
            json_array_append_new(list, to_json(&finding));
        else
            print_line(&finding);
    }
    code = is_json ? say_json(list) : say_flush();
    json_decref(list);
    if (code)
        return code;
    return fails ? EXIT_MACHINE : 0;
}
