/*
 * The configuration as a whole: defaults, then the file, then what holds only between several keys
 * and the places that follow from others. A mistake is told in one line that says what to write
 * instead.
 *
 * Called at the start, at HUP (into a second struct) and for scripts. A SIGKILL leaves nothing.
 */
#include "coordinator/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/lane_plan.h"

struct whole {
    struct config *config;
    char *error;
    size_t error_bytes;
};

static int whole_error(struct whole *whole, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int whole_error(struct whole *whole, const char *format, ...)
{
    const char *path = whole->config->path;
    va_list arguments;
    int used = snprintf(whole->error, whole->error_bytes, "%s%s", path, *path ? ": " : "");

    va_start(arguments, format);
    if (used >= 0 && (size_t)used < whole->error_bytes)
        vsnprintf(whole->error + used, whole->error_bytes - (size_t)used, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/* Whether [lane NAME] or nothing at all gives the lanes: then one lane is the default. */
static void add_default_lane(struct config *config)
{
    if (config->lane_count)
        return;
    config_set_defaults("lane", &config->lanes[0]);
    snprintf(config->lanes[0].name, sizeof(config->lanes[0].name), "main");
    config->lane_count = 1;
}

static int check_lanes(struct whole *whole)
{
    const struct config *config = whole->config;
    uint64_t slabs = 0;

    for (uint32_t i = 0; i < config->lane_count; i++) {
        const struct config_lane *lane = &config->lanes[i];
        slabs += lane_plan_slabs(config, lane);
        if (lane->slabs && lane->credits > lane->slabs)
            return whole_error(
                whole, "[lane %s] credits = %u, but slabs = %u; lower credits or raise slabs",
                lane->name, lane->credits, lane->slabs);
        if (!lane->priorities)
            return whole_error(whole, "[lane %s] priorities is empty; name at least one",
                               lane->name);
    }
    if (slabs > SLABS_MAX)
        return whole_error(whole, "all lanes together have %" PRIu64 " slabs; at most %u", slabs,
                           SLABS_MAX);
    return 0;
}

static int fill_path(struct whole *whole, const char *key, char *out, size_t bytes,
                     const char *folder, const char *rest)
{
    if (*out)
        return 0;
    if (!folder || *folder != '/')
        return whole_error(whole, "no place is known for %s; give it in [pawl]", key);
    if ((size_t)snprintf(out, bytes, "%s%s", folder, rest) >= bytes)
        return whole_error(whole, "the path of %s is too long; give it in [pawl]", key);
    return 0;
}

static int fill_state_dir(struct whole *whole)
{
    struct config *config = whole->config;
    const char *state_home = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    size_t room = sizeof(config->state_dir);

    if (geteuid() == 0)
        return fill_path(whole, "state_dir", config->state_dir, room, "/var/lib", "/pawl");
    if (state_home && *state_home)
        return fill_path(whole, "state_dir", config->state_dir, room, state_home, "/pawl");
    return fill_path(whole, "state_dir", config->state_dir, room, home, "/.local/state/pawl");
}

static int fill_socket(struct whole *whole)
{
    struct config *config = whole->config;
    const char *why = NULL;

    if (*config->socket)
        return 0;
    if (program_socket_path(config->socket, NULL, NULL, &why))
        return whole_error(whole, "no place is known for socket (%s); give it in [pawl]",
                           why ? why : "unknown");
    if (*config->socket != '/' || strlen(config->socket) + sizeof(".http") > PAWL_SOCKET_BYTES)
        return whole_error(whole, "socket = %s: an absolute path of at most %zu bytes is wanted",
                           config->socket, PAWL_SOCKET_BYTES - sizeof(".http"));
    return 0;
}

/* The places that follow from others. */
static int fill_places(struct whole *whole)
{
    struct config *config = whole->config;
    char folder[PAWL_SOCKET_BYTES];
    char *slash;
    int error = fill_socket(whole);

    if (error)
        return error;
    memcpy(folder, config->socket, sizeof(folder));
    slash = strrchr(folder, '/');
    slash[slash == folder] = '\0'; /* "/" stays */
    error = fill_path(whole, "run_dir", config->run_dir, sizeof(config->run_dir), folder, "");
    if (!error)
        error = fill_state_dir(whole);
    if (!error)
        error = fill_path(whole, "images_dir", config->images_dir, sizeof(config->images_dir),
                          config->state_dir, "/images");
    return error;
}

static void set_all_defaults(struct config *config)
{
    static const char *const sections[] = {"pawl", "http", "workers", "limits"};

    *config = (struct config){0};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        config_set_defaults(sections[i], config);
}

int config_load(struct config *config, const char *path, char *error, size_t error_bytes)
{
    struct whole whole = {config, error, error_bytes};
    int result = 0;

    if (error_bytes)
        *error = '\0';
    set_all_defaults(config);
    if (path)
        result = config_read_file(config, path, error, error_bytes);
    if (result)
        return result;
    add_default_lane(config);
    result = check_lanes(&whole);
    return result ? result : fill_places(&whole);
}
