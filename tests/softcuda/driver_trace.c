/*
 * `trace=FILE`: a line for each call of interest, "pid=N what key=value ...", so that tests see
 * what a program asked of its device: that a key was imported and not uploaded, that nothing was
 * registered after the start. Several processes append to one file, a write a line. A SIGKILL
 * leaves whole lines.
 */
#include "tests/softcuda/driver.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int trace_fd = -1;

void soft_trace_open(void)
{
    if (trace_fd >= 0)
        close(trace_fd);
    trace_fd = -1;
    if (!*soft.options.trace)
        return;
    trace_fd = open(soft.options.trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace_fd < 0)
        fprintf(stderr, "softcuda: trace=%s cannot be opened\n", soft.options.trace);
}

void soft_trace(const char *format, ...)
{
    char line[512];
    va_list list;

    if (trace_fd < 0)
        return;
    int used = snprintf(line, sizeof(line), "pid=%d ", (int)getpid());
    va_start(list, format);
    int more = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, list);
    va_end(list);
    size_t bytes = (size_t)used + (size_t)more;
    bytes = bytes > sizeof(line) - 2 ? sizeof(line) - 2 : bytes;
    line[bytes] = '\n';
    if (write(trace_fd, line, bytes + 1) < 0)
        perror("softcuda: trace");
}

__attribute__((destructor)) static void trace_end(void)
{
    if (soft.pid == getpid())
        soft_trace(
            "end allocations=%llu launches=%llu bytes_in=%llu bytes_out=%llu",
            (unsigned long long)soft.counts.allocations, (unsigned long long)soft.counts.launches,
            (unsigned long long)soft.counts.bytes_in, (unsigned long long)soft.counts.bytes_out);
}
