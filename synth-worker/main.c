/*
 * synth-worker: turns witnesses into filled slabs for a coordinator; and two plain commands without
 * region, --compile and --export-vkey, which handle keys in a process that holds none of the
 * region's fds.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/cpu_form.h"
#include "kernels/parallel.h"
#include "shm/program.h"
#include "synth-worker/binfile.h"
#include "synth-worker/compile.h"
#include "synth-worker/complaint.h"
#include "synth-worker/image_trim.h"
#include "synth-worker/program_take.h"
#include "synth-worker/synth.h"
#include "synth-worker/threads.h"
#include "synth-worker/vkey_export.h"
#include "synth-worker/witness_child.h"

static const char usage[] =
    "usage: synth-worker --socket PATH | --config FILE\n"
    "       synth-worker --compile KEY.zkey --images DIR [--r1cs FILE]\n"
    "                    [--check-subgroups] [--check-image] [--program FILE --programs DIR]\n"
    "       synth-worker --export-vkey KEY.zkey\n"
    "       synth-worker --help | --version\n"
    "\n"
    "Fills slabs for the coordinator at the socket (by default $PAWL_SOCKET, else\n"
    "/run/pawl/pawl.sock or $XDG_RUNTIME_DIR/pawl.sock), until it is told to leave or SIGTERM\n"
    "comes. --compile makes the circuit image of a proving key in DIR and prints a line of JSON;\n"
    "with --r1cs the image has the circuit's constraints as well, so that a witness that breaks\n"
    "one is refused by its number; with --check-subgroups all points are checked to be in their\n"
    "subgroups; with --check-image an image that is there is read and made again if damaged;\n"
    "with --program the witness program (and FILE.dat, or --program-data FILE) is copied into\n"
    "the folder of programs. Images beyond --images-max BYTES in all (64G) go, the least\n"
    "recently used first and none in use. --export-vkey prints the verification key as snarkjs\n"
    "exports it.\n"
    "\n"
    "Exit: 0 done or drained; 1 the key is at fault; 64 usage; 69 no coordinator; 70 our fault;\n"
    "71 a limit of the machine; 73 an output cannot be written; 75 the coordinator went away.\n";

struct options {
    const char *socket, *config, *compile, *images, *images_max, *r1cs, *vkey;
    const char *program, *program_data, *programs;
    int check_subgroups, check_image;
};

static int usage_error(const char *what)
{
    fprintf(stderr, "synth-worker: %s (--help shows the usage)\n", what);
    return EXIT_USAGE_ERROR;
}

static int say(const struct complaint *complaint)
{
    fprintf(stderr, "synth-worker: %s\n", complaint->text);
    return complaint->exit_code;
}

/* What is printed counts once it is written: a full disk behind stdout is an error. */
static int finish_output(void)
{
    if (!fflush(stdout) && !ferror(stdout))
        return 0;
    fprintf(stderr, "synth-worker: standard output: %s\n", strerror(errno));
    return EXIT_OUTPUT;
}

/* 0 with the hash where there is a program, else the exit code having said why. */
static int take_program(const struct options *options, char hash[HASH_HEX_BYTES],
                        struct compile_result *result)
{
    const struct program_request request = {options->program, options->program_data,
                                            options->programs};
    struct complaint complaint;
    result->program = NULL;
    if (!options->program)
        return 0;
    if (program_take(&request, hash, &complaint))
        return say(&complaint);
    result->program = hash;
    return 0;
}

static int parse_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno ? -EINVAL : 0;
}

static int run_compile(const struct options *options)
{
    struct compile_request request = {.key_path = options->compile,
                                      .images = options->images,
                                      .check_subgroups = options->check_subgroups,
                                      .check_image = options->check_image,
                                      .r1cs_path = options->r1cs,
                                      .images_max = IMAGES_MAX_BYTES};
    struct compile_result result;
    struct complaint complaint;
    struct parallel parallel;
    char program[HASH_HEX_BYTES];
    if (!options->images)
        return usage_error("--compile needs --images DIR");
    if (options->images_max && parse_bytes(options->images_max, &request.images_max))
        return usage_error("--images-max is a number of bytes");
    if (!options->program != !options->programs || (options->program_data && !options->program))
        return usage_error("--program FILE and --programs DIR go together");
    threads_init(&parallel, 0);
    if (compile_key(&request, &parallel, &result, &complaint))
        return say(&complaint);
    if (result.repeated)
        fprintf(
            stderr,
            "synth-worker: %s: %u combinations list a wire twice; the coefficients are summed\n",
            options->r1cs, result.repeated);
    int code = take_program(options, program, &result);
    if (code)
        return code;
    compile_print(stdout, &request, &result);
    return finish_output();
}

static int run_export(const struct options *options)
{
    struct binfile_source source;
    struct complaint complaint;
    int fd = open(options->vkey, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        complain_system(&complaint, EXIT_INPUT, errno, "%.700s: cannot be opened", options->vkey);
        return say(&complaint);
    }
    int status = binfile_source_fd(&source, fd, options->vkey, &complaint);
    if (!status)
        status = vkey_export(&source, stdout, &complaint);
    close(fd);
    return status ? say(&complaint) : finish_output();
}

static int run_worker(const struct options *options)
{
    char path[PAWL_SOCKET_BYTES];
    const char *why;
    int status = program_socket_path(path, options->socket, options->config, &why);
    if (!status)
        return synth_run(path);
    fprintf(stderr, "synth-worker: %s\n", why);
    return options->config && !options->socket ? EXIT_CONFIG : EXIT_USAGE_ERROR;
}

/* PAWL_CPU chooses a form of the mathematics. 0 or an exit code. */
static int check_cpu_form(void)
{
    const char *why;
    int error = cpu_form_check(&why);
    if (error)
        fprintf(stderr, "synth-worker: %s\n", why);
    return error == -EINVAL ? EXIT_USAGE_ERROR : error ? EXIT_CONFIG : 0;
}

/* -1: go on; else the exit code. */
static int parse(struct options *options, int count, char **words)
{
    static const struct option known[] = {
        {"socket", required_argument, NULL, 's'},
        {"config", required_argument, NULL, 'c'},
        {"compile", required_argument, NULL, 'k'},
        {"images", required_argument, NULL, 'i'},
        {"images-max", required_argument, NULL, 'm'},
        {"r1cs", required_argument, NULL, 'r'},
        {"check-subgroups", no_argument, NULL, 'g'},
        {"check-image", no_argument, NULL, 'b'},
        {"export-vkey", required_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {"program", required_argument, NULL, 'p'},
        {"programs", required_argument, NULL, 'P'},
        {"program-data", required_argument, NULL, 'd'},
        {NULL, 0, NULL, 0},
    };
    const char **const texts[] = {
        ['s'] = &options->socket,    ['c'] = &options->config,   ['k'] = &options->compile,
        ['i'] = &options->images,    ['r'] = &options->r1cs,     ['e'] = &options->vkey,
        ['p'] = &options->program,   ['P'] = &options->programs, ['d'] = &options->program_data,
        ['m'] = &options->images_max};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(count, words, ":", known, NULL)) != -1) {
        if (letter == 'h')
            return fputs(usage, stdout), finish_output();
        if (letter == 'v')
            return puts("synth-worker " PAWL_VERSION), finish_output();
        if (letter == '?' || letter == ':')
            return usage_error(letter == ':' ? "an option lacks its value" : "an unknown option");
        if (letter == 'g')
            options->check_subgroups = 1;
        else if (letter == 'b')
            options->check_image = 1;
        else
            *texts[letter] = optarg;
    }
    return optind < count ? usage_error("an unexpected argument") : -1;
}

/* A witness program ends by the signal, and its caller tells so. */
static int run_witness_child(int count, char **words)
{
    signal(SIGXFSZ, SIG_DFL);
    return witness_child_run(count, words);
}

int main(int count, char **words)
{
    struct options options = {0};
    if (count > 1 && !strcmp(words[1], WITNESS_CHILD_OPTION))
        return run_witness_child(count - 2, words + 2);
    program_begin(OOM_SYNTH);
    int code = parse(&options, count, words);
    if (code >= 0)
        return code;
    code = check_cpu_form();
    if (code)
        return code;
    if (options.compile)
        return run_compile(&options);
    if (options.images || options.images_max || options.r1cs || options.check_subgroups ||
        options.program)
        return usage_error(
            "--images, --images-max, --r1cs, --program and --check-subgroups go with --compile");
    if (options.vkey)
        return run_export(&options);
    code = program_check_files("synth-worker");
    return code ? code : run_worker(&options);
}
