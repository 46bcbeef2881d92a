/*
 * The body of POST /v1/jobs, decoded and checked for form; what it names is looked up later.
 */
#ifndef PAWL_COORDINATOR_JOB_REQUEST_H
#define PAWL_COORDINATOR_JOB_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/store.h"

#define JOB_PARTITIONS_MAX 4096u

struct job_request_partition {
    uint64_t upload;
    char label[WIRE_LABEL_BYTES];
};

struct job_request {
    char circuit[STORE_NAME_BYTES];
    char lane[LANE_NAME_BYTES]; /* "": not named */
    enum priority priority;
    double deadline_s; /* 0: none */
    uint32_t partition_count;
    struct job_request_partition *partitions; /* job_request_free */
};

/* What is wrong with a request: HTTP status, field, text. */
struct job_request_error {
    int status;
    char field[64]; /* "" where it is no field's */
    char detail[512];
};

/* 0, or -EINVAL with the error filled. */
int job_request_parse(struct job_request *request, const char *text, size_t bytes,
                      struct job_request_error *error);
void job_request_free(struct job_request *request);

/* 16 lower-case hex digits. 0 or -EINVAL. */
int job_id_parse(const char *text, uint64_t *id);

#endif
