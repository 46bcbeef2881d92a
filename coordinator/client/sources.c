/*
 * Files of a job; see the header. Called by prove and submit. A SIGKILL of pawl leaves uploads that
 * the coordinator drops after a while.
 */
#include "coordinator/client/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "coordinator/client/upload.h"
#include "shm/program.h"

/* ---- by path ---- */

static int is_regular(const struct sources *sources, int index)
{
    struct stat status;
    int error = index == 0 && sources->fd >= 0 ? fstat(sources->fd, &status)
                                               : stat(sources->paths[index], &status);
    return !error && S_ISREG(status.st_mode);
}

/* {"path", "name"}; NULL where it cannot be said that way: no such file, a path that is no UTF-8.
 */
static json_t *path_partition(const char *path)
{
    char *real = realpath(path, NULL);
    json_t *value = real ? json_string(real) : NULL;
    free(real);
    if (!value)
        return NULL;
    return json_pack("{s:o,s:o}", "path", value, "name", upload_label(path));
}

/* NULL where not all files can be named by path. */
static json_t *path_partitions(const struct sources *sources)
{
    json_t *list = json_array();
    for (int i = 0; list && i < sources->count; i++) {
        json_t *partition = is_regular(sources, i) ? path_partition(sources->paths[i]) : NULL;
        if (partition && json_array_append_new(list, partition) == 0)
            continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

/* Whether the service refuses a path, as it may, rather than the job. */
static int blames_path(const struct http_answer *answer)
{
    json_t *problem = json_loadb(answer->body, answer->bytes, 0, NULL);
    const char *field = service_text(problem, "field");
    size_t length = strlen(field);
    int does = answer->status == 422 && strncmp(field, "partitions[", 11) == 0 && length > 5 &&
               strcmp(field + length - 5, ".path") == 0;
    json_decref(problem);
    return does;
}

/* *refused: 1 where the files are to be uploaded after all. */
static int post_paths(struct service *service, const struct sources *sources, json_t *body,
                      char id[JOB_ID_BYTES], int *refused)
{
    struct http_answer answer;
    json_t *partitions = path_partitions(sources);
    *refused = !partitions;
    if (!partitions)
        return 0;
    progress_show("submitting");
    json_object_set_new(body, "partitions", partitions);
    int code = service_ask(service, "POST", "/v1/jobs", body, &answer);
    if (code)
        return code;
    *refused = blames_path(&answer);
    code = *refused ? 0 : job_accepted(&answer, id);
    http_answer_free(&answer);
    return code;
}

/* ---- by upload ---- */

static int upload_one(struct service *service, const struct sources *sources, int index,
                      json_t *partitions)
{
    char id[UPLOAD_ID_BYTES];
    const char *path = sources->paths[index];
    int is_open = index == 0 && sources->fd >= 0, fd = sources->fd;
    int code = is_open ? 0 : upload_open_file(path, &fd);
    if (code)
        return code;
    code = upload_send(service, fd, path, id);
    if (!is_open)
        close(fd);
    if (!code && json_array_append_new(partitions, upload_partition(id, path)))
        code = say_error(EXIT_MACHINE, "out of memory");
    return code;
}

static int post_uploads(struct service *service, const struct sources *sources, json_t *body,
                        char id[JOB_ID_BYTES])
{
    json_t *partitions = json_array();
    int code = 0;
    for (int i = 0; i < sources->count && !code; i++)
        code = upload_one(service, sources, i, partitions);
    json_object_set(body, "partitions", partitions);
    if (!code)
        code = job_post(service, body, id);
    for (size_t i = 0; code && i < json_array_size(partitions); i++)
        upload_take_back(service, service_text(json_array_get(partitions, i), "upload"));
    json_decref(partitions);
    return code;
}

int sources_post(struct service *service, const struct sources *sources, json_t *body, int by_path,
                 char id[JOB_ID_BYTES])
{
    int refused = !by_path;
    int code = by_path ? post_paths(service, sources, body, id, &refused) : 0;
    return code || !refused ? code : post_uploads(service, sources, body, id);
}
