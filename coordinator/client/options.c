/*
 * Command lines, read by tables. Called by main and by the commands for their values; keeps
 * nothing.
 */
#include "coordinator/client/options.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/client/say.h"
#include "shm/program.h"

static const struct option_spec no_options[] = {{0}};

static const struct option_spec *command_options(const struct command *command)
{
    return command->options ? command->options : no_options;
}

/* The place in the table of the option that word begins with ("--name" or "--name=value"), or -1.
 */
static int find_option(const struct option_spec *table, const char *word)
{
    size_t length = strcspn(word, "=");
    for (int i = 0; table[i].name; i++)
        if (strlen(table[i].name) == length && !strncmp(table[i].name, word, length))
            return i;
    return -1;
}

static int wrong_usage(const struct command *command, const char *what, const char *word)
{
    return say_error(EXIT_USAGE_ERROR, "%s%s; see pawl %s --help", what, word, command->name);
}

/* Takes the option at argv[*at], and its value where that is the next word. */
static int read_option(struct arguments *arguments, int argc, char **argv, int *at)
{
    const struct command *command = arguments->command;
    const char *word = argv[*at];
    int place = find_option(command_options(command), word);
    if (place < 0)
        return wrong_usage(command, "unknown option ", word);
    const struct option_spec *spec = &command_options(command)[place];
    const char *joined = strchr(word, '=');
    if (spec->kind == OPTION_LATER)
        return say_error(EXIT_USAGE_ERROR, "%s is not in this version", spec->name);
    if (arguments->value[place])
        return wrong_usage(command, "given twice: ", spec->name);
    if (spec->kind == OPTION_FLAG && joined)
        return wrong_usage(command, "takes no value: ", spec->name);
    if (spec->kind == OPTION_FLAG)
        arguments->value[place] = "";
    else if (joined)
        arguments->value[place] = joined + 1;
    else if (*at + 1 < argc)
        arguments->value[place] = argv[++*at];
    else
        return wrong_usage(command, "needs a value: ", spec->name);
    return 0;
}

static const char *space_before(const char *text)
{
    return *text ? " " : "";
}

static int check_count(const struct arguments *arguments)
{
    const struct command *command = arguments->command;
    if (arguments->count < command->least)
        return say_error(EXIT_USAGE_ERROR, "arguments are missing; usage: pawl %s %s",
                         command->name, command->arguments);
    if (command->most >= 0 && arguments->count > command->most)
        return say_error(EXIT_USAGE_ERROR, "too many arguments; usage: pawl %s%s%s", command->name,
                         space_before(command->arguments), command->arguments);
    return 0;
}

int options_read(struct arguments *arguments, const struct command *command, int argc, char **argv)
{
    int only_positional = 0;
    *arguments = (struct arguments){.command = command, .positional = argv};
    for (int i = 0; i < argc; i++) {
        if (!only_positional && !strcmp(argv[i], "--")) {
            only_positional = 1;
        } else if (!only_positional && argv[i][0] == '-' && argv[i][1]) {
            int error = read_option(arguments, argc, argv, &i);
            if (error)
                return error;
        } else {
            argv[arguments->count++] = argv[i];
        }
    }
    return check_count(arguments);
}

const char *options_value(const struct arguments *arguments, const char *name)
{
    int place = find_option(command_options(arguments->command), name);
    assert(place >= 0 && place < OPTIONS_MAX);
    return arguments->value[place];
}

int options_number(const struct arguments *arguments, const char *name, unsigned long most,
                   unsigned long *number)
{
    const char *text = options_value(arguments, name);
    if (!text)
        return 0;
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > most)
        return say_error(EXIT_USAGE_ERROR, "%s takes a whole number up to %lu, not \"%s\"", name,
                         most, text);
    *number = value;
    return 0;
}

void options_help(const struct command *command)
{
    printf("usage: pawl %s%s%s\n\n%s\n", command->name, space_before(command->arguments),
           command->arguments, command->summary);
    for (const struct option_spec *spec = command_options(command); spec->name; spec++) {
        char left[40];
        if (spec->kind == OPTION_LATER)
            continue;
        snprintf(left, sizeof(left), "%s%s%s", spec->name, spec->kind == OPTION_VALUE ? " " : "",
                 spec->kind == OPTION_VALUE ? spec->value_name : "");
        printf("%s  %-22s %s\n", spec == command->options ? "\n" : "", left, spec->help);
    }
}
