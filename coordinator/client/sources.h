/*
 * A job's files, handed to the service: by their paths, and where it does not take those, as
 * uploads.
 *
 * The rule: what is a regular file is named by its path first. Where the service refuses the path
 * of any (422 that blames partitions[N].path), all of them are uploaded. What is no regular file
 * can only be uploaded, and a job with such a one is uploaded as a whole.
 */
#ifndef PAWL_CLIENT_SOURCES_H
#define PAWL_CLIENT_SOURCES_H

#include <jansson.h>

#include "coordinator/client/job.h"

struct service;

struct sources {
    char *const *paths; /* one for each partition */
    int count;
    int fd; /* of paths[0], open already, or -1 */
};

/*
 * Posts the job that body (borrowed) says all of but its partitions. by_path: 0 where the service
 * is known to take no paths. 0 with the id, else an exit code having said why; then uploads that
 * nobody will use are taken back.
 */
int sources_post(struct service *service, const struct sources *sources, json_t *body, int by_path,
                 char id[JOB_ID_BYTES]);

#endif
