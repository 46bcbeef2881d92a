/*
 * `gpu-worker --list-devices`: every device of this machine, fit or not, and why there is no GPU
 * where there is none. Makes no context on a GPU. Called by main; a SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_DEVICE_LIST_H
#define PAWL_GPU_WORKER_DEVICE_LIST_H

#include <stdio.h>

/*
 * Prints a line for each device, or with `json`
 *
 *     {"devices":[{"name":s,"device":s,"index":n|null,"model":s,"capability":s|null,
 *                  "memory_bytes":n|null,"threads":n|null,"mps":b,"fit":b,"why":s|null}],
 *      "driver":{"version":n}|null,"why":s|null}
 *
 * name (and device): "cpu" or a UUID; index: N of cuda:N; the first why: why that device is unfit
 * and what to do; the last: why no GPU can be used. 0, or an exit code with *why in words.
 */
int device_list_print(FILE *out, int json, const char **why);

#endif
