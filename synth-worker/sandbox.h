/*
 * What a hostile child may do. Each function is called in a child that has one thread, just before
 * it turns to the hostile thing, and changes that child for good; what it cannot change it says,
 * and then the child must end. The README's border says what stays possible.
 */
#ifndef PAWL_SYNTH_WORKER_SANDBOX_H
#define PAWL_SYNTH_WORKER_SANDBOX_H

#include <stdint.h>

/* A user who owns nothing: what a program runs as where the worker is root. */
#define SANDBOX_UID 65534u

struct sandbox_limits {
    uint64_t memory_bytes; /* of address space */
    uint64_t output_bytes; /* of the file that it may write */
    uint64_t cpu_s;        /* 0: no limit */
};

/* What a program may reach by fds of ours, all borrowed. */
struct sandbox_places {
    int program_folder; /* read, run */
    int input, output;  /* files: read; read, write, cut */
};

/*
 * For a parser that has read its input and writes to fds that it has: no system call but those of
 * memory, reading and writing. 0 or -errno with *what.
 */
int sandbox_parser(const char **what);
/*
 * For a program that is executed next: another user where we are root, no privilege to gain,
 * limits, a filter of system calls (no process, socket, namespace, signal to others), and, where
 * the kernel has landlock, no file but the places, the system's libraries and a few devices. 0 or
 * -errno with *what.
 */
int sandbox_program(const struct sandbox_limits *limits, const struct sandbox_places *places,
                    const char **what);

/* ---- its parts ---- */

/* sandbox_calls.c: the filters. 0 or -errno. */
int sandbox_filter_parser(void);
int sandbox_filter_program(void);
/* sandbox_files.c: landlock; -EOPNOTSUPP where the kernel has it not. */
int sandbox_restrict_files(const struct sandbox_places *places);

#endif
