/*
 * Waiting for a GPU without ever standing in a call of the driver that may not return: events are
 * asked for, with short sleeps between, until they are reached, the work is cancelled, or a
 * deadline is past, which is a fault and ends the process.
 *
 * The deadline is by model time: CUDA_SLACK times what the work takes by a model of it, and no less
 * than some seconds. Called by the prover's thread. A SIGKILL leaves nothing.
 */
#ifndef PAWL_GPU_WORKER_CUDA_WAIT_H
#define PAWL_GPU_WORKER_CUDA_WAIT_H

#include <stdint.h>

#include "gpu-worker/cuda_fault.h"

struct device_watch;

#define CUDA_SLACK 20
#define CUDA_DEADLINE_LEAST_MS 30000

struct cuda_deadline {
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/*
 * From now on, for work of so many nanoseconds by the model. PAWL_TEST_CUDA_DEADLINE_MS in the
 * environment, for tests, takes the place of CUDA_DEADLINE_LEAST_MS.
 */
struct cuda_deadline cuda_deadline_from(uint64_t model_ns);

/*
 * 0 once the event is reached; -ECANCELED as soon as the watch says so, reached or not. watch is
 * NULL for work that is not to be cut short; its idle is called between looks. `what` names the
 * work in the fault's words.
 */
int cuda_wait_event(const struct cuda_fault *fault, CUevent event, struct device_watch *watch,
                    const struct cuda_deadline *deadline, const char *what);

#endif
