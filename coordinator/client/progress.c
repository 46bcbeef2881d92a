/*
 * The progress line. Called between steps of long commands; a SIGKILL leaves the line on the
 * terminal.
 */
#include "coordinator/client/progress.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int line_is_shown;
static uint64_t first_ms;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int progress_is_shown(void)
{
    return isatty(STDERR_FILENO);
}

void progress_show(const char *stage)
{
    if (!progress_is_shown())
        return;
    if (!first_ms)
        first_ms = now_ms();
    fprintf(stderr, "\r\033[K%s  %.1f s", stage, (double)(now_ms() - first_ms) / 1000);
    fflush(stderr);
    line_is_shown = 1;
}

void progress_clear(void)
{
    if (line_is_shown)
        fputs("\r\033[K", stderr);
    line_is_shown = 0;
}
