/*
 * pawl job, jobs, cancel and submit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/job.h"
#include "coordinator/client/options.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "coordinator/client/sources.h"
#include "shm/program.h"

/* ---- a job that is there ---- */

static int show(const struct arguments *arguments, const json_t *job)
{
    if (options_value(arguments, "--json"))
        return say_json(job);
    job_print(job);
    return say_flush();
}

/* A final job: its files, and what it means for the exit code. */
static int end_with(const struct arguments *arguments, const json_t *job)
{
    const char *folder = options_value(arguments, "--out");
    int code = job_is_final(job) ? job_judge(job) : 0;
    if (!code && folder && !job_is_final(job))
        return say_error(EXIT_CAPACITY, "the job is not done yet; --wait waits for it");
    return code || !folder ? code : job_write(job, folder);
}

int command_job(const struct arguments *arguments)
{
    struct service service;
    json_t *job = NULL;
    const char *id = arguments->positional[0];
    int code = service_open(&service, arguments);
    if (code)
        return code;
    if (options_value(arguments, "--wait"))
        code = job_wait(&service, id, &job);
    else
        code = job_get(&service, id, 0, &job);
    if (!code)
        code = show(arguments, job);
    if (!code)
        code = end_with(arguments, job);
    json_decref(job);
    service_close(&service);
    return code;
}

int command_cancel(const struct arguments *arguments)
{
    struct service service;
    json_t *job = NULL;
    int code = service_open(&service, arguments);
    if (code)
        return code;
    code = job_cancel(&service, arguments->positional[0], &job);
    if (!code)
        code = show(arguments, job);
    json_decref(job);
    service_close(&service);
    return code;
}

static int print_jobs(const json_t *answer)
{
    const json_t *list = json_is_array(answer) ? answer : json_object_get(answer, "jobs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *job = json_array_get(list, i);
        printf("%-16s  %-9s  %-8s  %s\n", service_text(job, "id"), service_text(job, "state"),
               service_text(job, "priority"), service_text(job, "circuit"));
    }
    return say_flush();
}

int command_jobs(const struct arguments *arguments)
{
    struct service service;
    json_t *answer;
    int code = service_open(&service, arguments);
    if (code)
        return code;
    code = service_call(&service, "GET", "/v1/jobs", NULL, &answer);
    if (!code)
        code = options_value(arguments, "--json") ? say_json(answer) : print_jobs(answer);
    json_decref(answer);
    service_close(&service);
    return code;
}

/* ---- a new one ---- */

static int add_deadline(const struct arguments *arguments, json_t *body)
{
    const char *text = options_value(arguments, "--deadline");
    char *end;
    double seconds = text ? strtod(text, &end) : 0;
    if (!text)
        return 0;
    if (!*text || *end || !(seconds > 0 && seconds < 1e9))
        return say_error(EXIT_USAGE_ERROR, "--deadline takes seconds, not \"%s\"", text);
    json_object_set_new(body, "deadline_s", json_real(seconds));
    return 0;
}

/* What the options say of the job. 0 with *body owned by the caller, else an exit code. */
static int job_body(const struct arguments *arguments, json_t **body)
{
    const char *priority = options_value(arguments, "--priority");
    const char *lane = options_value(arguments, "--lane");
    const char *key = options_value(arguments, "--key");
    *body = json_pack("{s:s,s:s*,s:s*,s:s*}", "circuit", arguments->positional[0], "priority",
                      priority, "lane", lane, "idempotency_key", key);
    if (!*body)
        return say_error(EXIT_USAGE_ERROR, "a name or key is not UTF-8");
    return add_deadline(arguments, *body);
}

static int say_id(const struct arguments *arguments, const char *id)
{
    if (options_value(arguments, "--json")) {
        json_t *answer = json_pack("{s:s}", "id", id);
        int code = say_json(answer);
        json_decref(answer);
        return code;
    }
    puts(id);
    return say_flush();
}

static int wait_and_write(struct service *service, const struct arguments *arguments,
                          const char *id)
{
    json_t *job = NULL;
    int code = job_wait(service, id, &job);
    if (!code)
        code = end_with(arguments, job);
    json_decref(job);
    return code;
}

static int submit(struct service *service, const struct arguments *arguments, json_t *body)
{
    char id[JOB_ID_BYTES];
    const struct sources sources = {arguments->positional + 1, arguments->count - 1, -1};
    int code = sources_post(service, &sources, body, 1, id);
    progress_clear();
    if (!code)
        code = say_id(arguments, id);
    if (!code && options_value(arguments, "--wait"))
        code = wait_and_write(service, arguments, id);
    return code;
}

int command_submit(const struct arguments *arguments)
{
    struct service service;
    json_t *body = NULL;
    if (options_value(arguments, "--out") && !options_value(arguments, "--wait"))
        return say_error(EXIT_USAGE_ERROR, "--out needs --wait; see pawl submit --help");
    int code = job_body(arguments, &body);
    if (!code && !(code = service_open(&service, arguments))) {
        code = submit(&service, arguments, body);
        service_close(&service);
    }
    json_decref(body);
    return code;
}
