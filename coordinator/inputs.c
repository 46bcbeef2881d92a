/*
 * Inputs of a job; see the header. Called by http_post_job.c. A SIGKILL leaves files that no job
 * owns, which the next start removes.
 *
 * A partition's file is the disk thread's while work is posted, and the loop's else.
 */
#include "coordinator/inputs.h"

#include <assert.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/clock.h"
#include "coordinator/config.h"
#include "coordinator/fd_share.h"
#include "coordinator/path_roots.h"
#include "coordinator/service.h"
#include "coordinator/spool_file.h"
#include "coordinator/store.h"
#include "coordinator/uploads.h"

struct input {
    const struct spool_file *upload; /* taken, not consumed yet; or NULL */
    struct spool_file file;          /* else: our own */
    char *root;                      /* of path_roots, ours: a reload must not reach it */
    const char *rest;                /* of the path, below the root */
    int from;                        /* the file of that path; -1: none */
    struct stat before;              /* as it was when it was opened */
    uint64_t bytes;                  /* as many will come */
    int is_open, is_reserved, is_whole;
};

static struct inputs *inputs_of(struct disk_work *work)
{
    return (struct inputs *)work;
}

/* ---- the end ---- */

static void drop_input(struct input *input)
{
    if (input->from >= 0)
        close(input->from);
    spool_file_drop(&input->file);
    free(input->root);
}

static void run_drop(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    for (uint32_t i = 0; i < inputs->request.partition_count; i++)
        drop_input(&inputs->inputs[i]);
}

static void on_dropped(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    free(inputs->inputs);
    job_request_free(&inputs->request);
    free(inputs);
}

void inputs_free(struct inputs *inputs)
{
    struct uploads *uploads = inputs->service->uploads;
    for (uint32_t i = 0; i < inputs->request.partition_count; i++) {
        if (inputs->inputs[i].upload)
            uploads_give_back(uploads, inputs->request.partitions[i].upload, clock_now_ns());
        inputs->inputs[i].upload = NULL;
    }
    uploads_unreserve(uploads, inputs->reserved);
    inputs->work.run = run_drop;
    inputs->work.done = on_dropped;
    disk_thread_must_post(inputs->service->disk, &inputs->work);
}

/* ---- what is wrong ---- */

static int is_ours(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EMFILE || error == -ENFILE ||
           error == -ENOMEM || error == -EIO || error == -EROFS;
}

/* Why the file of that path is not taken. */
static const char *describe(int error)
{
    switch (error) {
    case -EINVAL:
        return "not a regular file";
    case -EXDEV:
        return "it leads out of the folder of path_roots that it begins with";
    case -ELOOP:
        return "there is a symbolic link on its way: name the file itself";
    case -ESTALE:
        return "it changed while it was copied: try again";
    default:
        return strerror(-error);
    }
}

static void say(struct job_request_error *problem, const struct inputs *inputs, int status,
                const char *text)
{
    const struct job_request_partition *partition = &inputs->request.partitions[inputs->at];
    int is_path = partition->source == SOURCE_PATH && status != 503;
    problem->status = status;
    problem->field[0] = '\0';
    if (status != 503)
        job_request_field(problem->field, inputs->at, partition->source);
    snprintf(problem->detail, sizeof(problem->detail), "%.*s%s%s", 300,
             is_path ? partition->path : "", is_path ? ": " : "", text);
}

static void fail(struct inputs *inputs, int status, const char *text)
{
    struct job_request_error problem;
    say(&problem, inputs, status, text);
    inputs->ready(inputs->arg, inputs, &problem);
}

static void fail_by(struct inputs *inputs, int error)
{
    char text[256];
    if (!is_ours(error)) {
        fail(inputs, error == -ESTALE ? 409 : 422, describe(error));
        return;
    }
    snprintf(text, sizeof(text), "the spool in state_dir cannot take the input: %s%s",
             strerror(-error), error == -EMFILE ? " (raise RLIMIT_NOFILE)" : "");
    fail(inputs, 503, text);
}

/* ---- a step on the disk thread ---- */

static int open_source(struct input *input)
{
    if (!input->root)
        return 0;
    input->from = path_roots_open(input->root, input->rest, RESOLVE_NO_SYMLINKS);
    if (input->from < 0)
        return input->from;
    if (fstat(input->from, &input->before))
        return -errno;
    input->bytes = (uint64_t)input->before.st_size;
    return 0;
}

static int open_input(struct inputs *inputs, struct input *input)
{
    int error = open_source(input);
    if (!error)
        error = spool_file_create(&input->file, inputs->service->spool);
    if (!error && !fd_share_has(FD_SHARE_UPLOAD, input->file.fd))
        error = -EMFILE;
    input->is_open = !error;
    return error;
}

static int is_same(const struct stat *before, const struct stat *after)
{
    return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec &&
           before->st_ctim.tv_sec == after->st_ctim.tv_sec &&
           before->st_ctim.tv_nsec == after->st_ctim.tv_nsec;
}

/* All has come: half of one state and half of another is what nobody meant. */
static int close_source(struct input *input)
{
    struct stat after;
    if (input->from < 0)
        return 0;
    int error = fstat(input->from, &after) ? -errno : 0;
    if (!error && (input->file.bytes != input->bytes || !is_same(&input->before, &after)))
        error = -ESTALE;
    close(input->from);
    input->from = -1;
    return error;
}

static int64_t take_slice(struct input *input, const struct job_request_partition *partition)
{
    if (input->from >= 0)
        return spool_file_copy(&input->file, input->from, input->bytes);
    uint64_t left = input->bytes - input->file.bytes;
    uint64_t bytes = left < SPOOL_SLICE_BYTES ? left : SPOOL_SLICE_BYTES;
    int error = spool_file_write(&input->file, partition->input + input->file.bytes, (size_t)bytes);
    return error ? error : (int64_t)bytes;
}

static int copy_input(struct inputs *inputs, struct input *input)
{
    int64_t got = take_slice(input, &inputs->request.partitions[inputs->at]);
    if (got < 0)
        return (int)got;
    if (got > 0 && input->file.bytes < input->bytes)
        return 0;
    int error = close_source(input);
    if (!error)
        error = spool_file_finish(&input->file);
    input->is_whole = !error;
    return error;
}

static void run_step(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    struct input *input = &inputs->inputs[inputs->at];
    inputs->error = input->is_open ? copy_input(inputs, input) : open_input(inputs, input);
}

static void run_sync(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    inputs->error = spool_sync(inputs->service->spool);
}

/* ---- from step to step, on the loop ---- */

static void on_synced(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    if (inputs->error)
        fail_by(inputs, inputs->error);
    else
        inputs->ready(inputs->arg, inputs, NULL);
}

static void on_step(struct disk_work *work);

static void go_on(struct inputs *inputs)
{
    uint32_t count = inputs->request.partition_count;
    while (inputs->at < count &&
           (inputs->inputs[inputs->at].upload || inputs->inputs[inputs->at].is_whole))
        inputs->at++;
    int is_last = inputs->at == count;
    inputs->work.run = is_last ? run_sync : run_step;
    inputs->work.done = is_last ? on_synced : on_step;
    inputs->at -= is_last; /* errors are told of a partition */
    disk_thread_must_post(inputs->service->disk, &inputs->work);
}

/* 0, or -errno having failed. */
static int reserve(struct inputs *inputs, struct input *input)
{
    struct uploads *uploads = inputs->service->uploads;
    if (input->is_reserved)
        return 0;
    if (input->bytes > uploads->bytes_max) {
        fail(inputs, 413, "larger than queued_bytes in [limits] allows altogether");
        return -EFBIG;
    }
    int error = uploads_reserve(uploads, input->bytes);
    if (error) {
        fail(inputs, 503, "queued_bytes in [limits] are taken: try later");
        return error;
    }
    inputs->reserved += input->bytes;
    input->is_reserved = 1;
    return 0;
}

static void on_step(struct disk_work *work)
{
    struct inputs *inputs = inputs_of(work);
    struct input *input = &inputs->inputs[inputs->at];
    if (inputs->service->stopping)
        fail(inputs, 503, "the coordinator is stopping");
    else if (inputs->error)
        fail_by(inputs, inputs->error);
    else if (reserve(inputs, input) == 0)
        go_on(inputs);
}

/* ---- the beginning: what can be said without the disk ---- */

static int take_upload(struct inputs *inputs, struct input *input,
                       const struct job_request_partition *partition)
{
    int error = uploads_take(inputs->service->uploads, partition->upload, &input->upload);
    if (error == -ENOENT)
        fail(inputs, 404, "there is no such upload: it was used, or idle for too long");
    else if (error == -EALREADY)
        fail(inputs, 409, "the upload is another partition's already");
    else if (error)
        fail(inputs, 409, "the upload is not finished");
    return error;
}

static int find_root(struct inputs *inputs, struct input *input,
                     const struct job_request_partition *partition)
{
    const char *root = path_roots_find(inputs->service->config, partition->path, &input->rest);
    if (!root) {
        fail(inputs, 422, "not below path_roots in [pawl]: upload the file");
        return -EPERM;
    }
    input->root = strdup(root);
    if (!input->root)
        fail(inputs, 503, "no memory");
    return input->root ? 0 : -ENOMEM;
}

static int begin(struct inputs *inputs)
{
    const struct job_request_partition *partition = &inputs->request.partitions[inputs->at];
    struct input *input = &inputs->inputs[inputs->at];
    if (partition->source == SOURCE_UPLOAD)
        return take_upload(inputs, input, partition);
    if (partition->source == SOURCE_PATH)
        return find_root(inputs, input, partition);
    input->bytes = partition->input_bytes;
    return reserve(inputs, input);
}

static struct inputs *make(struct job_request *request)
{
    struct inputs *inputs = calloc(1, sizeof(*inputs));
    if (!inputs)
        return NULL;
    inputs->inputs = calloc(request->partition_count, sizeof(*inputs->inputs));
    if (!inputs->inputs) {
        free(inputs);
        return NULL;
    }
    for (uint32_t i = 0; i < request->partition_count; i++)
        inputs->inputs[i].from = inputs->inputs[i].file.fd = -1;
    return inputs;
}

void inputs_start(struct service *service, struct job_request *request,
                  void (*ready)(void *arg, struct inputs *inputs,
                                const struct job_request_error *problem),
                  void *arg)
{
    static const struct job_request_error no_memory = {.status = 503, .detail = "no memory"};
    struct inputs *inputs = make(request);
    if (!inputs) {
        job_request_free(request);
        ready(arg, NULL, &no_memory);
        return;
    }
    inputs->service = service;
    inputs->request = *request;
    *request = (struct job_request){0};
    inputs->ready = ready;
    inputs->arg = arg;
    for (inputs->at = 0; inputs->at < inputs->request.partition_count; inputs->at++)
        if (begin(inputs))
            return;
    inputs->at = 0;
    go_on(inputs);
}

/* ---- the store ---- */

static const struct spool_file *file_of(const struct input *input)
{
    return input->upload ? input->upload : &input->file;
}

static int has_json_name(const char *label)
{
    size_t length = strlen(label);
    return length > 5 && strcmp(label + length - 5, ".json") == 0;
}

/* By the bytes, where they tell: a witness begins with "wtns", and whatever else is called .json
 * gets the message of those who read it. */
int inputs_is_json(const struct inputs *inputs, uint32_t partition)
{
    const struct spool_file *file = file_of(&inputs->inputs[partition]);
    return spool_file_is_json(file) ||
           (file->first != 'w' && has_json_name(inputs->request.partitions[partition].label));
}

static void hand_over_one(struct inputs *inputs, uint32_t index, struct store_spec_partition *out)
{
    struct input *input = &inputs->inputs[index];
    const struct job_request_partition *partition = &inputs->request.partitions[index];
    const struct spool_file *file = file_of(input);
    *out = (struct store_spec_partition){.witness_fd = file->fd};
    out->input.kind = inputs_is_json(inputs, index) ? INPUT_JSON : INPUT_WTNS;
    out->input.bytes = file->bytes;
    memcpy(out->input.name, file->name, sizeof(out->input.name));
    memcpy(out->input.sha256, file->digest, sizeof(out->input.sha256));
    memcpy(out->input.label, partition->label, sizeof(out->input.label));
    if (input->upload) {
        out->witness_fd = uploads_consume(inputs->service->uploads, partition->upload);
    } else {
        input->file.fd = -1;
        input->file.name[0] = '\0';
    }
    input->upload = NULL;
}

void inputs_hand_over(struct inputs *inputs, struct store_spec_partition *partitions)
{
    for (uint32_t i = 0; i < inputs->request.partition_count; i++)
        hand_over_one(inputs, i, &partitions[i]);
}
