/*
 * The private instance; see the header for what it promises. Called by prove.
 */
#include "coordinator/client/one_shot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/client/folders.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/synth_command.h"
#include "shm/program.h"

#define COMPILE_ANSWER_BYTES 65536
#define QUEUED_BYTES_LEAST (UINT64_C(1) << 30)
#define SLAB_BYTES_LEAST (UINT64_C(64) << 10) /* what a lane may be given at least, and more */
#define COORDINATOR_GRACE_MS 5000
#define WORKER_GRACE_MS 1000

static int cannot_make(const char *path)
{
    return say_error(EXIT_MACHINE, "cannot make %s: %s", path, strerror(errno));
}

/* ---- the key ---- */

static int is_hash(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* What --compile printed. 0, or EXIT_INTERNAL having said so. */
static int take_image(struct one_shot *this, const struct child_output *output)
{
    json_t *answer = json_loadb(output->text, output->bytes, 0, NULL);
    const char *hash = service_text(answer, "hash");
    json_int_t bytes = json_integer_value(json_object_get(answer, "slab_bytes"));
    const char *program = service_text(answer, "program");
    int fine = bytes > 0 && is_hash(hash) && (!*program || is_hash(program));
    if (fine) {
        this->slab_bytes = (uint64_t)bytes;
        if (this->slab_bytes < SLAB_BYTES_LEAST)
            this->slab_bytes = SLAB_BYTES_LEAST;
        this->cached = json_is_true(json_object_get(answer, "cached"));
        strcpy(this->hash, hash);
        strcpy(this->program, program);
    }
    json_decref(answer);
    return fine ? 0 : say_error(EXIT_INTERNAL, "synth-worker --compile gave an answer of no sense");
}

/* A file, not an option. */
static void name_file(char out[PATH_MAX], const char *path)
{
    snprintf(out, PATH_MAX, "%s%s", path[0] == '-' ? "./" : "", path);
}

static int compile_into(struct one_shot *this, const struct one_shot_options *options, char *images)
{
    struct child_output output;
    char key[PATH_MAX], program[PATH_MAX], programs[160];
    name_file(key, options->key_path);
    char *words[] = {"--compile", key, "--images", images, NULL, NULL, NULL, NULL, NULL};
    if (options->program_path) {
        name_file(program, options->program_path);
        snprintf(programs, sizeof(programs), "%s/state/programs", this->folder);
        char *more[] = {"--program", program, "--programs", programs};
        memcpy(words + 4, more, sizeof(more));
    }
    int code = synth_command_run(&output, words, COMPILE_ANSWER_BYTES);
    if (!code)
        code = take_image(this, &output);
    free(output.text);
    return code;
}

/* 0 with the folder, or with "" where there is to be none or none can be had; else an exit code
 * having said why. */
static int find_cache(char out[PATH_MAX], const char *cache)
{
    *out = 0;
    if (cache)
        return strcmp(cache, "none") != 0 ? folders_cache(out, cache) : 0;
    if (folders_own_cache(out))
        *out = 0;
    return 0;
}

/* FOLDER/images: the cache itself by a link, or a folder of our own without one. */
static int make_images(const struct one_shot *this, const char *cache, char *images, size_t bytes)
{
    char target[PATH_MAX];
    snprintf(images, bytes, "%s/images", this->folder);
    int code = find_cache(target, cache);
    if (code)
        return code;
    if (!*target)
        return mkdir(images, 0700) ? cannot_make(images) : 0;
    return symlink(target, images) ? cannot_make(images) : 0;
}

int one_shot_mend(const struct one_shot_options *options)
{
    char key[PATH_MAX], images[PATH_MAX];
    struct child_output output;
    char *words[] = {"--compile", key, "--images", images, "--check-image", NULL};
    name_file(key, options->key_path);
    if (find_cache(images, options->cache) || !*images)
        return 0;
    progress_show("looking at the key's image");
    int made = synth_command_run(&output, words, COMPILE_ANSWER_BYTES) == 0;
    json_t *answer = made ? json_loadb(output.text, output.bytes, 0, NULL) : NULL;
    made = json_is_false(json_object_get(answer, "cached"));
    json_decref(answer);
    free(output.text);
    return made;
}

static int compile(struct one_shot *this, const struct one_shot_options *options)
{
    char images[160];
    progress_show("compiling the key");
    int code = make_images(this, options->cache, images, sizeof(images));
    return code ? code : compile_into(this, options, images);
}

/* The name of its witness program, likewise. */
static int place_program(const struct one_shot *this)
{
    char path[320], target[128];
    if (!this->program[0])
        return 0;
    snprintf(path, sizeof(path), "%s/state/programs/names", this->folder);
    if (mkdir(path, 0700))
        return -errno;
    snprintf(path, sizeof(path), "%s/state/programs/names/" ONE_SHOT_CIRCUIT "@%s", this->folder,
             this->hash);
    snprintf(target, sizeof(target), "../%s", this->program);
    return symlink(target, path) ? -errno : 0;
}

/* The circuit's name as the coordinator itself keeps it, so that it has the circuit at its start.
 */
static int place_name(const struct one_shot *this)
{
    char path[256], target[128];
    snprintf(path, sizeof(path), "%s/state", this->folder);
    if (mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    snprintf(path, sizeof(path), "%s/state/names", this->folder);
    if (mkdir(path, 0700))
        return -errno;
    snprintf(path, sizeof(path), "%s/state/names/" ONE_SHOT_CIRCUIT, this->folder);
    snprintf(target, sizeof(target), "../../images/%s.image", this->hash);
    return symlink(target, path) ? -errno : 0;
}

/* ---- the instance ---- */

static int write_config(const struct one_shot *this, const struct one_shot_options *options)
{
    char path[160];
    uint64_t queued = this->slab_bytes > QUEUED_BYTES_LEAST ? this->slab_bytes : QUEUED_BYTES_LEAST;
    snprintf(path, sizeof(path), "%s/pawl.ini", this->folder);
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    fprintf(file,
            "[pawl]\nsocket = %s/s\nstate_dir = %s/state\nrun_dir = %s/run\nimages_dir = "
            "%s/images\nbacking = memfd\nstore = memory\ndrain_timeout = 1s\n",
            this->folder, this->folder, this->folder, this->folder);
    fprintf(file, "[workers]\nsynth = 1\ndevices = %s\nthreads = %lu\n", options->device,
            options->threads);
    fprintf(file, "[lane one-shot]\nslabs = 1\nsize = %" PRIu64 "\n", this->slab_bytes);
    fprintf(file, "[limits]\nqueued_bytes = %" PRIu64 "\n", queued);
    int error = ferror(file) ? -EIO : 0;
    if (fclose(file))
        error = -errno;
    return error;
}

static const char *why_gone(void *arg, int *exit_code)
{
    struct one_shot *this = arg;
    /* A worker that died has a better reason than the coordinator that ends with it. */
    struct part *parts[] = {&this->gpu, &this->synth, &this->coordinator};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (part_describe_end(parts[i], this->why, sizeof(this->why), exit_code))
            return this->why;
    return NULL;
}

/* Waits for the coordinator's line on the ready pipe. 0, or an exit code having said why. */
static int wait_ready(struct one_shot *this, int ready_fd)
{
    char byte;
    int exit_code = EXIT_INTERNAL;
    struct pollfd wait[2] = {{ready_fd, POLLIN, 0}, {interrupt_fd(), POLLIN, 0}};
    while (poll(wait, 2, -1) < 0 && errno == EINTR)
        ;
    if (wait[1].revents)
        return say_error(EXIT_CANCELLED, "interrupted");
    if (read(ready_fd, &byte, 1) == 1)
        return 0;
    /* The end of the pipe comes a moment before that of the process. */
    struct pollfd end = {this->coordinator.child.pidfd, POLLIN, 0};
    poll(&end, 1, COORDINATOR_GRACE_MS);
    const char *why = why_gone(this, &exit_code);
    return say_error(exit_code, "%s", why ? why : "the private coordinator did not become ready");
}

/* pipe2 for the child's end and ours. */
static int start_with_pipes(struct one_shot *this, int owner[2], int ready[2])
{
    char config[160];
    snprintf(config, sizeof(config), "%s/pawl.ini", this->folder);
    char *words[] = {"--config", config, "--ready-fd", "3", "--owner-fd", "4", NULL};
    int code = part_start(&this->coordinator, this->folder, words, ready[1], owner[0]);
    close(owner[0]);
    close(ready[1]);
    this->owner_fd = owner[1];
    if (!code)
        code = wait_ready(this, ready[0]);
    close(ready[0]);
    return code;
}

static int start_coordinator(struct one_shot *this)
{
    int owner[2], ready[2];
    if (pipe2(owner, O_CLOEXEC))
        return say_error(EXIT_MACHINE, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(ready, O_CLOEXEC)) {
        close(owner[0]);
        close(owner[1]);
        return say_error(EXIT_MACHINE, "cannot make a pipe: %s", strerror(errno));
    }
    return start_with_pipes(this, owner, ready);
}

static int start_worker(const struct one_shot *this, struct part *part, const char *device)
{
    char socket[160];
    snprintf(socket, sizeof(socket), "%s/s", this->folder);
    char *words[] = {"--socket", socket, device ? "--device" : NULL, (char *)(uintptr_t)device,
                     NULL};
    return part_start(part, this->folder, words, -1, -1);
}

/* A GPU's worker sees that GPU and no other. */
static int start_gpu(struct one_shot *this, const char *device)
{
    if (strcmp(device, "cpu") != 0)
        setenv("CUDA_VISIBLE_DEVICES", device, 1);
    return start_worker(this, &this->gpu, device);
}

static int open_service(struct one_shot *this)
{
    char socket[160];
    snprintf(socket, sizeof(socket), "%s/s", this->folder);
    int code = service_open_path(&this->service, socket);
    if (code)
        return code;
    http_watch(&this->service.http, this->coordinator.child.pidfd);
    http_watch(&this->service.http, this->synth.child.pidfd);
    http_watch(&this->service.http, this->gpu.child.pidfd);
    this->service.why_gone = why_gone;
    this->service.why_gone_arg = this;
    return 0;
}

static int start_all(struct one_shot *this, const char *device)
{
    progress_show("starting");
    int code = start_coordinator(this);
    if (!code)
        code = start_gpu(this, device);
    if (!code)
        code = start_worker(this, &this->synth, NULL);
    return code ? code : open_service(this);
}

int one_shot_start(struct one_shot *this, const struct one_shot_options *options)
{
    *this = (struct one_shot){.owner_fd = -1};
    part_init(&this->coordinator, "coordinator");
    part_init(&this->synth, "synth-worker");
    part_init(&this->gpu, "gpu-worker");
    int code = folders_make_temp(this->folder, sizeof(this->folder));
    if (!code)
        code = compile(this, options);
    if (code)
        return code;
    int error = place_name(this);
    if (!error)
        error = place_program(this);
    if (!error)
        error = write_config(this, options);
    if (error)
        return say_error(EXIT_MACHINE, "cannot write in %s: %s", this->folder, strerror(-error));
    return start_all(this, options->device);
}

void one_shot_stop(struct one_shot *this)
{
    service_close(&this->service);
    /* Nothing is left to drain: without its owner the coordinator ends at once. */
    if (this->owner_fd >= 0)
        close(this->owner_fd);
    part_stop(&this->coordinator, COORDINATOR_GRACE_MS);
    part_stop(&this->synth, WORKER_GRACE_MS);
    part_stop(&this->gpu, WORKER_GRACE_MS);
    if (this->folder[0])
        folders_remove(this->folder);
}
