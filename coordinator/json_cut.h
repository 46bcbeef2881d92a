/*
 * Cuts the inline inputs out of a job's body before it is decoded: the object at `input` of each
 * element of the array `partitions` is found by its brackets alone, and nothing in it is decoded.
 * Pure. The scan looks at each byte once and goes no deeper than JSON_CUT_DEPTH_MAX.
 *
 * Whether the rest is JSON is for its decoder to say. A name that is written with escapes is not
 * seen, so its object is still there afterwards, where the decoder's caller must refuse it.
 */
#ifndef PAWL_COORDINATOR_JSON_CUT_H
#define PAWL_COORDINATOR_JSON_CUT_H

#include <stddef.h>
#include <stdint.h>

#define JSON_CUT_DEPTH_MAX 64u

struct json_cut {
    uint32_t partition;    /* index in the array */
    size_t offset, length; /* in the body, brackets included */
};

struct json_cuts {
    uint32_t count, room;
    struct json_cut *cuts; /* in the body's order; json_cuts_free */
};

/* At most `most` cuts. 0; -EINVAL: the brackets do not match; -E2BIG: too deep or too many;
 * -ENOMEM. */
int json_cut_find(struct json_cuts *out, const char *text, size_t bytes, uint32_t most);
/* Puts the number 0 and blanks in the place of each cut. text: as it was given to json_cut_find. */
void json_cut_blank(const struct json_cuts *cuts, char *text);
/* The cut of that partition, or NULL. */
const struct json_cut *json_cut_of(const struct json_cuts *cuts, uint32_t partition);
void json_cuts_free(struct json_cuts *cuts);

#endif
