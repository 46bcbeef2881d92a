/*
 * Jobs as commands see them: posted, waited for, judged, written out.
 */
#ifndef PAWL_CLIENT_JOB_H
#define PAWL_CLIENT_JOB_H

#include <jansson.h>

struct http_answer;
struct service;

#define JOB_ID_BYTES 64

/* The id of an answer to POST /v1/jobs (borrowed). 0, else an exit code having said why. */
int job_accepted(const struct http_answer *answer, char id[JOB_ID_BYTES]);
/* Posts the body (borrowed). 0 with the id, else an exit code having said why. */
int job_post(struct service *service, const json_t *body, char id[JOB_ID_BYTES]);
/* Fetches the job. 0 with *job owned by the caller, else an exit code having said why. */
int job_get(struct service *service, const char *id, double wait_s, json_t **job);
/*
 * Waits until the job is final, with progress where stderr is a terminal. An interrupt cancels the
 * job: EXIT_CANCELLED.
 */
int job_wait(struct service *service, const char *id, json_t **job);
/* *job as it is afterwards, owned by the caller: one that was final already stays what it was. */
int job_cancel(struct service *service, const char *id, json_t **job);

/* 1 where nothing more will happen to it. */
int job_is_final(const json_t *job);
/* The exit code that a final job means; says why it failed. */
int job_judge(const json_t *job);
/* Writes DIR/proof.json and DIR/public.json, or DIR/N/... for several partitions, of a done job. */
int job_write(const json_t *job, const char *folder);
/* A few lines for people on stdout. */
void job_print(const json_t *job);

#endif
