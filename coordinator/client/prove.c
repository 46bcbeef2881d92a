/*
 * pawl prove and fullprove: one proof, by a private instance or, with --socket, by the running
 * service.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/client/circuits.h"
#include "coordinator/client/commands.h"
#include "coordinator/client/devices.h"
#include "coordinator/client/job.h"
#include "coordinator/client/one_shot.h"
#include "coordinator/client/options.h"
#include "coordinator/client/output.h"
#include "coordinator/client/progress.h"
#include "coordinator/client/say.h"
#include "coordinator/client/service.h"
#include "coordinator/client/sources.h"
#include "coordinator/client/upload.h"
#include "shm/program.h"

enum { KEY, WITNESS, PROOF, PUBLIC }; /* the positional arguments */

static int write_result(const struct arguments *arguments, const json_t *job)
{
    const json_t *partition = json_array_get(json_object_get(job, "partitions"), 0);
    int code =
        output_write_proof(arguments->positional[PROOF], json_object_get(partition, "proof"),
                           arguments->positional[PUBLIC], json_object_get(partition, "public"));
    return !code && options_value(arguments, "--json") ? say_json(job) : code;
}

/* Posts the job with its one witness. 0 with the id, else an exit code. */
static int post(struct service *service, const char *circuit, const struct arguments *arguments,
                int witness_fd, int by_path, char id[JOB_ID_BYTES])
{
    const struct sources sources = {&arguments->positional[WITNESS], 1, witness_fd};
    json_t *body = json_pack("{s:s}", "circuit", circuit);
    if (!body)
        return say_error(EXIT_MACHINE, "out of memory");
    int code = sources_post(service, &sources, body, by_path, id);
    json_decref(body);
    return code;
}

/* 0 with *job final and done. */
static int prove_with(struct service *service, const char *circuit,
                      const struct arguments *arguments, int witness_fd, int by_path, json_t **job)
{
    char id[JOB_ID_BYTES];
    int code = post(service, circuit, arguments, witness_fd, by_path, id);
    if (!code)
        code = job_wait(service, id, job);
    return code ? code : job_judge(*job);
}

/* ---- one-shot ---- */

/* A proof with known blinders gives its witness away to whoever knows them. */
static void warn_of_blinders(void)
{
    if (getenv("PAWL_TEST_BLINDERS"))
        fputs("pawl: PAWL_TEST_BLINDERS fixed r and s: this proof hides nothing\n", stderr);
}

/* *cached: whether the key's image was there. */
static int prove_once(const struct arguments *arguments, const struct one_shot_options *options,
                      int witness_fd, json_t **job, int *cached)
{
    struct one_shot instance;
    int code = one_shot_start(&instance, options);
    *cached = instance.cached;
    if (!code)
        code = prove_with(&instance.service, ONE_SHOT_CIRCUIT, arguments, witness_fd, 0, job);
    progress_clear();
    one_shot_stop(&instance);
    return code;
}

/* Where it fails by our own fault with an image from the cache, and that has been damaged there, it
 * is made once more with a new one. */
static int prove_or_mend(const struct arguments *arguments, const struct one_shot_options *options,
                         int witness_fd, json_t **job)
{
    int cached;
    say_hold();
    int code = prove_once(arguments, options, witness_fd, job, &cached);
    int mended = code == EXIT_INTERNAL && cached && one_shot_mend(options);
    progress_clear();
    say_release(mended);
    if (!mended)
        return code;
    if (lseek(witness_fd, 0, SEEK_SET) != 0)
        return say_error(code, "the key's image in the cache was damaged and is made again; the "
                               "witness cannot be read twice: start this once more");
    fputs("pawl: the key's image in the cache was damaged and is made again\n", stderr);
    json_decref(*job);
    *job = NULL;
    return prove_once(arguments, options, witness_fd, job, &cached);
}

static int is_auto(const char *device)
{
    return !device || strcmp(device, "auto") == 0;
}

/* A GPU that nobody asked for by name may fail: too little memory, a fault. Then the CPU proves. */
static int prove_by_any(const struct arguments *arguments, struct one_shot_options *options,
                        int witness_fd, json_t **job)
{
    int cached;
    if (!is_auto(options_value(arguments, "--device")) || strcmp(options->device, "cpu") == 0)
        return prove_or_mend(arguments, options, witness_fd, job);
    say_hold();
    int code = prove_once(arguments, options, witness_fd, job, &cached);
    int is_ours = code == EXIT_CAPACITY || code == EXIT_INTERNAL || code == EXIT_MACHINE;
    int again = is_ours && lseek(witness_fd, 0, SEEK_SET) == 0;
    say_release(again);
    if (!again)
        return code;
    fprintf(stderr, "pawl: device %s could not prove it: the CPU does\n", options->device);
    json_decref(*job);
    *job = NULL;
    options->device = "cpu";
    return prove_or_mend(arguments, options, witness_fd, job);
}

static int prove_alone(const struct arguments *arguments, const char *program, const char *device,
                       int witness_fd)
{
    json_t *job = NULL;
    struct one_shot_options options = {.key_path = arguments->positional[KEY],
                                       .program_path = program,
                                       .device = device,
                                       .cache = options_value(arguments, "--cache")};
    int code = options_number(arguments, "--threads", 1024, &options.threads);
    if (code)
        return code;
    code = prove_by_any(arguments, &options, witness_fd, &job);
    if (!code)
        warn_of_blinders();
    if (!code)
        code = write_result(arguments, job);
    json_decref(job);
    return code;
}

/* ---- by the running service ---- */

static int add_file(uint64_t *sum, const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return say_error(EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    const uint64_t parts[] = {status.st_dev, status.st_ino, (uint64_t)status.st_size,
                              (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
    for (size_t i = 0; i < sizeof(parts); i++)
        *sum = (*sum ^ ((const unsigned char *)parts)[i]) * UINT64_C(0x100000001b3);
    return 0;
}

/* A circuit's name that stands for these very files, so that the next proof with them finds it
 * compiled. */
static int name_of_files(char name[64], const char *key, const char *program)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    int code = add_file(&sum, key);
    if (!code && program)
        code = add_file(&sum, program);
    snprintf(name, 64, "prove-%016" PRIx64, sum);
    return code;
}

static int prove_by_service(const struct arguments *arguments, const char *program, int witness_fd)
{
    struct service service;
    char name[64];
    json_t *job = NULL;
    int code = name_of_files(name, arguments->positional[KEY], program);
    if (!code)
        code = service_open(&service, arguments);
    if (code)
        return code;
    code = circuits_add(&service, name, arguments->positional[KEY], NULL, program, NULL);
    if (!code)
        code = prove_with(&service, name, arguments, witness_fd, 1, &job);
    progress_clear();
    service_close(&service);
    if (!code)
        code = write_result(arguments, job);
    json_decref(job);
    return code;
}

/* ---- the command ---- */

/* program: NULL where there is none. */
static int check_inputs_stay(char *const *positional, const char *program)
{
    const char *inputs[] = {positional[KEY], positional[WITNESS], program};
    for (int output = PROOF; output <= PUBLIC; output++)
        for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++)
            if (inputs[i] && output_replaces(positional[output], inputs[i]))
                return say_error(EXIT_USAGE_ERROR, "%s is an input and cannot be an output too",
                                 positional[output]);
    return 0;
}

static int check_outputs(char *const *positional, const char *program)
{
    if (!strcmp(positional[PROOF], positional[PUBLIC]) ||
        output_replaces(positional[PUBLIC], positional[PROOF]))
        return say_error(EXIT_USAGE_ERROR, "proof and public signals need two files, not %s twice",
                         positional[PROOF]);
    int code = check_inputs_stay(positional, program);
    if (!code)
        code = output_check(positional[PROOF]);
    return code ? code : output_check(positional[PUBLIC]);
}

/* What a file is, its name says: to the service as well. */
static int check_witness(const char *path, const char *program)
{
    size_t length = strlen(path);
    int is_input = length > 5 && strcmp(path + length - 5, ".json") == 0;
    if (is_input == !!program)
        return 0;
    if (program)
        return say_error(EXIT_USAGE_ERROR, "%s: fullprove takes an input whose name ends in .json",
                         path);
    return say_error(EXIT_USAGE_ERROR,
                     "%s: prove takes a witness (.wtns); of an input, pawl fullprove makes one",
                     path);
}

/* program: NULL where the witness is there. */
static int prove(const struct arguments *arguments, const char *program)
{
    int witness_fd, code = 0;
    int running = options_value(arguments, "--socket") || options_value(arguments, "--config");
    char device[DEVICES_NAME_BYTES] = ""; /* the running service has its own */
    if (!running)
        code = devices_choose(options_value(arguments, "--device"), device);
    if (!code)
        code = check_outputs(arguments->positional, program);
    if (!code)
        code = check_witness(arguments->positional[WITNESS], program);
    if (!code)
        code = upload_open_file(arguments->positional[WITNESS], &witness_fd);
    if (code)
        return code;
    code = running ? prove_by_service(arguments, program, witness_fd)
                   : prove_alone(arguments, program, device, witness_fd);
    close(witness_fd);
    return code;
}

int command_prove(const struct arguments *arguments)
{
    return prove(arguments, NULL);
}

int command_fullprove(const struct arguments *arguments)
{
    char **given = arguments->positional; /* INPUT PROGRAM KEY PROOF PUBLIC */
    char *ours[] = {given[2], given[0], given[3], given[4]};
    struct arguments as_prove = *arguments;
    as_prove.positional = ours;
    as_prove.count = 4;
    return prove(&as_prove, given[1]);
}
