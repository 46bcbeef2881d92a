/*
 * What the commands about jobs share. When pawl is SIGKILLed while it waits, the job goes on.
 */
#include "coordinator/client/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "coordinator/client/interrupt.h"
#include "coordinator/client/output.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "shm/program.h"

#define WAIT_S 50.0          /* one long poll */
#define WAIT_PROGRESS_S 0.25 /* where somebody looks on */
#define CANCEL_MS 2000
#define FOLDER_BYTES 4096

int job_accepted(const struct http_answer *answer, char id[JOB_ID_BYTES])
{
    int code = service_judge(answer);
    if (code)
        return code;
    json_t *body = json_loadb(answer->body, answer->bytes, 0, NULL);
    snprintf(id, JOB_ID_BYTES, "%s", service_text(body, "id"));
    json_decref(body);
    return *id ? 0 : say_error(EXIT_INTERNAL, "the coordinator gave the job no id");
}

int job_post(struct service *service, const json_t *body, char id[JOB_ID_BYTES])
{
    struct http_answer answer;
    int code = service_ask(service, "POST", "/v1/jobs", body, &answer);
    if (code)
        return code;
    code = job_accepted(&answer, id);
    http_answer_free(&answer);
    return code;
}

static int job_path(char *path, size_t bytes, const char *id)
{
    snprintf(path, bytes, "/v1/jobs/");
    if (*id && !service_append_escaped(path, bytes - 32, id))
        return 0;
    return say_error(EXIT_INPUT, "no such job: %s", id);
}

int job_get(struct service *service, const char *id, double wait_s, json_t **job)
{
    char path[512];
    *job = NULL;
    int code = job_path(path, sizeof(path), id);
    if (code)
        return code;
    size_t at = strlen(path);
    if (wait_s > 0)
        snprintf(path + at, sizeof(path) - at, "?wait=%g", wait_s);
    code = service_call(service, "GET", path, NULL, job);
    if (!code && !json_is_object(*job))
        code = say_error(EXIT_INTERNAL, "the coordinator's answer is no job");
    return code;
}

int job_cancel(struct service *service, const char *id, json_t **job)
{
    char path[512];
    int code = job_path(path, sizeof(path), id);
    if (code)
        return code;
    return service_call(service, "DELETE", path, NULL, job);
}

int job_is_final(const json_t *job)
{
    const char *state = service_text(job, "state");
    return !strcmp(state, "done") || !strcmp(state, "failed") || !strcmp(state, "cancelled");
}

/* ---- waiting ---- */

static size_t count_done(const json_t *partitions)
{
    size_t done = 0;
    for (size_t i = 0; i < json_array_size(partitions); i++)
        done += !strcmp(service_text(json_array_get(partitions, i), "state"), "done");
    return done;
}

static void show_progress(const json_t *job)
{
    char text[128];
    const json_t *partitions = json_object_get(job, "partitions");
    size_t count = json_array_size(partitions);
    if (count == 1)
        snprintf(text, sizeof(text), "%.60s", service_text(json_array_get(partitions, 0), "state"));
    else
        snprintf(text, sizeof(text), "%.60s: %zu of %zu proved", service_text(job, "state"),
                 count_done(partitions), count);
    progress_show(text);
}

/* The pending signal would end the call at once, so nothing is watched during it; silent, for the
 * line on stderr is already written. */
static void cancel_after_interrupt(struct service *service, const char *id)
{
    char path[512] = "/v1/jobs/";
    struct http_answer answer;
    service->http.watched_count = 0;
    service->http.timeout_ms = CANCEL_MS;
    if (!service_append_escaped(path, sizeof(path), id) &&
        !http_call(&service->http, "DELETE", path, NULL, 0, &answer))
        http_answer_free(&answer);
}

int job_wait(struct service *service, const char *id, json_t **job)
{
    double wait_s = progress_is_shown() ? WAIT_PROGRESS_S : WAIT_S;
    int code;
    while (!(code = job_get(service, id, wait_s, job)) && !job_is_final(*job)) {
        show_progress(*job);
        json_decref(*job);
    }
    progress_clear();
    if (code == EXIT_CANCELLED && interrupt_came())
        cancel_after_interrupt(service, id);
    return code;
}

/* ---- what became of it ---- */

static int exit_code_of(const char *error_class)
{
    static const struct {
        const char *name;
        int code;
    } classes[] = {{"input", EXIT_INPUT},
                   {"internal", EXIT_INTERNAL},
                   {"capacity", EXIT_CAPACITY},
                   {"deadline", EXIT_CAPACITY},
                   {"cancelled", EXIT_CANCELLED}};
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (!strcmp(classes[i].name, error_class))
            return classes[i].code;
    return EXIT_INTERNAL;
}

int job_judge(const json_t *job)
{
    const char *state = service_text(job, "state"), *error = service_text(job, "error");
    if (!strcmp(state, "done"))
        return 0;
    if (!strcmp(state, "cancelled"))
        return say_error(EXIT_CANCELLED, "the job was cancelled");
    return say_error(exit_code_of(service_text(job, "error_class")), "%s",
                     *error ? error : "the job failed and no reason was given");
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    return say_error(EXIT_OUTPUT, "cannot make the folder %s: %s", path, strerror(errno));
}

/* folder is shorter than FOLDER_BYTES. */
static int write_partition(const json_t *partition, const char *folder)
{
    char proof[FOLDER_BYTES + 16], publics[FOLDER_BYTES + 16];
    int code = make_folder(folder);
    if (code)
        return code;
    snprintf(proof, sizeof(proof), "%s/proof.json", folder);
    snprintf(publics, sizeof(publics), "%s/public.json", folder);
    return output_write_proof(proof, json_object_get(partition, "proof"), publics,
                              json_object_get(partition, "public"));
}

int job_write(const json_t *job, const char *folder)
{
    char path[FOLDER_BYTES];
    const json_t *partitions = json_object_get(job, "partitions");
    size_t count = json_array_size(partitions);
    int code = make_folder(folder);
    for (size_t i = 0; i < count && !code; i++) {
        int length = count == 1 ? snprintf(path, sizeof(path), "%s", folder)
                                : snprintf(path, sizeof(path), "%s/%zu", folder, i);
        if (length < 0 || (size_t)length >= sizeof(path))
            return say_error(EXIT_OUTPUT, "the path is too long: %s", folder);
        code = write_partition(json_array_get(partitions, i), path);
    }
    return code;
}

static void print_partition(const json_t *partition)
{
    const json_t *ms = json_object_get(partition, "ms");
    const char *error = service_text(partition, "error");
    printf("  %5.0f  %-10s", service_number(partition, "index"), service_text(partition, "state"));
    if (json_is_object(ms) && json_is_number(json_object_get(ms, "prove")))
        printf("  witness %.0f ms, rows %.0f ms, prove %.0f ms, finalize %.0f ms",
               service_number(ms, "witness"), service_number(ms, "rows"),
               service_number(ms, "prove"), service_number(ms, "finalize"));
    if (service_number(partition, "deaths") > 0)
        printf("  deaths %.0f", service_number(partition, "deaths"));
    printf("%s%s\n", *error ? "  " : "", error);
}

void job_print(const json_t *job)
{
    const char *error = service_text(job, "error");
    const json_t *partitions = json_object_get(job, "partitions");
    printf("%s  %s  %s  %s%s%s\n", service_text(job, "id"), service_text(job, "circuit"),
           service_text(job, "state"), service_text(job, "priority"), *error ? "  " : "", error);
    for (size_t i = 0; i < json_array_size(partitions); i++)
        print_partition(json_array_get(partitions, i));
}
