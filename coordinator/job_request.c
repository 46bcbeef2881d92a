/*
 * Requests for jobs; see the header. Pure. Called by http_jobs.c. What a client sends is hostile:
 * every value's kind and bounds are checked here, and a field that is not known is refused, so that
 * a misspelt one does not vanish.
 */
#include "coordinator/job_request.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/circuit_names.h"

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

static int refuse_key(struct job_request *request, const json_t *value,
                      struct job_request_error *error)
{
    (void)request, (void)value;
    return fail(error, 422, "idempotency_key", "is not in this version: leave it out");
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

static int parse_source(struct job_request_partition *partition, const char *key,
                        const json_t *value, const char *field, struct job_request_error *error)
{
    const char *text = json_string_value(value);
    if (strcmp(key, "path") == 0)
        return fail(error, 422, field,
                    "path is not in this version and path_roots cannot allow it: upload the file");
    if (strcmp(key, "input") == 0)
        return fail(
            error, 422, field,
            "input needs a witness program, which is not in this version: upload a witness");
    if (strcmp(key, "upload") == 0)
        return text && job_id_parse(text, &partition->upload) == 0
                   ? 0
                   : fail(error, 422, field, "upload must be what POST /v1/uploads answered");
    if (strcmp(key, "name") != 0)
        return fail(error, 422, field, "unknown field %.32s", key);
    if (!text || check_label(text))
        return fail(error, 422, field, "name must be a text of 1 to %d bytes without controls",
                    WIRE_LABEL_BYTES - 1);
    snprintf(partition->label, sizeof(partition->label), "%s", text);
    return 0;
}

static int parse_partition(struct job_request_partition *partition, const json_t *value,
                           uint32_t index, struct job_request_error *error)
{
    char field[64];
    const char *key;
    json_t *source;
    snprintf(field, sizeof(field), "partitions[%u]", index);
    if (!json_is_object(value))
        return fail(error, 422, field, "must be an object");
    snprintf(partition->label, sizeof(partition->label), "witness %u", index);
    json_object_foreach((json_t *)(uintptr_t)value, key, source)
    {
        int failed = parse_source(partition, key, source, field, error);
        if (failed)
            return failed;
    }
    return json_object_get(value, "upload") ? 0 : fail(error, 422, field, "has no upload");
}

static int parse_partitions(struct job_request *request, const json_t *value,
                            struct job_request_error *error)
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
        int failed = parse_partition(&request->partitions[i], json_array_get(value, i), i, error);
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
              {"idempotency_key", refuse_key},
              {"partitions", parse_partitions}};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static int parse_one(struct job_request *request, const char *key, const json_t *value,
                     struct job_request_error *error)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, key) == 0)
            return fields[i].parse(request, value, error);
    char field[64];
    snprintf(field, sizeof(field), "%.63s", key);
    return fail(error, 422, field, "is no field of a job");
}

static int parse_root(struct job_request *request, json_t *root, struct job_request_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        return fail(error, 400, "", "the body must be a JSON object");
    json_object_foreach(root, key, value)
    {
        int failed = parse_one(request, key, value, error);
        if (failed)
            return failed;
    }
    if (!request->circuit[0])
        return fail(error, 422, "circuit", "is missing");
    return request->partition_count ? 0 : fail(error, 422, "partitions", "is missing");
}

int job_request_parse(struct job_request *request, const char *text, size_t bytes,
                      struct job_request_error *error)
{
    json_error_t where;
    *request = (struct job_request){.priority = PRIORITY_NORMAL};
    json_t *root = json_loadb(text ? text : "", bytes, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return fail(error, 400, "", "the body is no JSON: %s at byte %d", where.text,
                    where.position);
    int failed = parse_root(request, root, error);
    json_decref(root);
    if (failed)
        job_request_free(request);
    return failed;
}

void job_request_free(struct job_request *request)
{
    free(request->partitions);
    request->partitions = NULL;
    request->partition_count = 0;
}
