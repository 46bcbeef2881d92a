/*
 * pawl's error lines and results. Called by every command; keeps at most one line that is held
 * back, so a SIGKILL leaves nothing.
 */
#include "coordinator/client/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/client/progress.h"
#include "shm/program.h"

#define SAY_BYTES_MAX 2000

static int holding;
static char held[SAY_BYTES_MAX];

static void print_error(char *text)
{
    progress_clear();
    fprintf(stderr, "pawl: %s\n", say_clean(text));
}

void say_hold(void)
{
    holding = 1;
    held[0] = 0;
}

void say_release(int drop)
{
    holding = 0;
    if (!drop && held[0])
        print_error(held);
}

char *say_clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == 0x7f)
            *at = '?';
    return text;
}

int say_error(int exit_code, const char *format, ...)
{
    char text[SAY_BYTES_MAX];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (!holding)
        print_error(text);
    else if (!held[0])
        memcpy(held, text, sizeof(held));
    return exit_code;
}

int say_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return say_error(EXIT_OUTPUT, "cannot write to standard output: %s", strerror(errno));
}

int say_json(const json_t *value)
{
    /* The 15 digits that a double keeps of any decimal: 5.998 stays 5.998. */
    json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    putchar('\n');
    return say_flush();
}
