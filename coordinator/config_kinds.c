/*
 * The kinds of values that keys have: each is a pair of functions, text to field and field to text,
 * and what to say when the text is wrong. Called through the table of keys alone.
 */
#include "coordinator/config_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/store.h"
#include "shm/numa.h"
#include "shm/region_object.h"
#include "shm/worker_start.h"

static void *field(const struct config_key *key, void *base)
{
    return (char *)base + key->offset;
}

static const void *const_field(const struct config_key *key, const void *base)
{
    return (const char *)base + key->offset;
}

/* ---------------------------------------------------------------- texts */

static int set_text(const struct config_key *key, void *base, const char *text)
{
    size_t length = strlen(text);

    if (length >= key->high)
        return -EINVAL;
    memcpy(field(key, base), text, length + 1);
    return 0;
}

static void get_text(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s", (const char *)const_field(key, base));
}

static int set_path(const struct config_key *key, void *base, const char *text)
{
    if (*text && *text != '/')
        return -EINVAL;
    return set_text(key, base, text);
}

static int set_cpus(const struct config_key *key, void *base, const char *text)
{
    cpu_set_t cpus;

    if (*text && worker_parse_cpus(text, &cpus))
        return -EINVAL;
    return set_text(key, base, text);
}

static int set_backing(const struct config_key *key, void *base, const char *text)
{
    if (region_backing_parse(text) < 0)
        return -EINVAL;
    return set_text(key, base, text);
}

static int set_store(const struct config_key *key, void *base, const char *text)
{
    if (strcmp(text, "sqlite") != 0 && strcmp(text, "memory") != 0)
        return -EINVAL;
    return set_text(key, base, text);
}

/* Functions of a later version: the default is taken and nothing else. */
static int set_fixed(const struct config_key *key, void *base, const char *text)
{
    (void)base;
    return strcmp(text, key->fallback) == 0 ? 0 : -ENOTSUP;
}

static void get_fixed(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    (void)base;
    snprintf(out, bytes, "%s", key->fallback);
}

/* ---------------------------------------------------------------- numbers */

static bool in_bounds(const struct config_key *key, uint64_t number)
{
    return number >= key->low && number <= key->high;
}

static int set_u32(const struct config_key *key, void *base, const char *text)
{
    uint64_t number;

    if (config_parse_number(text, &number) || !in_bounds(key, number))
        return -EINVAL;
    *(uint32_t *)field(key, base) = (uint32_t)number;
    return 0;
}

static void get_u32(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%" PRIu32, *(const uint32_t *)const_field(key, base));
}

static int set_u64(const struct config_key *key, void *base, const char *text)
{
    uint64_t number;

    if (config_parse_number(text, &number) || !in_bounds(key, number))
        return -EINVAL;
    *(uint64_t *)field(key, base) = number;
    return 0;
}

static void get_u64(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%" PRIu64, *(const uint64_t *)const_field(key, base));
}

static int set_bytes(const struct config_key *key, void *base, const char *text)
{
    uint64_t number;

    if (config_parse_bytes(text, &number) || !in_bounds(key, number))
        return -EINVAL;
    *(uint64_t *)field(key, base) = number;
    return 0;
}

static int set_duration(const struct config_key *key, void *base, const char *text)
{
    uint64_t number;

    if (config_parse_duration_ms(text, &number) || !in_bounds(key, number))
        return -EINVAL;
    *(uint64_t *)field(key, base) = number;
    return 0;
}

static void get_duration(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%" PRIu64 "ms", *(const uint64_t *)const_field(key, base));
}

static int set_nice(const struct config_key *key, void *base, const char *text)
{
    uint64_t number;
    bool negative = *text == '-';

    if (config_parse_number(text + negative, &number) || number > (negative ? 20 : 19))
        return -EINVAL;
    *(int *)field(key, base) = negative ? -(int)number : (int)number;
    return 0;
}

static void get_int(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%d", *(const int *)const_field(key, base));
}

static int set_yes_no(const struct config_key *key, void *base, const char *text)
{
    int yes = strcmp(text, "yes") == 0;

    if (!yes && strcmp(text, "no") != 0)
        return -EINVAL;
    *(int *)field(key, base) = yes;
    return 0;
}

static void get_yes_no(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s", *(const int *)const_field(key, base) ? "yes" : "no");
}

/* ---------------------------------------------------------------- lists; each call appends */

static void clear_paths(void *base)
{
    ((struct config *)base)->path_root_count = 0;
}

static void clear_uids(void *base)
{
    ((struct config *)base)->allow_uid_count = 0;
}

static void clear_devices(void *base)
{
    ((struct config *)base)->device_count = 0;
}

static void clear_priorities(void *base)
{
    ((struct config_lane *)base)->priorities = 0;
}

static int set_paths(const struct config_key *key, void *base, const char *text)
{
    struct config *config = base;
    char word[PATH_MAX];
    int more;

    (void)key;
    while ((more = config_next_word(&text, word, sizeof(word))) > 0) {
        if (*word != '/' || config->path_root_count == CONFIG_ROOTS_MAX)
            return -EINVAL;
        memcpy(config->path_roots[config->path_root_count++], word, sizeof(word));
    }
    return more;
}

static void get_paths(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    const struct config *config = base;

    (void)key;
    *out = '\0';
    for (uint32_t i = 0; i < config->path_root_count; i++)
        config_put_word(out, bytes, config->path_roots[i]);
}

static int set_uids(const struct config_key *key, void *base, const char *text)
{
    struct config *config = base;
    char word[16];
    uint64_t uid;
    int more;

    (void)key;
    while ((more = config_next_word(&text, word, sizeof(word))) > 0) {
        /* The highest value is no uid but (uid_t)-1. */
        if (config_parse_number(word, &uid) || uid >= UINT32_MAX ||
            config->allow_uid_count == CONFIG_UIDS_MAX)
            return -EINVAL;
        config->allow_uids[config->allow_uid_count++] = (uint32_t)uid;
    }
    return more;
}

static void get_uids(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    const struct config *config = base;
    char word[16];

    (void)key;
    *out = '\0';
    for (uint32_t i = 0; i < config->allow_uid_count; i++) {
        snprintf(word, sizeof(word), "%" PRIu32, config->allow_uids[i]);
        config_put_word(out, bytes, word);
    }
}

static bool is_device_name(const char *word)
{
    for (; *word; word++) {
        if (!isalnum((unsigned char)*word) && !strchr(":-_", *word))
            return false;
    }
    return true;
}

static bool is_auto(const char *word)
{
    return strcmp(word, "auto") == 0;
}

static int set_devices(const struct config_key *key, void *base, const char *text)
{
    struct config *config = base;
    char word[sizeof(config->devices[0])] = {0};
    int more;

    (void)key;
    while ((more = config_next_word(&text, word, sizeof(word))) > 0) {
        if (!is_device_name(word) || config->device_count == CONFIG_DEVICES_MAX ||
            (config->device_count && (is_auto(word) || is_auto(config->devices[0]))))
            return -EINVAL;
        memcpy(config->devices[config->device_count++], word, sizeof(word));
    }
    return more;
}

static void get_devices(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    const struct config *config = base;

    (void)key;
    *out = '\0';
    for (uint32_t i = 0; i < config->device_count; i++)
        config_put_word(out, bytes, config->devices[i]);
}

static int set_priorities(const struct config_key *key, void *base, const char *text)
{
    struct config_lane *lane = base;
    char word[16];
    int more;

    (void)key;
    while ((more = config_next_word(&text, word, sizeof(word))) > 0) {
        int priority = priority_parse(word);
        if (priority < 0)
            return -EINVAL;
        lane->priorities |= 1u << priority;
    }
    return more;
}

static void get_priorities(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    const struct config_lane *lane = base;

    (void)key;
    *out = '\0';
    for (int priority = 0; priority < PRIORITIES; priority++) {
        if (lane->priorities >> priority & 1)
            config_put_word(out, bytes, priority_name((enum priority)priority));
    }
}

/* ---------------------------------------------------------------- choices */

/* 0 stands for auto: no key of these kinds may be 0 otherwise. */
static int set_u32_auto(const struct config_key *key, void *base, const char *text)
{
    if (strcmp(text, "auto") != 0)
        return set_u32(key, base, text);
    *(uint32_t *)field(key, base) = 0;
    return 0;
}

static void get_u32_auto(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    if (*(const uint32_t *)const_field(key, base))
        get_u32(key, base, out, bytes);
    else
        snprintf(out, bytes, "auto");
}

static int set_bytes_auto(const struct config_key *key, void *base, const char *text)
{
    if (strcmp(text, "auto") != 0)
        return set_bytes(key, base, text);
    *(uint64_t *)field(key, base) = 0;
    return 0;
}

static void get_bytes_auto(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    if (*(const uint64_t *)const_field(key, base))
        get_u64(key, base, out, bytes);
    else
        snprintf(out, bytes, "auto");
}

/* Node N is kept as N + 1: auto is 0. */
static int set_numa(const struct config_key *key, void *base, const char *text)
{
    uint32_t *numa = field(key, base);
    uint64_t node;

    *numa = NUMA_AUTO;
    if (strcmp(text, "auto") == 0)
        return 0;
    if (config_parse_number(text, &node) || !in_bounds(key, node))
        return -EINVAL;
    *numa = (uint32_t)node + 1;
    return 0;
}

static void get_numa(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    uint32_t numa = *(const uint32_t *)const_field(key, base);

    if (numa == NUMA_AUTO)
        snprintf(out, bytes, "auto");
    else
        snprintf(out, bytes, "%" PRIu32, numa - 1);
}

static int set_rows(const struct config_key *key, void *base, const char *text)
{
    int device = strcmp(text, "device") == 0;

    if (!device && strcmp(text, "host") != 0)
        return -EINVAL;
    *(uint32_t *)field(key, base) = device ? ROWS_DEVICE : ROWS_HOST;
    return 0;
}

static void get_rows(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    uint32_t rows = *(const uint32_t *)const_field(key, base);

    snprintf(out, bytes, "%s", rows == ROWS_DEVICE ? "device" : "host");
}

static const char *const use_names[DEVICE_USES] = {"auto", "always", "fallback"};

static int set_use(const struct config_key *key, void *base, const char *text)
{
    for (uint32_t use = 0; use < DEVICE_USES; use++) {
        if (strcmp(text, use_names[use]) != 0)
            continue;
        *(uint32_t *)field(key, base) = use;
        return 0;
    }
    return -EINVAL;
}

static void get_use(const struct config_key *key, const void *base, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s", use_names[*(const uint32_t *)const_field(key, base)]);
}

#define KIND(name, wanted, set_, get_, clear_)                                                     \
    const struct config_kind config_kind_##name = {wanted, set_, get_, clear_}

KIND(text, "a shorter text", set_text, get_text, NULL);
KIND(path, "an absolute path that is short enough", set_path, get_text, NULL);
KIND(u32, "a whole number", set_u32, get_u32, NULL);
KIND(u64, "a whole number", set_u64, get_u64, NULL);
KIND(bytes, "a size such as 64M (K, M, G)", set_bytes, get_u64, NULL);
KIND(duration, "a duration such as 250ms, 20s or 5m", set_duration, get_duration, NULL);
KIND(nice, "a nice value, -20 to 19,", set_nice, get_int, NULL);
KIND(yes_no, "yes or no", set_yes_no, get_yes_no, NULL);
KIND(backing, "shm, memfd or hugetlbfs", set_backing, get_text, NULL);
KIND(store, "sqlite or memory", set_store, get_text, NULL);
KIND(fixed, "the default", set_fixed, get_fixed, NULL);
KIND(cpus, "a list of CPUs such as 0-3,8", set_cpus, get_text, NULL);
KIND(paths, "a list of at most 16 absolute paths", set_paths, get_paths, clear_paths);
KIND(uids, "a list of at most 32 user numbers", set_uids, get_uids, clear_uids);
KIND(devices, "auto, or a list of at most 16 devices (cpu, cuda:N, a UUID)", set_devices,
     get_devices, clear_devices);
KIND(u32_auto, "auto or a whole number", set_u32_auto, get_u32_auto, NULL);
KIND(bytes_auto, "auto or a size such as 64M (K, M, G)", set_bytes_auto, get_bytes_auto, NULL);
KIND(numa, "auto or a node's number", set_numa, get_numa, NULL);
KIND(priorities, "a list of low, normal, high, critical", set_priorities, get_priorities,
     clear_priorities);
KIND(rows, "host or device", set_rows, get_rows, NULL);
KIND(use, "auto, always or fallback", set_use, get_use, NULL);
