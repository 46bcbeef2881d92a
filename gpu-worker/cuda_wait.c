/*
 * See the header.
 */
#include "gpu-worker/cuda_wait.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "gpu-worker/device.h"
#include "shm/worker_start.h"

#define NS_A_MS UINT64_C(1000000)
#define SLEEP_LEAST_NS 20000 /* about what a sleep costs anyway */
#define SLEEP_MOST_NS 500000

static uint64_t least_ms(void)
{
    const char *text = getenv("PAWL_TEST_CUDA_DEADLINE_MS");
    char *end;
    unsigned long ms = text ? strtoul(text, &end, 10) : 0;
    return text && end != text && !*end && ms > 0 ? ms : CUDA_DEADLINE_LEAST_MS;
}

struct cuda_deadline cuda_deadline_from(uint64_t model_ns)
{
    uint64_t now = worker_now_ns(), least_ns = least_ms() * NS_A_MS;
    uint64_t wanted_ns = CUDA_SLACK * model_ns;
    return (struct cuda_deadline){.begin_ns = now,
                                  .end_ns = now + (wanted_ns > least_ns ? wanted_ns : least_ns)};
}

static void rest(long *sleep_ns)
{
    struct timespec span = {.tv_nsec = *sleep_ns};
    nanosleep(&span, NULL);
    *sleep_ns = *sleep_ns * 2 < SLEEP_MOST_NS ? *sleep_ns * 2 : SLEEP_MOST_NS;
}

int cuda_wait_event(const struct cuda_fault *fault, CUevent event, struct device_watch *watch,
                    const struct cuda_deadline *deadline, const char *what)
{
    long sleep_ns = SLEEP_LEAST_NS;
    for (;;) {
        CUresult code = fault->driver->cuEventQuery(event);
        if (watch && watch->cancelled(watch))
            return -ECANCELED;
        if (code != CUDA_ERROR_NOT_READY)
            return cuda_fault_check(fault, code, what);
        uint64_t now = worker_now_ns();
        if (now > deadline->end_ns)
            cuda_fault_hang(fault, what, (now - deadline->begin_ns) / NS_A_MS);
        if (watch && watch->idle)
            watch->idle(watch);
        rest(&sleep_ns);
    }
}
