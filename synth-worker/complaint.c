/*
 * One line for people, one exit code for programs. Control characters of file names and labels
 * become '?', so that a line stays a line. A SIGKILL leaves nothing.
 */
#include "synth-worker/complaint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shm/program.h"

static void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

int complain_input(struct complaint *complaint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
    make_one_line(complaint->text);
    complaint->exit_code = EXIT_INPUT;
    return -EINVAL;
}

int complain_internal(struct complaint *complaint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
    make_one_line(complaint->text);
    complaint->exit_code = EXIT_INTERNAL;
    return -EPROTO;
}

static int is_machine_limit(int error)
{
    return error == ENOMEM || error == EMFILE || error == ENFILE || error == EAGAIN;
}

int complain_system(struct complaint *complaint, int exit_code, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
    size_t used = strlen(complaint->text);
    snprintf(complaint->text + used, sizeof complaint->text - used, ": %s", strerror(error));
    make_one_line(complaint->text);
    complaint->exit_code = is_machine_limit(error) ? EXIT_MACHINE : exit_code;
    return -error;
}
