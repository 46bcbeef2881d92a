/*
 * The bracket scanner; see the header. Called by job_request.c. What it reads is hostile.
 */
#include "coordinator/json_cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Brackets that are open, as bits: 1 an array, 0 an object; the innermost is bit 0. */
struct brackets {
    uint64_t kinds;
    unsigned depth;
};
_Static_assert(JSON_CUT_DEPTH_MAX <= 64, "a bit for each open bracket");

struct scan {
    struct json_cuts *out;
    const char *text;
    size_t at, bytes;
    struct brackets open;
    size_t string_at, string_bytes; /* the last string, without its quotes */
    int has_name;                   /* ... is the name of the value that comes */
    int in_partitions;
    uint32_t element;
    uint32_t most;
};

/* ---- brackets and strings ---- */

static int open_bracket(struct brackets *brackets, char c)
{
    if (brackets->depth >= JSON_CUT_DEPTH_MAX)
        return -E2BIG;
    brackets->kinds = brackets->kinds << 1 | (c == '[');
    brackets->depth++;
    return 0;
}

static int close_bracket(struct brackets *brackets, char c)
{
    if (brackets->depth == 0 || (brackets->kinds & 1) != (c == ']'))
        return -EINVAL;
    brackets->kinds >>= 1;
    brackets->depth--;
    return 0;
}

/* From the opening quote to behind the closing one. */
static int skip_string(struct scan *scan)
{
    size_t at = scan->at + 1;
    while (at < scan->bytes && scan->text[at] != '"')
        at += scan->text[at] == '\\' ? 2 : 1;
    if (at >= scan->bytes)
        return -EINVAL;
    scan->string_at = scan->at + 1;
    scan->string_bytes = at - scan->string_at;
    scan->at = at + 1;
    return 0;
}

/* From an opening bracket to behind the one that closes it. */
static int skip_value(struct scan *scan)
{
    unsigned outside = scan->open.depth;
    do {
        char c = scan->at < scan->bytes ? scan->text[scan->at] : '\0';
        int error = 0;
        if (scan->at >= scan->bytes)
            return -EINVAL;
        if (c == '"')
            error = skip_string(scan);
        else if (c == '{' || c == '[')
            error = open_bracket(&scan->open, c);
        else if (c == '}' || c == ']')
            error = close_bracket(&scan->open, c);
        if (error)
            return error;
        scan->at += c != '"';
    } while (scan->open.depth > outside);
    return 0;
}

/* ---- the document ---- */

static int is_named(const struct scan *scan, const char *name)
{
    return scan->has_name && scan->string_bytes == strlen(name) &&
           memcmp(scan->text + scan->string_at, name, scan->string_bytes) == 0;
}

static int add_cut(struct scan *scan, size_t offset)
{
    struct json_cuts *out = scan->out;
    if (out->count >= scan->most)
        return -E2BIG;
    if (out->count == out->room) {
        uint32_t room = out->room ? 2 * out->room : 16;
        struct json_cut *more = realloc(out->cuts, room * sizeof(*more));
        if (!more)
            return -ENOMEM;
        out->cuts = more;
        out->room = room;
    }
    out->cuts[out->count++] = (struct json_cut){scan->element, offset, scan->at - offset};
    return 0;
}

static int take_open(struct scan *scan, char c)
{
    const struct brackets *open = &scan->open;
    /* {"partitions": [{"input": {  - the element's kind and the array's are known by then */
    if (scan->in_partitions && open->depth == 3 && !(open->kinds & 1) && c == '{' &&
        is_named(scan, "input")) {
        size_t offset = scan->at;
        int error = skip_value(scan);
        scan->has_name = 0;
        return error ? error : add_cut(scan, offset);
    }
    if (open->depth == 1 && !(open->kinds & 1) && c == '[' && is_named(scan, "partitions")) {
        scan->in_partitions = 1;
        scan->element = 0;
    }
    scan->has_name = 0;
    scan->at++;
    return open_bracket(&scan->open, c);
}

static int take_close(struct scan *scan, char c)
{
    int error = close_bracket(&scan->open, c);
    scan->has_name = 0;
    scan->at++;
    if (scan->open.depth <= 1)
        scan->in_partitions = 0;
    return error;
}

static int take_next(struct scan *scan)
{
    char c = scan->text[scan->at];
    if (c == '"') {
        scan->has_name = 0;
        return skip_string(scan);
    }
    if (c == '{' || c == '[')
        return take_open(scan, c);
    if (c == '}' || c == ']')
        return take_close(scan, c);
    if (c == ':')
        scan->has_name = 1;
    if (c == ',') {
        scan->has_name = 0;
        scan->element += scan->in_partitions && scan->open.depth == 2;
    }
    scan->at++;
    return 0;
}

int json_cut_find(struct json_cuts *out, const char *text, size_t bytes, uint32_t most)
{
    struct scan scan = {.out = out, .text = text, .bytes = bytes, .most = most};
    int error = 0;
    *out = (struct json_cuts){0};
    while (!error && scan.at < bytes)
        error = take_next(&scan);
    if (!error && scan.open.depth)
        error = -EINVAL;
    if (error)
        json_cuts_free(out);
    return error;
}

void json_cut_blank(const struct json_cuts *cuts, char *text)
{
    for (uint32_t i = 0; i < cuts->count; i++) {
        const struct json_cut *cut = &cuts->cuts[i];
        memset(text + cut->offset, ' ', cut->length);
        text[cut->offset] = '0';
    }
}

const struct json_cut *json_cut_of(const struct json_cuts *cuts, uint32_t partition)
{
    for (uint32_t low = 0, high = cuts->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (cuts->cuts[middle].partition == partition)
            return &cuts->cuts[middle];
        if (cuts->cuts[middle].partition < partition)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void json_cuts_free(struct json_cuts *cuts)
{
    free(cuts->cuts);
    *cuts = (struct json_cuts){0};
}
