/*
 * What the files of the configuration share.
 *
 *   config.c         the whole: defaults, checks over several keys, places
 *   config_read.c    reading a file: lines, sections, keys, duplicates
 *   config_get.c     values as text again
 *   config_keys.c    the table of all keys: default, kind, bounds
 *   config_kinds.c   one kind of value each: text to field, field to text
 *   config_parse.c   numbers, sizes, durations, words of lists
 *   config_nearest.c the key that was meant
 *   config_device.c  what is known of single devices
 */
#ifndef PAWL_COORDINATOR_CONFIG_INTERNAL_H
#define PAWL_COORDINATOR_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/config.h"

struct config_key;

/* A kind of value. `base` is the struct config, or the struct config_lane of a lane's key. */
struct config_kind {
    const char *wants; /* for errors: "... is wanted" */
    /* 0, -EINVAL, or -ENOTSUP for what this version does not have. */
    int (*set)(const struct config_key *key, void *base, const char *text);
    void (*get)(const struct config_key *key, const void *base, char *out, size_t bytes);
    void (*clear)(void *base); /* lists: empties it; `set` appends. NULL: no list */
};

struct config_key {
    const char *section; /* its first word: "lane" for [lane NAME] */
    const char *name;
    const struct config_kind *kind;
    const char *fallback; /* the default, as it would stand in the file; "": none */
    size_t offset;        /* of the field in base */
    uint64_t low, high;   /* bounds of numbers, sizes and durations; room of texts */
    bool restart;         /* a change needs a restart */
};

extern const struct config_key config_keys[];
extern const size_t config_key_count;

/* Reads the file over what `config` holds. 0, or -errno with one line in error. */
int config_read_file(struct config *config, const char *path, char *error, size_t error_bytes);

/* The entry of [device NAME], with its defaults where it is new. NULL: there are too many. */
struct config_device *config_device_enter(struct config *config, const char *name);

/* The key, or NULL. */
const struct config_key *config_key_find(const char *section, const char *name);
/* Sets every key of the section kind to its default. */
void config_set_defaults(const char *section, void *base);

extern const struct config_kind config_kind_text, config_kind_path, config_kind_u32,
    config_kind_u64, config_kind_bytes, config_kind_duration, config_kind_nice, config_kind_yes_no,
    config_kind_backing, config_kind_store, config_kind_fixed, config_kind_cpus, config_kind_paths,
    config_kind_uids, config_kind_devices, config_kind_u32_auto, config_kind_bytes_auto,
    config_kind_numa, config_kind_priorities, config_kind_rows, config_kind_use;

/* A whole number, nothing else. 0 or -EINVAL. */
int config_parse_number(const char *text, uint64_t *number);
/*
 * Copies the next word of a list to word[bytes] and moves *text behind it. 1; 0 at the end;
 * -EINVAL for a word that does not fit.
 */
int config_next_word(const char **text, char *word, size_t bytes);
/* Appends to a NUL-terminated list in out[bytes], after a space unless it is the first. */
void config_put_word(char *out, size_t bytes, const char *word);

/* Of the names given by each(arg, i) (NULL: the end), the one nearest to text, or NULL where none
 * is near. */
const char *config_nearest(const char *text, const char *(*each)(void *arg, size_t i), void *arg);

#endif
