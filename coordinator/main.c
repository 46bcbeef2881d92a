/*
 * The coordinator's command line. See loop.h for what it does.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/config.h"
#include "coordinator/loop.h"
#include "shm/program.h"

static const char help_text[] =
    "usage: coordinator --config FILE [--ready-fd N] [--owner-fd N] [--devices LIST]\n"
    "       coordinator --config FILE --check | --get SECTION.KEY\n"
    "\n"
    "Owns the shared memory, the queue of jobs and the sockets of a Pawl service.\n"
    "\n"
    "  --config FILE      the configuration; every key is explained in conf/pawl.ini\n"
    "  --ready-fd N       writes a line to fd N when workers and clients can connect\n"
    "  --owner-fd N       stops when fd N reads end of file, and leaves nothing behind\n"
    "  --devices LIST     what devices = auto stands for, separated by spaces\n"
    "  --check            checks FILE and exits\n"
    "  --get SECTION.KEY  prints a value of FILE (or its default) and exits\n"
    "  --help, --version\n"
    "\n"
    "Signals: TERM or INT drains (a second one stops at once), HUP reads FILE again.\n";

struct options {
    const char *config_path;
    const char *get;
    const char *devices;
    int is_check, ready_fd, owner_fd;
};

static int usage_error(const char *text)
{
    fprintf(stderr, "coordinator: %s; see coordinator --help\n", text);
    return EXIT_USAGE_ERROR;
}

static int parse_fd(const char *text, int *fd)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < 0 || number > 1 << 20)
        return usage_error("a fd must be a number");
    *fd = (int)number;
    return 0;
}

/* -1: go on; else the exit code. */
static int take_option(struct options *options, int option)
{
    switch (option) {
    case 'c':
        options->config_path = optarg;
        return -1;
    case 'g':
        options->get = optarg;
        return -1;
    case 'd':
        options->devices = optarg;
        return -1;
    case 'k':
        options->is_check = 1;
        return -1;
    case 'r':
        return parse_fd(optarg, &options->ready_fd) ? EXIT_USAGE_ERROR : -1;
    case 'o':
        return parse_fd(optarg, &options->owner_fd) ? EXIT_USAGE_ERROR : -1;
    case 'h':
        fputs(help_text, stdout);
        return 0;
    case 'v':
        printf("coordinator %s (build %s)\n", PAWL_VERSION, pawl_build_id);
        return 0;
    default:
        return EXIT_USAGE_ERROR; /* getopt_long has said what is wrong */
    }
}

static int parse_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"config", required_argument, NULL, 'c'},
                                          {"ready-fd", required_argument, NULL, 'r'},
                                          {"owner-fd", required_argument, NULL, 'o'},
                                          {"get", required_argument, NULL, 'g'},
                                          {"devices", required_argument, NULL, 'd'},
                                          {"check", no_argument, NULL, 'k'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'v'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *options = (struct options){.ready_fd = -1, .owner_fd = -1};
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        int code = take_option(options, option);
        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return usage_error("takes no argument but options");
    return options->config_path ? -1 : usage_error("--config FILE is missing");
}

static int print_value(const struct config *config, const char *name)
{
    char value[8192];
    if (config_get(config, name, value, sizeof(value))) {
        fprintf(stderr, "coordinator: there is no key %s\n", name);
        return EXIT_USAGE_ERROR;
    }
    printf("%s\n", value);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    char error[1024];
    program_begin(OOM_COORDINATOR);
    int code = parse_options(&options, argc, argv);
    if (code >= 0)
        return code;
    struct config *config = malloc(sizeof(*config));
    if (!config)
        return EXIT_MACHINE;
    log_open("coordinator");
    if (config_load(config, options.config_path, error, sizeof(error))) {
        fprintf(stderr, "coordinator: %s\n", error);
        code = EXIT_CONFIG;
    } else if (options.devices && config_settle_devices(config, options.devices)) {
        code = usage_error("--devices wants what devices in [workers] takes");
    } else if (options.get) {
        code = print_value(config, options.get);
    } else if (options.is_check) {
        code = 0;
    } else if (!(code = program_check_files("coordinator"))) {
        code = loop_run(config, options.ready_fd, options.owner_fd);
    }
    free(config);
    return code;
}
