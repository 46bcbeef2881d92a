/*
 * The other programs as children of pawl: found beside its own file, started without a shell, in a
 * process group of their own (a Ctrl-C at the terminal reaches pawl alone), with no fd but those
 * named.
 */
#ifndef PAWL_CLIENT_CHILD_H
#define PAWL_CLIENT_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#define CHILD_FDS_MAX 5

struct child {
    pid_t pid; /* 0: none */
    int pidfd; /* readable once it has ended; -1: none */
};

struct child_spec {
    const char *program;    /* "coordinator"; installed as "pawl-coordinator" */
    char *const *arguments; /* argv from [1] on, NULL-terminated */
    int fds[CHILD_FDS_MAX]; /* the child's 0, 1, 2, ...; -1: /dev/null */
    int fd_count;           /* at least 3 */
    int dies_with_us;       /* SIGKILL when pawl dies; else it has its own way to notice */
};

/* 0, or -errno (-ENOENT: the program is not beside ours). */
int child_start(struct child *child, const struct child_spec *spec);
/* Waits up to timeout_ms (negative: for ever) for the end. 1 with *status as waitpid's, 0 where it
 * still runs. */
int child_wait(struct child *child, int timeout_ms, int *status);
/*
 * SIGTERM, and SIGKILL after grace_ms; waits for the end, but 5 s at most then, for a child that is
 * stuck in a driver does not end. Nothing for a child that has ended.
 */
void child_stop(struct child *child, int grace_ms);

/* What one run printed. */
struct child_output {
    char *text; /* stdout, NUL-terminated; free() */
    size_t bytes;
    char error[2048]; /* the last whole line of stderr, without "PROGRAM: " */
    int status;       /* as waitpid's */
};

/*
 * Runs a program to its end and takes what it prints, at most limit bytes of it. 0; -EINTR where a
 * signal came first, -ETIMEDOUT where it had not ended its outputs after timeout_ms (negative: that
 * may take for ever), -EMSGSIZE (it is stopped then), -errno. `arguments` as in child_spec.
 */
int child_run(struct child_output *output, const char *program, char *const *arguments,
              size_t limit, int timeout_ms);

#endif
