/*
 * gpu-worker: one device's worth of proving. Started by the supervisor or by hand.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu-worker/blinders.h"
#include "gpu-worker/cuda_devices.h"
#include "gpu-worker/device.h"
#include "gpu-worker/device_list.h"
#include "gpu-worker/worker.h"
#include "kernels/cpu_form.h"
#include "shm/program.h"

static const char help[] =
    "usage: gpu-worker (--socket PATH | --config FILE) --device cpu|cuda:N|UUID\n"
    "       gpu-worker --list-devices [--json]\n"
    "\n"
    "Proves partitions that a coordinator assigns, on one device.\n"
    "\n"
    "  --socket PATH     the coordinator's worker socket\n"
    "  --config FILE     take the socket's path from this configuration\n"
    "  --device NAME     the device: cpu; cuda:N, the N-th GPU that CUDA_VISIBLE_DEVICES lets\n"
    "                    through; or the UUID of a GPU or of a part of one (MIG)\n"
    "  --list-devices    print the devices, fit or not, and exit; with --json as JSON\n"
    "  --help, --version\n"
    "\n"
    "exit: 0 left or ended when told; 64 usage; 69 no coordinator; 70 our fault; 71 a limit of\n"
    "the machine; 74 device lost; 75 the coordinator went away; 77 not allowed; 78 no such\n"
    "device, or it is unfit\n";

struct arguments {
    const char *socket, *config, *device;
    int list, json;
};

static int fail(int code, const char *text)
{
    fprintf(stderr, "gpu-worker: %s\n", text);
    return code;
}

static int list_devices(int json)
{
    const char *why = "";
    int code = device_list_print(stdout, json, &why);
    return code ? fail(code, why) : 0;
}

/* ---- the device's name ---- */

static int fail_device(const char *name, const char *why)
{
    fprintf(stderr, "gpu-worker: %s: %s\n", name, why);
    return EXIT_CONFIG;
}

static void warn_of_mps(const struct cuda_facts *facts)
{
    if (facts->shared_by_mps)
        log_event("warn", "device_shared_by_mps",
                  "device=%s hint=\"a fault of any other client of MPS ends this worker too: leave "
                  "this GPU to Pawl alone\"",
                  facts->uuid);
}

static void warn_of_compiling(const struct cuda_facts *facts)
{
    if (facts->compiles)
        log_event(
            "warn", "device_compiles_kernels",
            "device=%s hint=\"the first key of a curve may take minutes, for this program has "
            "no machine code for the GPU: build with CUDA_ARCHS=%d\"",
            facts->uuid, facts->capability);
}

/*
 * "cuda:N" and a UUID are one device, and the coordinator is to know it by one name. 0 with
 * arguments->device replaced, or an exit code.
 */
static int resolve_device(struct arguments *arguments)
{
    static struct cuda_driver driver; /* stays open: the device opens it again */
    static struct cuda_facts facts;
    struct cuda_code code = cuda_devices_own_code();
    char text[CUDA_WHY_BYTES];
    const char *why;
    if (!cuda_devices_is_name(arguments->device))
        return 0;
    if (cuda_driver_open(&driver, &why))
        return fail_device(arguments->device, why);
    if (cuda_devices_find(&driver, arguments->device, &code, &facts, text, sizeof(text)))
        return fail_device(arguments->device, text);
    warn_of_mps(&facts);
    warn_of_compiling(&facts);
    arguments->device = facts.uuid;
    return 0;
}

/* ---- environment ---- */

/* PAWL_CPU chooses a form of the mathematics. 0 or an exit code. */
static int check_cpu_form(void)
{
    const char *why;
    int error = cpu_form_check(&why);
    return error ? fail(error == -EINVAL ? EXIT_USAGE_ERROR : EXIT_CONFIG, why) : 0;
}

/* 0, 1: fixed ones are in *blinders; -EINVAL. */
static int read_test_blinders(struct blinders *blinders)
{
    const char *text = getenv("PAWL_TEST_BLINDERS");
    if (!text)
        return 0;
    if (blinders_parse(blinders, text))
        return -EINVAL;
    fprintf(stderr, "gpu-worker: PAWL_TEST_BLINDERS fixes r and s of every proof: for tests only, "
                    "such proofs hide nothing\n");
    return 1;
}

/* ---- */

static int serve(struct arguments *arguments)
{
    char path[PAWL_SOCKET_BYTES];
    struct blinders blinders;
    const char *why;
    int fixed = read_test_blinders(&blinders);
    if (fixed < 0)
        return fail(EXIT_USAGE_ERROR,
                    "PAWL_TEST_BLINDERS is not R,S with two decimal numbers below "
                    "the orders of both curves");
    if (!device_is_known(arguments->device, &why))
        return fail_device(arguments->device, why);
    int code = resolve_device(arguments);
    if (code)
        return code;
    if (program_socket_path(path, arguments->socket, arguments->config, &why))
        return fail(EXIT_CONFIG, why);
    struct worker_options options = {arguments->device, fixed ? &blinders : NULL, device_open};
    return worker_run(path, &options);
}

enum {
    OPTION_SOCKET = 256,
    OPTION_CONFIG,
    OPTION_DEVICE,
    OPTION_LIST,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

/* -1: go on; else an exit code. */
static int read_option(struct arguments *arguments, int option)
{
    switch (option) {
    case OPTION_SOCKET:
        arguments->socket = optarg;
        return -1;
    case OPTION_CONFIG:
        arguments->config = optarg;
        return -1;
    case OPTION_DEVICE:
        arguments->device = optarg;
        return -1;
    case OPTION_LIST:
        arguments->list = 1;
        return -1;
    case OPTION_JSON:
        arguments->json = 1;
        return -1;
    case OPTION_HELP:
        return fputs(help, stdout) < 0 || fflush(stdout) ? EXIT_OUTPUT : 0;
    case OPTION_VERSION:
        return printf("gpu-worker %s\n", PAWL_VERSION) < 0 || fflush(stdout) ? EXIT_OUTPUT : 0;
    default:
        return EXIT_USAGE_ERROR;
    }
}

static int read_arguments(struct arguments *arguments, int argc, char **argv)
{
    static const struct option options[] = {
        {"socket", required_argument, NULL, OPTION_SOCKET},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {"device", required_argument, NULL, OPTION_DEVICE},
        {"list-devices", no_argument, NULL, OPTION_LIST},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, OPTION_HELP},
        {"version", no_argument, NULL, OPTION_VERSION},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        int code = read_option(arguments, option);
        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return fail(EXIT_USAGE_ERROR, "no argument is taken beside the options; see --help");
    return -1;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    program_begin(OOM_GPU);
    log_open("gpu-worker");
    int code = read_arguments(&arguments, argc, argv);
    if (code >= 0)
        return code;
    code = check_cpu_form();
    if (code)
        return code;
    if (arguments.list)
        return list_devices(arguments.json);
    if (arguments.json)
        return fail(EXIT_USAGE_ERROR, "--json goes with --list-devices");
    if (!arguments.device)
        return fail(EXIT_USAGE_ERROR, "--device is missing: cpu, cuda:N or a UUID; see --help");
    code = program_check_files("gpu-worker");
    return code ? code : serve(&arguments);
}
