/*
 * pawl: the client. Finds the command in the table, reads its options, runs it. Exit codes stand in
 * the README; errors are one line on stderr after "pawl: ".
 */
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/client/commands.h"
#include "coordinator/client/interrupt.h"
#include "coordinator/client/options.h"
#include "coordinator/client/say.h"
#include "kernels/cpu_form.h"
#include "shm/program.h"

static int print_help(void)
{
    puts("usage: pawl COMMAND ARGUMENTS [--help]\n\n"
         "Groth16 proofs from circom's and snarkjs's files (.zkey, .wtns).\n");
    for (const struct command *command = commands; command->name; command++)
        if (!command->hidden)
            printf("  %-15s %s\n", command->name, command->summary);
    puts("\npawl COMMAND --help says more. Exit codes: 0 done, 1 input at fault or proof invalid,\n"
         "64 usage, 69 no coordinator, 70 our fault, 71 a limit of the machine, 73 an output\n"
         "cannot be written, 75 capacity or deadline, 130 cancelled or interrupted.");
    return say_flush();
}

/* The words of argv that the name takes, or 0 where it is another. */
static int match(const char *name, int argc, char **argv)
{
    size_t first = strcspn(name, " ");
    if (argc < 1 || strlen(argv[0]) != first || strncmp(name, argv[0], first))
        return 0;
    if (!name[first])
        return 1;
    return argc > 1 && !strcmp(name + first + 1, argv[1]) ? 2 : 0;
}

static const struct command *find(int argc, char **argv, int *words)
{
    for (const struct command *command = commands; command->name; command++)
        if ((*words = match(command->name, argc, argv)))
            return command;
    return NULL;
}

static int asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return 1;
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arguments arguments;
    if (!command->run)
        return say_error(EXIT_USAGE_ERROR, "%s is not in this version", command->name);
    if (asks_for_help(argc, argv)) {
        options_help(command);
        return say_flush();
    }
    int code = options_read(&arguments, command, argc, argv);
    if (code)
        return code;
    const char *why;
    int error = cpu_form_check(&why);
    if (error)
        return say_error(EXIT_USAGE_ERROR, "%s", why);
    error = interrupt_open();
    if (error || curl_global_init(CURL_GLOBAL_DEFAULT))
        return say_error(EXIT_INTERNAL, "cannot start: %s", strerror(-error));
    code = command->run(&arguments);
    curl_global_cleanup();
    return code;
}

int main(int argc, char **argv)
{
    int words = 0;
    program_begin(0);
    if (argc < 2) {
        return say_error(EXIT_USAGE_ERROR, "no command; see pawl --help");
    } else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        return print_help();
    } else if (!strcmp(argv[1], "--version")) {
        printf("pawl %s (%s)\n", PAWL_VERSION, pawl_build_id);
        return say_flush();
    }
    const struct command *command = find(argc - 1, argv + 1, &words);
    if (!command)
        return say_error(EXIT_USAGE_ERROR, "no such command: %s; see pawl --help", argv[1]);
    return run(command, argc - 1 - words, argv + 1 + words);
}
