/*
 * `pawl job --json` and the entries of the list of jobs.
 */
#ifndef PAWL_COORDINATOR_JSON_JOB_H
#define PAWL_COORDINATOR_JSON_JOB_H

#include <stdint.h>

struct json_writer;
struct store_job;

/* position: as store->position gives it; 0: null. Proofs go in as they are: result_read checked
 * them. */
void json_job(struct json_writer *json, const struct store_job *job, uint64_t position);
/* The same without the partitions, but with their number and the order. */
void json_job_summary(struct json_writer *json, const struct store_job *job);

#endif
