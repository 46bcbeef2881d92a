/*
 * gpu-check: checks and measurements on a GPU; tests/gpu/run starts it, a process for each part, so
 * that a part which fails or hangs takes no other with it. Never installed. A SIGKILL leaves
 * nothing.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/program.h"
#include "tests/gpu/checks.h"
#include "tests/gpu/gpu.h"

static const char help[] =
    "usage: gpu-check [OPTIONS] selftest | rates | copies | operations\n"
    "       gpu-check [OPTIONS] cases FOLDER...\n"
    "       gpu-check [OPTIONS] proofs IMAGE WITNESS\n"
    "\n"
    "  --device NAME   cuda:N or a UUID (cuda:0)\n"
    "  --log2 N        size of operations (10)\n"
    "  --runs N        how many make a median (5)\n"
    "  --mib N         size of a copy (256)\n"
    "  --check         compare with the CPU\n"
    "  --soft          as little as shows that it works: for the software driver\n"
    "  --help\n"
    "\n"
    "Prints a JSON object a line. Exit: 0; 1 a result is wrong; 64 usage; 71 cannot be done here;\n"
    "74 the device failed; 78 no such device, or it is unfit\n";

enum { OPTION_DEVICE = 256, OPTION_LOG2, OPTION_RUNS, OPTION_MIB, OPTION_CHECK, OPTION_SOFT };

static const struct option long_options[] = {
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"log2", required_argument, NULL, OPTION_LOG2},
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"mib", required_argument, NULL, OPTION_MIB},
    {"check", no_argument, NULL, OPTION_CHECK},
    {"soft", no_argument, NULL, OPTION_SOFT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* 1 where the text is a number from `least` to `most`. */
static int read_number(unsigned *out, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(optarg, &end, 10);
    *out = (unsigned)value;
    return *optarg && !*end && value >= least && value <= most;
}

static int read_option(struct check_options *options, int option)
{
    switch (option) {
    case OPTION_DEVICE:
        options->device = optarg;
        return 1;
    case OPTION_LOG2:
        return read_number(&options->log2, 1, 26);
    case OPTION_RUNS:
        return read_number(&options->runs, 1, GPU_RUNS_MOST);
    case OPTION_MIB:
        return read_number(&options->megabytes, 1, 65536);
    case OPTION_CHECK:
        return options->check = 1;
    case OPTION_SOFT:
        return options->soft = 1;
    default:
        return 0;
    }
}

static int run_on_gpu(const struct check_options *options,
                      int (*check)(const struct check_options *options, struct gpu *gpu))
{
    static struct gpu gpu;
    int code = gpu_open(&gpu, options->device);
    if (code)
        return code;
    code = check(options, &gpu);
    gpu_close(&gpu);
    return code;
}

static int run(const struct check_options *options, const char *what)
{
    static const struct {
        const char *name;
        int (*check)(const struct check_options *options, struct gpu *gpu);
    } checks[] = {{"selftest", check_selftest},
                  {"rates", check_rates},
                  {"copies", check_copies},
                  {"operations", check_operations}};
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        if (strcmp(what, checks[i].name) == 0)
            return run_on_gpu(options, checks[i].check);
    if (strcmp(what, "cases") == 0)
        return check_cases(options);
    if (strcmp(what, "proofs") == 0)
        return check_proofs(options);
    fputs(help, stderr);
    return EXIT_USAGE_ERROR;
}

int main(int argc, char **argv)
{
    struct check_options options = {.device = "cuda:0", .log2 = 10, .runs = 5, .megabytes = 256};
    int option;
    log_open("gpu-check");
    while ((option = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        if (option == 'h')
            return fputs(help, stdout) < 0;
        if (!read_option(&options, option)) {
            fputs("gpu-check: an option is none, or its number is out of range; see --help\n",
                  stderr);
            return EXIT_USAGE_ERROR;
        }
    }
    if (optind >= argc) {
        fputs(help, stderr);
        return EXIT_USAGE_ERROR;
    }
    options.files = (const char *const *)argv + optind + 1;
    return run(&options, argv[optind]);
}
