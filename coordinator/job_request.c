/*
 * Requests for jobs; see the header. Pure. Called by http_post_job.c. What a client sends is
 * hostile: every value's kind and bounds are checked here, and a field that is not known is
 * refused, so that a misspelt one does not vanish.
 */
#include "coordinator/job_request.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuit_names.h"
#include "coordinator/json_cut.h"

#define DEADLINE_S_MAX 31536000.0

static int fail(struct job_request_error *error, int status, const char *field, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

static int fail(struct job_request_error *error, int status, const char *field, const char *format,
                ...)
{
    va_list arguments;
    error->status = status;
    snprintf(error->field, sizeof(error->field), "%s", field);
    va_start(arguments, format);
    vsnprintf(error->detail, sizeof(error->detail), format, arguments);
    va_end(arguments);
    return -EINVAL;
}

int job_id_parse(const char *text, uint64_t *id)
{
    uint64_t value = 0;
    for (int i = 0; i < 16; i++) {
        char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return -EINVAL;
        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *id = value;
    return text[16] ? -EINVAL : 0;
}

/* ---- fields of the job ---- */

typedef int parse_field(struct job_request *request, const json_t *value,
                        struct job_request_error *error);

static int parse_circuit(struct job_request *request, const json_t *value,
                         struct job_request_error *error)
{
    const char *text = json_string_value(value);
    if (!text || !circuit_name_is_valid(text))
        return fail(error, 422, "circuit", "must be the name of a circuit");
    snprintf(request->circuit, sizeof(request->circuit), "%s", text);
    return 0;
}

static int parse_priority(struct job_request *request, const json_t *value,
                          struct job_request_error *error)
{
    const char *text = json_string_value(value);
    int priority = text ? priority_parse(text) : -EINVAL;
    if (priority < 0)
        return fail(error, 422, "priority", "must be low, normal, high or critical");
    request->priority = (enum priority)priority;
    return 0;
}

static int parse_lane(struct job_request *request, const json_t *value,
                      struct job_request_error *error)
{
    const char *text = json_string_value(value);
    if (!text || !text[0] || strlen(text) >= sizeof(request->lane))
        return fail(error, 422, "lane", "must be the name of a lane");
    snprintf(request->lane, sizeof(request->lane), "%s", text);
    return 0;
}

static int parse_deadline(struct job_request *request, const json_t *value,
                          struct job_request_error *error)
{
    double seconds = json_number_value(value);
    if (!json_is_number(value) || !(seconds > 0) || seconds > DEADLINE_S_MAX)
        return fail(error, 422, "deadline_s",
                    "must be a number of seconds, above 0 and at most %.0f", DEADLINE_S_MAX);
    request->deadline_s = seconds;
    return 0;
}

static int parse_key(struct job_request *request, const json_t *value,
                     struct job_request_error *error)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    int legal = text && length > 0 && length < JOB_KEY_BYTES;
    for (size_t i = 0; legal && i < length; i++)
        legal = text[i] >= 0x20 && text[i] < 0x7f;
    if (!legal)
        return fail(error, 422, "idempotency_key",
                    "must be a text of 1 to %u printable ASCII bytes", JOB_KEY_BYTES - 1);
    memcpy(request->key, text, length + 1);
    return 0;
}

/* ---- partitions ---- */

static int check_label(const char *label)
{
    size_t length = strlen(label);
    if (length == 0 || length >= WIRE_LABEL_BYTES)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)label[i] < 0x20 || label[i] == 0x7f)
            return -EINVAL;
    return 0;
}

static const char *const source_names[] = {
    [SOURCE_UPLOAD] = "upload", [SOURCE_PATH] = "path", [SOURCE_INPUT] = "input"};
#define SOURCES (sizeof(source_names) / sizeof(source_names[0]))

void job_request_field(char field[JOB_FIELD_BYTES], uint32_t index, enum job_source source)
{
    const char *name = source_names[source];
    snprintf(field, JOB_FIELD_BYTES, "partitions[%u]%s%s", index, name ? "." : "",
             name ? name : "");
}

/* SOURCE_NONE where the key names no source. */
static enum job_source find_source(const char *key)
{
    for (size_t i = SOURCE_UPLOAD; i < SOURCES; i++)
        if (strcmp(source_names[i], key) == 0)
            return (enum job_source)i;
    return SOURCE_NONE;
}

/* A partition in the making. */
struct parsing {
    struct job_request *request;
    struct job_request_partition *partition;
    const struct json_cuts *cuts;
    uint32_t index;
    struct job_request_error *error;
};

static int parse_path(struct parsing *this, const json_t *value, const char *field)
{
    const char *path = json_string_value(value);
    size_t length = json_string_length(value);
    if (!path || path[0] != '/' || length >= PATH_MAX || strlen(path) != length)
        return fail(this->error, 422, field, "must be an absolute path");
    this->partition->path = strdup(path);
    return this->partition->path ? 0 : fail(this->error, 503, "", "no memory");
}

static int parse_input(struct parsing *this, const char *field)
{
    const struct json_cut *cut = json_cut_of(this->cuts, this->index);
    if (!cut)
        return fail(this->error, 422, field,
                    "must be an object, and its name be written as \"input\", without escapes");
    this->partition->input = this->request->body + cut->offset;
    this->partition->input_bytes = cut->length;
    return 0;
}

static int parse_source(struct parsing *this, enum job_source source, const json_t *value)
{
    char field[JOB_FIELD_BYTES];
    struct job_request_partition *partition = this->partition;
    const char *text = json_string_value(value);
    job_request_field(field, this->index, source);
    if (partition->source)
        return fail(this->error, 422, field, "a partition has one of upload, path and input");
    partition->source = source;
    if (source == SOURCE_PATH)
        return parse_path(this, value, field);
    if (source == SOURCE_INPUT)
        return parse_input(this, field);
    return text && job_id_parse(text, &partition->upload) == 0
               ? 0
               : fail(this->error, 422, field, "must be what POST /v1/uploads answered");
}

static int parse_member(struct parsing *this, const char *key, const json_t *value)
{
    char field[JOB_FIELD_BYTES];
    const char *text = json_string_value(value);
    enum job_source source = find_source(key);
    if (source)
        return parse_source(this, source, value);
    snprintf(field, sizeof(field), "partitions[%u].%.32s", this->index, key);
    if (strcmp(key, "name") != 0)
        return fail(this->error, 422, field, "is no field of a partition");
    if (!text || check_label(text))
        return fail(this->error, 422, field, "must be a text of 1 to %d bytes without controls",
                    WIRE_LABEL_BYTES - 1);
    snprintf(this->partition->label, sizeof(this->partition->label), "%s", text);
    return 0;
}

/* A path's end says more than its beginning. */
static void name_partition(struct job_request_partition *partition, uint32_t index)
{
    char *label = partition->label;
    size_t room = sizeof(partition->label);
    if (partition->source != SOURCE_PATH) {
        snprintf(label, room, "%s %u", partition->source == SOURCE_INPUT ? "input" : "witness",
                 index);
        return;
    }
    size_t length = strlen(partition->path);
    snprintf(label, room, "%s", partition->path + (length < room ? 0 : length - room + 1));
    for (; *label; label++)
        if ((unsigned char)*label < 0x20 || *label == 0x7f)
            *label = '?';
}

static int parse_partition(struct parsing *this, const json_t *value)
{
    char field[JOB_FIELD_BYTES];
    const char *key;
    json_t *member;
    job_request_field(field, this->index, SOURCE_NONE);
    if (!json_is_object(value))
        return fail(this->error, 422, field, "must be an object");
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        int failed = parse_member(this, key, member);
        if (failed)
            return failed;
    }
    if (!this->partition->source)
        return fail(this->error, 422, field, "has no upload, path or input");
    if (!this->partition->label[0])
        name_partition(this->partition, this->index);
    return 0;
}

static int parse_partitions(struct job_request *request, const json_t *value,
                            const struct json_cuts *cuts, struct job_request_error *error)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count == 0 || count > JOB_PARTITIONS_MAX)
        return fail(error, 422, "partitions", "must be an array of 1 to %u partitions",
                    JOB_PARTITIONS_MAX);
    request->partitions = calloc(count, sizeof(*request->partitions));
    if (!request->partitions)
        return fail(error, 503, "", "no memory");
    request->partition_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        struct parsing parsing = {request, &request->partitions[i], cuts, i, error};
        int failed = parse_partition(&parsing, json_array_get(value, i));
        if (failed)
            return failed;
    }
    return 0;
}

/* ---- the whole ---- */

static const struct {
    const char *name;
    parse_field *parse;
} fields[] = {{"circuit", parse_circuit},
              {"priority", parse_priority},
              {"lane", parse_lane},
              {"deadline_s", parse_deadline},
              {"idempotency_key", parse_key}};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static int parse_one(struct job_request *request, const char *key, const json_t *value,
                     const struct json_cuts *cuts, struct job_request_error *error)
{
    char field[JOB_FIELD_BYTES];
    if (strcmp(key, "partitions") == 0)
        return parse_partitions(request, value, cuts, error);
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, key) == 0)
            return fields[i].parse(request, value, error);
    snprintf(field, sizeof(field), "%.63s", key);
    return fail(error, 422, field, "is no field of a job");
}

static int parse_root(struct job_request *request, json_t *root, const struct json_cuts *cuts,
                      struct job_request_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return fail(error, 400, "", "the body must be a JSON object");
    json_object_foreach(root, key, value)
    {
        int failed = parse_one(request, key, value, cuts, error);
        if (failed)
            return failed;
    }
    if (!request->circuit[0])
        return fail(error, 422, "circuit", "is missing");
    return request->partition_count ? 0 : fail(error, 422, "partitions", "is missing");
}

/* The envelope alone is decoded: at each cut there is a number. */
static int parse_envelope(struct job_request *request, const char *text, size_t bytes,
                          const struct json_cuts *cuts, struct job_request_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return fail(error, 400, "", "the body is no JSON: %s at byte %d", where.text,
                    where.position);
    int failed = parse_root(request, root, cuts, error);
    json_decref(root);
    return failed;
}

static int fail_scan(int reason, struct job_request_error *error)
{
    if (reason == -ENOMEM)
        return fail(error, 503, "", "no memory");
    if (reason == -E2BIG)
        return fail(error, 400, "", "the body nests deeper than %u brackets, or has over %u inputs",
                    JSON_CUT_DEPTH_MAX, JOB_PARTITIONS_MAX);
    return fail(error, 400, "", "the body is no JSON: its brackets do not match");
}

/* The body is kept for the inputs in it, and another copy decoded without them. */
static int parse_with_inputs(struct job_request *request, const char *text, size_t bytes,
                             const struct json_cuts *cuts, struct job_request_error *error)
{
    char *envelope = malloc(bytes);
    request->body = malloc(bytes);
    if (!envelope || !request->body) {
        free(envelope);
        return fail(error, 503, "", "no memory");
    }
    memcpy(request->body, text, bytes);
    memcpy(envelope, text, bytes);
    json_cut_blank(cuts, envelope);
    int failed = parse_envelope(request, envelope, bytes, cuts, error);
    free(envelope);
    return failed;
}

int job_request_parse(struct job_request *request, const char *text, size_t bytes,
                      struct job_request_error *error)
{
    struct json_cuts cuts;
    *request = (struct job_request){.priority = PRIORITY_NORMAL};
    text = text ? text : "";
    int failed = json_cut_find(&cuts, text, bytes, JOB_PARTITIONS_MAX);
    if (failed)
        return fail_scan(failed, error);
    if (cuts.count)
        failed = parse_with_inputs(request, text, bytes, &cuts, error);
    else
        failed = parse_envelope(request, text, bytes, &cuts, error);
    json_cuts_free(&cuts);
    if (failed)
        job_request_free(request);
    return failed;
}

void job_request_free(struct job_request *request)
{
    for (uint32_t i = 0; i < request->partition_count; i++)
        free(request->partitions[i].path);
    free(request->partitions);
    free(request->body);
    *request = (struct job_request){0};
}
