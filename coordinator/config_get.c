/*
 * The configuration as text again: single values for scripts, and which keys differ between two
 * configurations. Called by `--get` and at HUP.
 */
#include "coordinator/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_BYTES (PATH_MAX + 1)

static const struct config_lane *find_lane(const struct config *config, const char *name,
                                           size_t length)
{
    for (uint32_t i = 0; i < config->lane_count; i++) {
        if (strlen(config->lanes[i].name) == length &&
            strncmp(config->lanes[i].name, name, length) == 0)
            return &config->lanes[i];
    }
    return NULL;
}

/* "lane NAME.key" and "lane.NAME.key". */
static int get_lane_value(const struct config *config, const char *rest, char *out, size_t bytes)
{
    size_t length = strcspn(rest, ".");
    const struct config_lane *lane = find_lane(config, rest, length);
    const struct config_key *key = rest[length] ? config_key_find("lane", rest + length + 1) : NULL;

    if (!lane || !key)
        return -ENOENT;
    key->kind->get(key, lane, out, bytes);
    return 0;
}

/* What the lanes of a fixed size and number of slabs take together. */
static int get_slabs_bytes(const struct config *config, char *out, size_t bytes)
{
    uint64_t sum = 0, more;
    for (uint32_t i = 0; i < config->lane_count; i++) {
        const struct config_lane *lane = &config->lanes[i];
        if (__builtin_mul_overflow(lane->slabs, lane->size_bytes, &more) ||
            __builtin_add_overflow(sum, more, &sum))
            return -EOVERFLOW;
    }
    snprintf(out, bytes, "%" PRIu64, sum);
    return 0;
}

int config_get(const struct config *config, const char *name, char *out, size_t bytes)
{
    size_t length = strcspn(name, ". ");
    char section[16];
    const struct config_key *key;

    if (strcmp(name, "lanes.slabs_bytes") == 0)
        return get_slabs_bytes(config, out, bytes);
    if (!name[length] || length >= sizeof(section))
        return -ENOENT;
    memcpy(section, name, length);
    section[length] = '\0';
    if (strcmp(section, "lane") == 0)
        return get_lane_value(config, name + length + 1, out, bytes);
    key = config_key_find(section, name + length + 1);
    if (!key || strcmp(section, "device") == 0 || strcmp(section, "circuit") == 0)
        return -ENOENT;
    key->kind->get(key, config, out, bytes);
    return 0;
}

static bool differs(const struct config_key *key, const void *a, const void *b)
{
    char left[VALUE_BYTES], right[VALUE_BYTES];

    key->kind->get(key, a, left, sizeof(left));
    key->kind->get(key, b, right, sizeof(right));
    return strcmp(left, right) != 0;
}

static void lane_restart_keys(const struct config_lane *a, const struct config_lane *b, char *out,
                              size_t bytes)
{
    char name[LANE_NAME_BYTES + 32];

    for (size_t i = 0; i < config_key_count; i++) {
        const struct config_key *key = &config_keys[i];
        if (strcmp(key->section, "lane") != 0 || !key->restart || !differs(key, a, b))
            continue;
        snprintf(name, sizeof(name), "lane.%s.%s", a->name, key->name);
        config_put_word(out, bytes, name);
    }
}

/* Lanes are numbered in the order of the file: another order is another geometry. */
static void lanes_restart_keys(const struct config *running, const struct config *fresh, char *out,
                               size_t bytes)
{
    bool same = running->lane_count == fresh->lane_count;

    for (uint32_t i = 0; same && i < running->lane_count; i++)
        same = strcmp(running->lanes[i].name, fresh->lanes[i].name) == 0;
    if (!same) {
        config_put_word(out, bytes, "lanes");
        return;
    }
    for (uint32_t i = 0; i < running->lane_count; i++)
        lane_restart_keys(&running->lanes[i], &fresh->lanes[i], out, bytes);
}

void config_restart_keys(const struct config *running, const struct config *fresh, char *out,
                         size_t bytes)
{
    char name[64];

    *out = '\0';
    for (size_t i = 0; i < config_key_count; i++) {
        const struct config_key *key = &config_keys[i];
        if (strcmp(key->section, "lane") == 0 || !key->restart || !differs(key, running, fresh))
            continue;
        snprintf(name, sizeof(name), "%s.%s", key->section, key->name);
        config_put_word(out, bytes, name);
    }
    lanes_restart_keys(running, fresh, out, bytes);
}
