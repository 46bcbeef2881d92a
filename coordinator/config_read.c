/*
 * The configuration file, line by line: sections, keys, duplicates. The first mistake ends it, with
 * one line that names file, line, and what to write instead; nothing is ever cut, guessed or passed
 * over. Called by config_load alone. A SIGKILL leaves nothing.
 *
 * inih calls back for keys only and does not tell lines: the reader that feeds it counts them,
 * watches the sections, and refuses lines that inih would cut.
 */
#include "coordinator/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuit_names.h"

#define SECTION_BYTES 80

struct seen_key {
    struct seen_key *next;
    int line;
    const struct config_key *key;
    char section[SECTION_BYTES];
};

struct load {
    struct config *config;
    char *error;
    size_t error_bytes;
    FILE *file;
    int line;
    int failed_line;                  /* 0: no mistake so far */
    bool continued;                   /* the line is indented */
    bool after_key;                   /* an indented line goes on with the key before */
    char section[SECTION_BYTES];      /* as written */
    char section_kind[SECTION_BYTES]; /* its first word */
    void *base;                       /* where its keys go */
    struct seen_key *seen;
};

/* Keeps the first mistake. Returns 0, as a handler of inih does for a mistake. */
static int mistake(struct load *load, const char *format, ...)
{
    va_list arguments;
    int used;

    if (load->failed_line)
        return 0;
    load->failed_line = load->line ? load->line : 1; /* also where not even a line could be read */
    used = snprintf(load->error, load->error_bytes, "%s:%d: ", load->config->path, load->line);
    va_start(arguments, format);
    if (used >= 0 && (size_t)used < load->error_bytes)
        vsnprintf(load->error + used, load->error_bytes - (size_t)used, format, arguments);
    va_end(arguments);
    return 0;
}

/* ---------------------------------------------------------------- sections */

static const char *const section_kinds[] = {"pawl",        "http",   "workers",      "lane NAME",
                                            "device NAME", "limits", "circuit NAME", NULL};

static const char *each_section(void *arg, size_t i)
{
    (void)arg;
    return section_kinds[i];
}

/* The name part of "lane NAME"; empty where there is none. Cuts the first word off. */
static const char *split_section(struct load *load)
{
    size_t length = strcspn(load->section, " \t");

    memcpy(load->section_kind, load->section, length);
    load->section_kind[length] = '\0';
    return load->section + length + strspn(load->section + length, " \t");
}

static bool is_lane_name(const char *name)
{
    size_t length =
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

    return length && !name[length] && length < LANE_NAME_BYTES && isalnum((unsigned char)*name);
}

static void enter_lane(struct load *load, const char *name)
{
    struct config *config = load->config;
    struct config_lane *lane;

    if (!is_lane_name(name)) {
        mistake(load, "[%s]: a lane's name has 1 to %d letters, digits, _ and -", load->section,
                LANE_NAME_BYTES - 1);
        return;
    }
    for (uint32_t i = 0; i < config->lane_count; i++) {
        load->base = &config->lanes[i];
        if (strcmp(config->lanes[i].name, name) == 0)
            return;
    }
    if (config->lane_count == LANES_MAX) {
        mistake(load, "[%s]: more than %u lanes", load->section, LANES_MAX);
        return;
    }
    lane = &config->lanes[config->lane_count++];
    config_set_defaults("lane", lane);
    snprintf(lane->name, sizeof(lane->name), "%s", name);
    load->base = lane;
}

static void enter_circuit(struct load *load, const char *name)
{
    struct config *config = load->config;

    if (!circuit_name_is_valid(name)) {
        mistake(load, "[%s]: a circuit's name is [A-Za-z0-9][A-Za-z0-9._-]{0,63}", load->section);
        return;
    }
    for (uint32_t i = 0; i < config->circuit_count; i++) {
        load->base = &config->circuits[i];
        if (strcmp(config->circuits[i].name, name) == 0)
            return;
    }
    if (config->circuit_count == CONFIG_CIRCUITS_MAX) {
        mistake(load, "[%s]: more than %u circuits", load->section, CONFIG_CIRCUITS_MAX);
        return;
    }
    struct config_circuit *circuit = &config->circuits[config->circuit_count++];
    config_set_defaults("circuit", circuit);
    snprintf(circuit->name, sizeof(circuit->name), "%s", name);
    load->base = circuit;
}

static void enter_device(struct load *load, const char *name)
{
    struct config_device *device = NULL;

    if (strncmp(name, "cuda:", 5) == 0)
        mistake(load,
                "[%s]: cuda:N can be another device at each start; name it by its UUID, which "
                "`gpu-worker --list-devices` prints",
                load->section);
    else if (strlen(name) >= sizeof(device->name))
        mistake(load, "[%s]: a device's name has at most %zu characters", load->section,
                sizeof(device->name) - 1);
    else if (!(device = config_device_enter(load->config, name)))
        mistake(load, "[%s]: more than %u devices", load->section, CONFIG_DEVICES_MAX);
    if (device)
        load->base = device;
}

static void enter_section(struct load *load, const char *text, size_t length)
{
    const char *name, *near;
    bool named;

    load->after_key = false;
    if (length >= SECTION_BYTES) {
        mistake(load, "this section's name is too long");
        return;
    }
    memcpy(load->section, text, length);
    load->section[length] = '\0';
    name = split_section(load);
    named = strcmp(load->section_kind, "lane") == 0 || strcmp(load->section_kind, "device") == 0 ||
            strcmp(load->section_kind, "circuit") == 0;
    load->base = load->config;
    for (size_t i = 0; section_kinds[i]; i++) {
        size_t word = strcspn(section_kinds[i], " ");
        if (strlen(load->section_kind) != word ||
            strncmp(section_kinds[i], load->section_kind, word))
            continue;
        if (named != !!*name)
            mistake(load, "[%s] %s", load->section, named ? "needs a name" : "has no name");
        else if (strcmp(load->section_kind, "lane") == 0)
            enter_lane(load, name);
        else if (strcmp(load->section_kind, "circuit") == 0)
            enter_circuit(load, name);
        else if (strcmp(load->section_kind, "device") == 0)
            enter_device(load, name);
        return;
    }
    near = config_nearest(load->section, each_section, NULL);
    mistake(load, "unknown section [%s]%s%s%s", load->section, near ? "; did you mean [" : "",
            near ? near : "", near ? "]?" : "");
}

/* ---------------------------------------------------------------- keys */

static const char *each_key(void *arg, size_t i)
{
    const struct load *load = arg;

    for (size_t k = 0; k < config_key_count; k++) {
        if (strcmp(config_keys[k].section, load->section_kind) == 0 && !i--)
            return config_keys[k].name;
    }
    return NULL;
}

static int unknown_key(struct load *load, const char *name)
{
    const char *near = config_nearest(name, each_key, load);

    if (!*load->section)
        return mistake(load, "key `%s` stands before any [section]", name);
    return mistake(load, "unknown key `%s` in [%s]%s%s%s", name, load->section,
                   near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int check_duplicate(struct load *load, const struct config_key *key)
{
    struct seen_key *seen;

    for (seen = load->seen; seen; seen = seen->next) {
        if (seen->key == key && strcmp(seen->section, load->section) == 0)
            return mistake(load, "%s is already given in line %d", key->name, seen->line);
    }
    seen = calloc(1, sizeof(*seen));
    if (!seen)
        return mistake(load, "memory is short");
    seen->line = load->line;
    seen->key = key;
    memcpy(seen->section, load->section, sizeof(seen->section));
    seen->next = load->seen;
    load->seen = seen;
    return 1;
}

static int bad_value(struct load *load, const struct config_key *key, const char *value, int error)
{
    if (error == -ENOTSUP && !*key->fallback)
        return mistake(load, "%s = %s is not in this version; leave it out", key->name, value);
    if (error == -ENOTSUP)
        return mistake(load, "%s = %s is not in this version; leave it at %s", key->name, value,
                       key->fallback);
    if (key->kind->set == config_kind_text.set || key->kind->set == config_kind_path.set)
        return mistake(load, "%s = %s: %s is wanted, at most %" PRIu64 " bytes", key->name, value,
                       key->kind->wants, key->high - 1);
    if (key->high && key->kind->get != config_kind_cpus.get && key->kind != &config_kind_backing)
        return mistake(load, "%s = %s: %s from %" PRIu64 " to %" PRIu64 "%s is wanted", key->name,
                       value, key->kind->wants, key->low, key->high,
                       key->kind == &config_kind_duration ? " ms" : "");
    return mistake(load, "%s = %s: %s is wanted", key->name, value, key->kind->wants);
}

static int take_key(void *arg, const char *section, const char *name, const char *value)
{
    struct load *load = arg;
    const struct config_key *key;
    bool continued = load->continued && load->after_key;
    int error;

    (void)section; /* inih cuts it; the reader has it whole */
    if (load->failed_line)
        return 0;
    key = config_key_find(load->section_kind, name);
    if (!key)
        return unknown_key(load, name);
    if (continued && !key->kind->clear)
        return mistake(load,
                       "an indented line goes on with a list, and `%s` is none; start the "
                       "line at its beginning",
                       name);
    if (!continued && !check_duplicate(load, key))
        return 0;
    if (!continued && key->kind->clear)
        key->kind->clear(load->base);
    load->after_key = true;
    error = key->kind->set(key, load->base, value);
    return error ? bad_value(load, key, value, error) : 1;
}

/* ---------------------------------------------------------------- lines */

/* What the reader sees of a line before inih does. */
static void watch_line(struct load *load, const char *line)
{
    const char *start = line + strspn(line, " \t"), *end;

    load->continued = start > line;
    if (*start != '[' || (load->continued && load->after_key))
        return;
    end = strchr(start, ']');
    if (end)
        enter_section(load, start + 1, (size_t)(end - start - 1));
}

static bool is_comment(const char *line)
{
    line += strspn(line, " \t");
    return *line == ';' || *line == '#';
}

/* fgets for inih: one line that it will not cut, NULL at the end or after a mistake. */
static char *read_line(char *out, int room, void *arg)
{
    struct load *load = arg;
    char *line = NULL, *start;
    size_t allocated = 0;
    ssize_t length;

    if (load->failed_line || (length = getline(&line, &allocated, load->file)) < 0) {
        free(line);
        return NULL;
    }
    load->line++;
    start = load->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line;
    if (strlen(line) != (size_t)length)
        mistake(load, "a NUL byte; this is no text");
    else if (is_comment(start))
        *start = '\0';
    else if (strlen(start) + 2 > (size_t)room)
        mistake(load, "a line of more than %d characters; lists may go on in indented lines",
                room - 3);
    else
        watch_line(load, start);
    snprintf(out, (size_t)room, "%s\n", load->failed_line ? "" : start);
    free(line);
    return load->failed_line ? NULL : out;
}

/* Runs inih over the open file. 0, or -EINVAL with the mistake told. */
static int parse_file(struct load *load)
{
    int result = ini_parse_stream(read_line, load, take_key, load);

    if (!load->failed_line && ferror(load->file))
        mistake(load, "cannot read on: %s", strerror(errno));
    /* inih's own mistake, if it stands before ours */
    if (result > 0 && (!load->failed_line || result < load->failed_line)) {
        load->line = result;
        load->failed_line = 0;
        mistake(load, "neither [section] nor KEY = VALUE");
    }
    return load->failed_line ? -EINVAL : 0;
}

static void forget_seen(struct load *load)
{
    while (load->seen) {
        struct seen_key *next = load->seen->next;
        free(load->seen);
        load->seen = next;
    }
}

int config_read_file(struct config *config, const char *path, char *error, size_t error_bytes)
{
    struct load load = {.config = config, .error = error, .error_bytes = error_bytes};
    int result;

    if (strlen(path) >= sizeof(config->path)) {
        snprintf(error, error_bytes, "the configuration's path is too long");
        return -ENAMETOOLONG;
    }
    snprintf(config->path, sizeof(config->path), "%s", path);
    load.file = fopen(path, "re");
    if (!load.file) {
        result = -errno;
        snprintf(error, error_bytes, "%s: cannot read the configuration: %s", path,
                 strerror(-result));
        return result;
    }
    result = parse_file(&load);
    fclose(load.file);
    forget_seen(&load);
    return result;
}
