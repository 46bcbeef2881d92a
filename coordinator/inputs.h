/*
 * The inputs of a job on their way into the spool. Uploads are there already; inline inputs are
 * written, and files named by path are copied, hashed and synced, slice by slice on the disk
 * thread, each counted in queued_bytes before its first byte is copied. When all of them are
 * durable, with their names, the job can be given to the store.
 */
#ifndef PAWL_COORDINATOR_INPUTS_H
#define PAWL_COORDINATOR_INPUTS_H

#include <stdint.h>

#include "coordinator/disk_thread.h"
#include "coordinator/job_request.h"

struct input;
struct service;
struct store_spec_partition;

struct inputs {
    struct disk_work work; /* first: they are their work */
    struct service *service;
    struct job_request request;
    struct input *inputs; /* one for each partition */
    uint32_t at;          /* what is being copied */
    uint64_t reserved;    /* of queued_bytes */
    int error;            /* of the disk thread's last step */
    void (*ready)(void *arg, struct inputs *inputs, const struct job_request_error *problem);
    void *arg;
};

/*
 * Begins, and takes the request over. ready is called on the loop, once, later or, for what is
 * known at once, during the call: problem NULL where all inputs are in the spool, else why not
 * (status 503: try later). Whoever is called frees them.
 */
void inputs_start(struct service *service, struct job_request *request,
                  void (*ready)(void *arg, struct inputs *inputs,
                                const struct job_request_error *problem),
                  void *arg);
/* Whether a partition's bytes are a witness program's input. After ready without a problem. */
int inputs_is_json(const struct inputs *inputs, uint32_t partition);
/* Fills what the store needs of each partition; files and fds are the store's from now on. */
void inputs_hand_over(struct inputs *inputs, struct store_spec_partition *partitions);
/* Removes what was not handed over; uploads can be used again. Not while the disk thread is at it:
 * that is, after ready. */
void inputs_free(struct inputs *inputs);

#endif
