/*
 * The command table's form, and the reading of a command line by it.
 */
#ifndef PAWL_CLIENT_OPTIONS_H
#define PAWL_CLIENT_OPTIONS_H

#define OPTIONS_MAX 16

enum option_kind {
    OPTION_FLAG,
    OPTION_VALUE,
    OPTION_LATER, /* known by name, refused: not in this version */
};

struct option_spec {
    const char *name; /* with its dashes; NULL ends a table */
    enum option_kind kind;
    const char *value_name;
    const char *help;
};

struct arguments;

struct command {
    const char *name;      /* one word, or two: "circuit add" */
    const char *arguments; /* as the usage line shows them */
    const char *summary;
    const struct option_spec *options;
    int least, most;                      /* positional arguments; most < 0: any number */
    int (*run)(const struct arguments *); /* exit code; NULL: not in this version */
    int hidden;
};

struct arguments {
    const struct command *command;
    const char *value[OPTIONS_MAX]; /* by the option's place; "" for a flag that is set */
    char **positional;
    int count;
};

/*
 * Reads the words after the command's name; words after "--" are positional. The positional words
 * are moved to the front of argv. 0, or EXIT_USAGE_ERROR having said why.
 */
int options_read(struct arguments *arguments, const struct command *command, int argc, char **argv);

/* The option's value ("" for a set flag), or NULL where it was not given. The name must be in the
 * command's table. */
const char *options_value(const struct arguments *arguments, const char *name);

/*
 * Reads a whole decimal number of at most `most` from option `name` into *number, which keeps its
 * value where the option is absent. 0, or EXIT_USAGE_ERROR having said why.
 */
int options_number(const struct arguments *arguments, const char *name, unsigned long most,
                   unsigned long *number);

/* Prints "pawl NAME ARGUMENTS", the summary and the options. */
void options_help(const struct command *command);

#endif
