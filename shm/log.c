/*
 * Log lines for the daemons: one event, one line, one write(2), so that lines of several processes
 * on one stderr never mix. Called by daemons; shm itself logs nothing. A SIGKILL leaves whole
 * lines.
 */
#include "shm/program.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOG_LINE_BYTES 4096

static const char *log_component = "pawl";
static int log_without_time;

void log_open(const char *component)
{
    log_component = component;
    log_without_time = getenv("JOURNAL_STREAM") != NULL;
}

/* Where a text of snprintf's wish ends in a buffer of `bytes`. */
static size_t clip(int wanted, size_t bytes)
{
    if (wanted < 0)
        return 0;
    return (size_t)wanted < bytes ? (size_t)wanted : bytes - 1;
}

static size_t put_time(char *out, size_t bytes)
{
    struct timespec now;
    struct tm utc;
    char seconds[32];

    if (log_without_time)
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
    return clip(snprintf(out, bytes, "ts=%s.%03ldZ ", seconds, now.tv_nsec / 1000000), bytes);
}

void log_event(const char *level, const char *event, const char *fields, ...)
{
    char line[LOG_LINE_BYTES];
    size_t end = sizeof(line) - 1; /* keeps room for the newline */
    size_t at = put_time(line, end);
    va_list arguments;

    at += clip(snprintf(line + at, end - at, "lvl=%s comp=%s ev=%s%s", level, log_component, event,
                        *fields ? " " : ""),
               end - at);
    va_start(arguments, fields);
    at += clip(vsnprintf(line + at, end - at, fields, arguments), end - at);
    va_end(arguments);
    for (size_t i = 0; i < at; i++)
        if ((unsigned char)line[i] < 0x20)
            line[i] = ' '; /* one event stays one line, whatever an argument held */
    line[at++] = '\n';
    /* Where stderr is gone there is nowhere left to say so. */
    ssize_t ignored = write(STDERR_FILENO, line, at);
    (void)ignored;
}

/* The escape of one byte: at most four characters and the NUL. */
static size_t escape(char out[5], unsigned char c)
{
    if (c == '"' || c == '\\')
        return (size_t)snprintf(out, 5, "\\%c", c);
    if (c == '\n')
        return (size_t)snprintf(out, 5, "\\n");
    if (c < 0x20 || c == 0x7f)
        return (size_t)snprintf(out, 5, "\\x%02x", c);
    return (size_t)snprintf(out, 5, "%c", c);
}

const char *log_quote(char *out, size_t bytes, const char *text)
{
    size_t at = 0;

    if (bytes < 3) {
        if (bytes)
            out[0] = 0;
        return out;
    }
    out[at++] = '"';
    for (; *text; text++) {
        char piece[5];
        size_t length = escape(piece, (unsigned char)*text);

        if (at + length + 2 > bytes)
            break; /* cut, but never inside an escape */
        memcpy(out + at, piece, length);
        at += length;
    }
    out[at++] = '"';
    out[at] = 0;
    return out;
}
