/*
 * A circuit image in the making: one child `synth-worker --compile`, at low priority, without any
 * of our fds but the key's and those of what comes with it. Hostile keys are parsed there and
 * nowhere else.
 */
#ifndef PAWL_COORDINATOR_COMPILE_H
#define PAWL_COORDINATOR_COMPILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COMPILE_TEXT_BYTES 4096u

struct clock_meter;
struct event;
struct event_base;

struct compile_job {
    int key_fd;           /* the key, opened for reading; borrowed */
    const char *key_path; /* its name in error texts */
    int r1cs_fd;          /* the circuit's constraints, likewise; -1: none are given */
    const char *r1cs_path;
    int program_fd, program_data_fd; /* the witness program, what lies beside it; -1: none */
    const char *program_path;
    const char *programs_dir; /* where the child copies them */
    const char *images_dir;
    uint64_t images_max; /* bytes that it may hold */
    int check_subgroups;
    int check_image; /* one that is there already is read, and made again if damaged */
};

/* One stream of the child. */
struct compile_stream {
    int fd; /* -1: at its end */
    struct event *event;
    struct compile *compile;
    size_t bytes; /* read so far; what is beyond the room is dropped */
    char text[COMPILE_TEXT_BYTES];
};

struct compile {
    struct event_base *base;
    struct clock_meter *meter;
    /* Called once for each job, from the loop. exit_code: the child's, or 128 + its signal. */
    void (*done)(void *arg, int exit_code, const char *out, const char *error);
    void *arg;
    pid_t pid; /* 0: none runs */
    int pidfd;
    int exit_code; /* -1: it still runs */
    char key_path[PATH_MAX], r1cs_path[PATH_MAX], program_path[PATH_MAX];
    struct event *exit_event;
    struct compile_stream out, error;
};

void compile_init(struct compile *compile, struct event_base *base, struct clock_meter *meter,
                  void (*done)(void *arg, int exit_code, const char *out, const char *error),
                  void *arg);
/* Starts the child. 0 or -errno (then `done` is not called). One at a time. */
int compile_start(struct compile *compile, const struct compile_job *job);
/* Kills the child, if one runs; `done` follows. */
void compile_kill(struct compile *compile);
/* Ends the child, if one runs, and waits for it, without calling `done`: at the end of all. */
void compile_stop(struct compile *compile);

#endif
