/*
 * Faults that tests ask for by PAWL_SOFTCUDA, and the sticky error that real and injected ones
 * leave. With `once=FILE` the first process to fire makes FILE; after that none fires any more, so
 * that what is started again after a fault finds a sound device. A SIGKILL leaves FILE, as it
 * should.
 */
#include "tests/softcuda/driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Whether the fault that is due may still happen. */
static bool fire(const char *what, uint64_t count)
{
    const char *path = soft.options.once;

    if (*path) {
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0)
            return false;
        close(fd);
    }
    soft_trace("fault %s at=%llu", what, (unsigned long long)count);
    return true;
}

bool soft_fault_allocation(void)
{
    uint64_t count = ++soft.counts.allocations, at = soft.options.oom_at;

    return at && (count == at || (soft.options.oom_on && count > at)) && fire("oom", count);
}

CUresult soft_fault_launch(bool *hang)
{
    uint64_t count = ++soft.counts.launches;

    *hang = count == soft.options.hang_at && fire("hang", count);
    if (count == soft.options.fault_at && fire("launch", count))
        return soft.options.fault_code;
    return CUDA_SUCCESS;
}

bool soft_fault_copy_out(void)
{
    uint64_t count = ++soft.counts.copies_out;

    return count == soft.options.flip_at && fire("flip", count);
}

void soft_fault_set_sticky(CUresult code, const char *what)
{
    if (soft.sticky)
        return;
    soft.sticky = code;
    fprintf(stderr, "softcuda: error %d: %s\n", code, what);
    soft_trace("sticky code=%d", code);
}
