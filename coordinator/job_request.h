/*
 * The body of POST /v1/jobs, checked for form; what it names is looked up later. Inline inputs are
 * cut out before the rest is decoded (json_cut.h).
 */
#ifndef PAWL_COORDINATOR_JOB_REQUEST_H
#define PAWL_COORDINATOR_JOB_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/store.h"

#define JOB_PARTITIONS_MAX 4096u

#define JOB_KEY_BYTES 129 /* of an idempotency key, with its end */
#define JOB_FIELD_BYTES 64

enum job_source { SOURCE_NONE, SOURCE_UPLOAD, SOURCE_PATH, SOURCE_INPUT };

struct job_request_partition {
    enum job_source source;
    uint64_t upload;
    char *path;        /* absolute */
    const char *input; /* the object as it was written, of the request's body; not looked into */
    size_t input_bytes;
    char label[WIRE_LABEL_BYTES];
};

struct job_request {
    char circuit[STORE_NAME_BYTES];
    char lane[LANE_NAME_BYTES]; /* "": not named */
    enum priority priority;
    double deadline_s;       /* 0: none */
    char key[JOB_KEY_BYTES]; /* idempotency; "": none */
    uint32_t partition_count;
    struct job_request_partition *partitions; /* job_request_free */
    char *body;                               /* NULL where there are no inputs */
};

/* What is wrong with a request: HTTP status, field, text. */
struct job_request_error {
    int status;
    char field[JOB_FIELD_BYTES]; /* "" where it is no field's */
    char detail[512];
};

/* Copies what it keeps. 0, or -EINVAL with the error filled. */
int job_request_parse(struct job_request *request, const char *text, size_t bytes,
                      struct job_request_error *error);
void job_request_free(struct job_request *request);

/* "partitions[3].path": the field of that source. */
void job_request_field(char field[JOB_FIELD_BYTES], uint32_t index, enum job_source source);
/* 16 lower-case hex digits. 0 or -EINVAL. */
int job_id_parse(const char *text, uint64_t *id);

#endif
