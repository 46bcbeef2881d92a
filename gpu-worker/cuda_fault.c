/*
 * See the header.
 */
#include "gpu-worker/cuda_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "shm/program.h"
#include "shm/seat.h"

/* _exit and no more: threads may be deep in the driver, and its own clean-up may never return. */
static void end(const struct cuda_fault *fault, CUresult code, const char *words)
    __attribute__((noreturn));
static void end(const struct cuda_fault *fault, CUresult code, const char *words)
{
    char quoted[256];
    if (fault->seat) {
        seat_set_device_error(fault->seat, (uint32_t)code);
        seat_say(fault->seat, words);
    }
    log_event("error", "device_lost",
              "device=%s code=%d why=%s hint=\"see the kernel log for lines with NVRM\"",
              fault->device, code, log_quote(quoted, sizeof(quoted), words));
    _exit(EXIT_DEVICE_LOST);
}

void cuda_fault_end(const struct cuda_fault *fault, CUresult code, const char *call)
{
    char words[160];
    snprintf(words, sizeof(words), "CUDA error %d (%s) from %s", code,
             cuda_driver_error_name(fault->driver, code), call);
    end(fault, code, words);
}

void cuda_fault_hang(const struct cuda_fault *fault, const char *what, uint64_t waited_ms)
{
    char words[160];
    snprintf(words, sizeof(words),
             "the GPU hangs: no end of %s after %" PRIu64
             " ms, taken as CUDA error %d (CUDA_ERROR_LAUNCH_TIMEOUT)",
             what, waited_ms, CUDA_ERROR_LAUNCH_TIMEOUT);
    end(fault, CUDA_ERROR_LAUNCH_TIMEOUT, words);
}

int cuda_fault_check(const struct cuda_fault *fault, CUresult code, const char *call)
{
    if (code == CUDA_SUCCESS)
        return 0;
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return -ENOMEM;
    cuda_fault_end(fault, code, call);
}
