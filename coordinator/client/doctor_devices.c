/*
 * What `pawl doctor` looks at of processors and devices; see doctor.h. The driver's library is
 * loaded and let go of again; it is initialised by gpu-worker --list-devices alone.
 */
#include "coordinator/client/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/client/devices.h"
#include "kernels/cpu_form.h"

void doctor_look_at_cpu(struct doctor_finding *finding, const struct doctor_place *place)
{
    const char *forced = getenv("PAWL_CPU"), *why = NULL;
    const char *adx = cpu_form_available(FORM_ADX) ? "yes" : "no";
    const char *ifma = cpu_form_available(FORM_IFMA) ? "yes" : "no";

    (void)place;
    if (cpu_form_check(&why))
        doctor_find(finding, DOCTOR_FAIL, "unset PAWL_CPU", "%s", why);
    else if (forced && *forced)
        doctor_find(finding, DOCTOR_WARN, "unset PAWL_CPU",
                    "PAWL_CPU forces the form %.20s; the CPU has adx: %s, AVX-512 IFMA: %s", forced,
                    adx, ifma);
    else
        doctor_find(finding, DOCTOR_OK, NULL, "adx: %s, AVX-512 IFMA: %s; form in use: %s", adx,
                    ifma, cpu_form_name(cpu_form_chosen()));
}

void doctor_look_at_driver(struct doctor_finding *finding, const struct doctor_place *place)
{
    char node[PATH_MAX];
    int loads = devices_library_loads();

    snprintf(node, sizeof(node), "%s/dev/nvidiactl", place->root);
    int exists = access(node, F_OK) == 0;
    if (!exists && !loads)
        doctor_find(finding, DOCTOR_OK, NULL, "no NVIDIA driver: the CPU proves");
    else if (!exists)
        doctor_find(finding, DOCTOR_WARN, "modprobe nvidia, or docker run --gpus all",
                    "libcuda.so.1 loads, but /dev/nvidiactl is not there");
    else if (access(node, R_OK | W_OK))
        doctor_find(finding, DOCTOR_FAIL, "chmod 666 /dev/nvidia*, or add the user to their group",
                    "/dev/nvidiactl may not be opened: %s", strerror(errno));
    else if (!loads)
        doctor_find(finding, DOCTOR_WARN, "install the driver's libcuda.so.1 (libcuda1)",
                    "/dev/nvidiactl is there, but libcuda.so.1 does not load");
    else
        doctor_find(finding, DOCTOR_OK, NULL, "the driver's nodes and libcuda.so.1 are there");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* Appends what is known of a GPU; returns whether it is fit. */
static int describe_gpu(char *out, size_t bytes, const json_t *gpu)
{
    size_t used = strlen(out);
    int fit = json_is_true(json_object_get(gpu, "fit"));

    snprintf(out + used, bytes - used, "%s%.48s (%.40s, %lld MiB) is %s%s%.120s", used ? "; " : "",
             text_of(gpu, "name"), text_of(gpu, "model"),
             json_integer_value(json_object_get(gpu, "memory_bytes")) >> 20, fit ? "fit" : "unfit",
             fit ? "" : ": ", fit ? "" : text_of(gpu, "why"));
    return fit;
}

void doctor_judge_devices(struct doctor_finding *finding, const json_t *list)
{
    char gpus[sizeof(finding->means)] = "";
    int unfit = 0;
    size_t i;
    const json_t *device;

    json_array_foreach(json_object_get(list, "devices"), i, device)
    {
        if (strcmp(text_of(device, "name"), "cpu") != 0)
            unfit += !describe_gpu(gpus, sizeof(gpus), device);
    }
    if (unfit)
        doctor_find(finding, DOCTOR_WARN, "gpu-worker --list-devices tells all of it", "%s", gpus);
    else if (gpus[0])
        doctor_find(finding, DOCTOR_OK, NULL, "%s", gpus);
    else if (*text_of(list, "why"))
        doctor_find(finding, DOCTOR_WARN, "nvidia-smi; a driver of the 580 series or newer",
                    "the CPU proves alone, for no GPU can be used: %s", text_of(list, "why"));
    else
        doctor_find(finding, DOCTOR_OK, NULL, "the driver shows no GPU: the CPU proves");
}

void doctor_look_at_devices(struct doctor_finding *finding, const struct doctor_place *place)
{
    char why[512] = "";

    (void)place;
    if (!devices_library_loads()) {
        doctor_find(finding, DOCTOR_OK, NULL, "cpu; no driver is there to show a GPU");
        return;
    }
    json_t *list = devices_list(why, sizeof(why));
    if (list)
        doctor_judge_devices(finding, list);
    else
        doctor_find(finding, DOCTOR_WARN, "gpu-worker --list-devices", "%s", why);
    json_decref(list);
}

void doctor_look_at_mps(struct doctor_finding *finding, const struct doctor_place *place)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[PATH_MAX];

    if (!folder || !*folder)
        folder = "/tmp/nvidia-mps";
    snprintf(path, sizeof(path), "%s%s/control", place->root, folder);
    if (access(path, F_OK))
        doctor_find(finding, DOCTOR_OK, NULL, "no MPS server: each device is a gpu-worker's alone");
    else
        doctor_find(finding, DOCTOR_WARN, "echo quit | nvidia-cuda-mps-control",
                    "an MPS server is at %.200s: a fault of one client ends the others' work too",
                    folder);
}
