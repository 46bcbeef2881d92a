/*
 * Names that were given; see the header. Called by input_json.c. A SIGKILL leaves nothing.
 */
#include "synth-worker/input_keys.h"

#include <errno.h>
#include <stdlib.h>

void input_name_add(struct input_name *name, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        name->a = (name->a ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
        name->b =
            (name->b ^ (name->b >> 29) ^ (unsigned char)text[i]) * UINT64_C(0xbf58476d1ce4e5b9);
    }
}

static int is_free(const struct input_name *slot)
{
    return !slot->a && !slot->b;
}

static struct input_name *find(const struct input_keys *keys, const struct input_name *name)
{
    size_t at = (size_t)(name->a ^ (name->b >> 17)) & (keys->room - 1);
    while (!is_free(&keys->slots[at]) &&
           (keys->slots[at].a != name->a || keys->slots[at].b != name->b))
        at = (at + 1) & (keys->room - 1);
    return &keys->slots[at];
}

static int grow(struct input_keys *keys)
{
    struct input_keys more = {.room = keys->room ? 2 * keys->room : 64, .count = keys->count};
    more.slots = calloc(more.room, sizeof *more.slots);
    if (!more.slots)
        return -ENOMEM;
    for (size_t i = 0; i < keys->room; i++)
        if (!is_free(&keys->slots[i]))
            *find(&more, &keys->slots[i]) = keys->slots[i];
    free(keys->slots);
    *keys = more;
    return 0;
}

int input_keys_add(struct input_keys *keys, const struct input_name *name)
{
    if (2 * keys->count >= keys->room && keys->count < INPUT_KEYS_MAX) {
        int status = grow(keys);
        if (status)
            return status;
    }
    struct input_name *slot = find(keys, name);
    if (!is_free(slot))
        return -EEXIST;
    if (keys->count == INPUT_KEYS_MAX)
        return -E2BIG;
    *slot = *name;
    keys->count++;
    return 0;
}

void input_keys_free(struct input_keys *keys)
{
    free(keys->slots);
    *keys = (struct input_keys){0};
}
