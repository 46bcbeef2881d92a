/*
 * The names of signals that an input has given so far, by a 128-bit hash of each: a name that comes
 * twice is found, however it is nested. Who makes two names collide has only his own input refused.
 */
#ifndef PAWL_SYNTH_WORKER_INPUT_KEYS_H
#define PAWL_SYNTH_WORKER_INPUT_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* Of a name's bytes up to some point; grows with it. */
struct input_name {
    uint64_t a, b;
};
#define INPUT_NAME_EMPTY ((struct input_name){UINT64_C(0xcbf29ce484222325), 0x5851f42d4c957f2d})
void input_name_add(struct input_name *name, const char *text, size_t bytes);

#define INPUT_KEYS_MAX (1u << 22) /* so they take 128 MiB, and 192 while the table grows */

struct input_keys {
    struct input_name *slots; /* {0, 0}: free */
    size_t room, count;
};
/* 0; -EEXIST: it was there; -E2BIG: it would be one more than INPUT_KEYS_MAX; -ENOMEM. */
int input_keys_add(struct input_keys *keys, const struct input_name *name);
void input_keys_free(struct input_keys *keys);

#endif
