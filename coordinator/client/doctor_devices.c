/*
 * What `pawl doctor` looks at of processors and devices; see doctor.h. The driver's library is
 * loaded and let go of again, never initialised.
 */
#include "coordinator/client/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int library_loads(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (library)
        dlclose(library);
    return library != NULL;
}

void doctor_look_at_driver(struct doctor_finding *finding, const struct doctor_place *place)
{
    char node[PATH_MAX];
    int loads = library_loads();

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
